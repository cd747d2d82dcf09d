/** What has arrived of an answer survives a kill, in a document that is deleted with the answer. */
import { createSessions, type Session } from "@sessions/core"
import { StorageError } from "@sessions/core/storage"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { expect, test } from "vitest"
import { type AnswerKeeper, keepAnswers } from "../src/index.ts"
import { appendOpenAIChatStream } from "../src/openai-chat/index.ts"

const every = 5
const ID = "chat-1"
const KEY = `sessions/${ID}/answer`

interface Place {
  readonly session: Session
  readonly keep: AnswerKeeper
  readonly kept: () => Promise<string | undefined>
}

/** A process of its own on the location. */
async function process(location: MemoryLocation): Promise<Place> {
  const storage = createMemoryStorage({ location })
  const session = await createSessions({ storage }).openOrCreate(ID)
  const kept = async (): Promise<string | undefined> => (await storage.docs.get(KEY))?.text
  return { session, keep: keepAnswers(storage, ID, { every }), kept }
}

const ask = (session: Session) => session.append({ type: "message", message: { role: "user", content: "Where?" } })

function chunk(content: string, finish_reason: "stop" | null = null) {
  const base = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" } as const
  return { ...base, choices: [{ index: 0, delta: { content }, finish_reason }] }
}

/** Gives a text, then waits for `gate`, then the rest. */
async function* answer(gate: Promise<unknown>) {
  yield chunk("In Fra")
  await gate
  yield chunk("nce.", "stop")
}

const textsOf = async (session: Session): Promise<unknown[]> =>
  (await session.messages()).messages
    .map(({ message }) => message.content)
    .flat()
    .map((block) => (block as { text: string }).text)

/** Of a process that is killed when the document has the first words. */
async function killed(location: MemoryLocation): Promise<void> {
  const { session, keep, kept } = await process(location)
  await ask(session)
  const never = new Promise<never>(() => {})
  let end: (() => Promise<void>) | undefined
  const dying: AnswerKeeper = {
    ...keep,
    begin(to, entries) {
      const begun = keep.begin(to, entries)
      end = () => begun.end()
      return begun
    },
  }
  void appendOpenAIChatStream(session, answer(never), { keep: dying })
  await expect.poll(kept).toContain("In Fra")
  const text = await kept()
  // A process that is gone writes no more, and deletes nothing.
  await end?.()
  await createMemoryStorage({ location }).docs.put(KEY, text ?? "", { expect: null })
}

test("while an answer arrives, the document has what has arrived; it is deleted when the answer is in the log", async () => {
  const { session, keep, kept } = await process(createMemoryLocation())
  await ask(session)
  let open: (() => void) | undefined
  const gate = new Promise<void>((resolve) => (open = resolve))
  const appended = appendOpenAIChatStream(session, answer(gate), { keep })
  await expect.poll(kept).toContain("In Fra")
  expect(await textsOf(session)).toEqual(["Where?"])
  open?.()
  await appended
  expect(await kept()).toBeUndefined()
  expect(await textsOf(session)).toEqual(["Where?", "In France."])
})

test("the next process puts what a killed one has left behind its question, once, as aborted", async () => {
  const location = createMemoryLocation()
  await killed(location)
  const { session, keep, kept } = await process(location)
  expect(await keep.restore(session)).toBe(true)
  expect(await kept()).toBeUndefined()
  expect(await textsOf(session)).toEqual(["Where?", "In Fra"])
  const { messages } = await session.messages()
  expect(messages.at(-1)?.message).toMatchObject({ role: "assistant", stopReason: "aborted" })
  expect(await keep.restore(session)).toBe(false)
})

test("an answer that the log does not take stays in the document, whole, for the next turn, unless the conversation has gone on", async () => {
  const { session, keep, kept } = await process(createMemoryLocation())
  await ask(session)
  const fail = async (code: "unavailable" | "conflict"): Promise<void> => {
    const append = (): Promise<never> => Promise.reject(new StorageError(code, "It was not written."))
    const to = { leafId: session.leafId, append }
    await expect(appendOpenAIChatStream(to, answer(Promise.resolve()), { keep })).rejects.toMatchObject({ code })
  }
  await fail("conflict")
  expect(await kept()).toBeUndefined()
  await fail("unavailable")
  expect(await keep.restore(session)).toBe(true)
  expect([await kept(), await textsOf(session)]).toEqual([undefined, ["Where?", "In France."]])
})

test("an answer whose append may still arrive is not put behind itself", async () => {
  const inner = createMemoryStorage()
  let isDown = false
  const down = (): never => {
    throw new StorageError("indeterminate", "It may have been written.")
  }
  const storage = {
    ...inner,
    capabilities: inner.capabilities,
    append: async (...given: Parameters<typeof inner.append>) => (isDown ? down() : inner.append(...given)),
    head: async (...given: Parameters<typeof inner.head>) => (isDown ? down() : inner.head(...given)),
  }
  const session = await createSessions({ storage }).openOrCreate(ID)
  const keep = keepAnswers(storage, ID, { every })
  await ask(session)
  isDown = true
  const appended = appendOpenAIChatStream(session, answer(Promise.resolve()), { keep })
  await expect(appended).rejects.toMatchObject({ code: "indeterminate" })
  isDown = false
  expect(await keep.restore(session)).toBe(false)
  // The session still has the answer, and writes it with the next append.
  await ask(session)
  expect(await textsOf(session)).toEqual(["Where?", "In France.", "Where?"])
})

test("a conversation that has gone on gets nothing of it, and the document is deleted", async () => {
  const location = createMemoryLocation()
  await killed(location)
  const { session, keep, kept } = await process(location)
  await session.append({ type: "message", message: { role: "assistant", content: "In Italy." } })
  expect(await keep.restore(session)).toBe(false)
  expect([await kept(), await textsOf(session)]).toEqual([undefined, ["Where?", "In Italy."]])
})

test("the answer of a process that lives is left alone", async () => {
  const location = createMemoryLocation()
  const living = await process(location)
  await ask(living.session)
  let open: (() => void) | undefined
  const gate = new Promise<void>((resolve) => (open = resolve))
  const appended = appendOpenAIChatStream(living.session, answer(gate), { keep: living.keep })
  await expect.poll(living.kept).toContain("In Fra")
  const other = await process(location)
  const slow = keepAnswers(createMemoryStorage({ location }), ID, { every: 100 })
  expect(await slow.restore(other.session)).toBe(false)
  open?.()
  await appended
  expect(await textsOf(living.session)).toEqual(["Where?", "In France."])
})

test("a storage that takes no documents fails no answer", async () => {
  const { session } = await process(createMemoryLocation())
  await ask(session)
  let puts = 0
  const fail = (): Promise<never> => (puts++, Promise.reject(new Error("full")))
  const docs = { get: async () => undefined, put: fail, delete: fail, list: fail as never }
  const tried = async (): Promise<void> => await expect.poll(() => puts).toBeGreaterThan(1)
  await appendOpenAIChatStream(session, answer(tried()), {
    keep: keepAnswers({ docs }, ID, { every }),
  })
  expect(await textsOf(session)).toEqual(["Where?", "In France."])
})

test("an interval that is none is `invalid`", () => {
  for (const wrong of [0, -1, Number.NaN, "5" as never])
    expect(() => keepAnswers(createMemoryStorage(), ID, { every: wrong })).toThrow(/`every` must be/)
})

test("deleting the session deletes the document", async () => {
  const location = createMemoryLocation()
  await killed(location)
  const { session, kept } = await process(location)
  await session.close()
  await createSessions({ storage: createMemoryStorage({ location }) }).delete(ID)
  expect(await kept()).toBeUndefined()
})
