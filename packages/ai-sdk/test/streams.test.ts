/** Resumable streams: what a page gets that connects at any time, what stays of a run, and who may stop it. */
import { once } from "node:events"
import { createFaultyStorage, type Fault } from "@sessions/conformance/faults"
import { createSessions, type Sessions } from "@sessions/core"
import { verifySession } from "@sessions/core/transfer"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { type UIMessage, validateUIMessages } from "ai"
import * as fc from "fast-check"
import { expect, test, vi } from "vitest"
import { createDice } from "../../core/test/dice.ts"
import { createChatStore } from "../src/index.ts"
import { followEntries, LOST } from "../src/streams/follow.ts"
import { user } from "./model.ts"
import { chunks, createSource, createStreams, messages, Page } from "./pages.ts"
import { twoPagesTest } from "./several-processes.ts"
import { storages } from "./storages.ts"

/** Sessions of a memory storage, and of others on it. */
function createWorld(): { readonly here: Sessions; readonly there: Sessions } {
  const storage = createMemoryStorage()
  return { here: createSessions({ storage }), there: createSessions({ storage }) }
}

async function idsOf(sessions: Sessions): Promise<readonly string[]> {
  return (await sessions.list({ kind: "ai-sdk-stream" })).sessions.map(({ id }) => id)
}

test("a page that connects after any chunk, in any process, gets the answer from its start to its end", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.nat(chunks.length), { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 5 }),
      fc.boolean(),
      async (places, batchMs, isHere) => {
        const { here, there } = createWorld()
        const [streams, others] = [createStreams(here, { batchMs }), createStreams(isHere ? here : there)]
        const run = await streams.start({ chatId: "c", messages })
        const source = createSource()
        const ended = run.consumeSseStream({ stream: source.stream })
        const pages: Page[] = []
        let sent = 0
        for (const place of [...places].sort((a, b) => a - b)) {
          source.push(...chunks.slice(sent, place))
          sent = place
          const page = new Page(await others.resume("c"))
          pages.push(page)
          expect(await page.read(place)).toEqual(chunks.slice(0, place))
          // One that goes has no effect on the others.
          if (place % 3 === 0) await new Page(await others.resume("c")).close()
        }
        source.push(...chunks.slice(sent))
        source.end()
        for (const page of pages) expect([await page.read(), page.isDone]).toEqual([chunks, true])
        await ended
        expect(await others.resume("c")).toBeNull()
        expect((await createChatStore(there).readChat("c")).activeStreamId).toBeNull()
      },
    ),
    { numRuns: Number(process.env["FC_RUNS"] ?? 12) },
  )
})

twoPagesTest(storages)

test("a run whose process is lost ends for its pages, and its parts are the message, once, however many find out", async () => {
  const { here, there } = createWorld()
  const run = await createStreams(here).start({ chatId: "c", messages })
  const log = await here.open(run.streamId)
  await log.append({ type: "custom", customType: "ai-sdk:chunks", data: { from: 0, chunks: chunks.slice(0, 5) } })
  const others = createStreams(there, { heartbeatMs: 5 })
  const pages = [new Page(await others.resume("c")), new Page(await others.resume("c"))]
  await Promise.all([others.stop("c"), createStreams(here, { heartbeatMs: 5 }).stop("c")])
  for (const page of pages) expect(await page.read()).toEqual([...chunks.slice(0, 5), { type: "abort" }])
  const store = createChatStore<UIMessage>(there)
  const saved = await store.readChat("c")
  const parts = [{ type: "step-start" }, { type: "text", text: "I look", state: "streaming" }]
  expect(saved).toEqual({ messages: [...messages, { id: "a1", role: "assistant", parts }], activeStreamId: null })
  await validateUIMessages({ messages: saved.messages })
  const chat = await there.open("c")
  const roles: string[] = []
  for await (const entry of chat.entries()) if (entry.type === "message") roles.push(entry.message.role)
  expect(roles).toEqual(["user", "assistant"])
  expect((await verifySession(there, "c")).diagnostics).toEqual([])
})

test("a failed run that continued a message keeps the parts from before it, and has saved steps once", async () => {
  const { here, there } = createWorld()
  const asked: UIMessage = {
    id: "a1",
    role: "assistant",
    parts: [{ type: "step-start" }, { type: "text", text: "So" }],
  }
  const run = await createStreams(here).start({ chatId: "c", messages: [...messages, asked] })
  const steps = chunks.filter(({ type }) => !type.startsWith("tool") && type !== "finish")
  const source = createSource()
  void run.consumeSseStream({ stream: source.stream })
  const step = { type: "text", text: "I look.", state: "done" } as const
  const parts: UIMessage["parts"] = [...asked.parts, { type: "step-start" }, step]
  await createChatStore<UIMessage>(here).saveChat({ id: "c", messages: [...messages, { ...asked, parts }] })
  const sent = [...steps, ...steps.slice(1, 4)]
  source.push(...sent)
  const page = new Page(await createStreams(there).resume("c"))
  const before = (await page.read(sent.length + 4)).length - sent.length
  source.fail(new Error("The model is gone."))
  expect((await page.read()).slice(1 + before)).toEqual([...sent.slice(1), { type: "abort" }])
  const [, answer] = await createChatStore<UIMessage>(there).loadChat("c")
  expect(answer?.parts).toEqual([...parts, { type: "step-start" }, { type: "text", text: "I", state: "streaming" }])
})

test("a step that is saved stays if the process is lost before the step's last chunks are written", async () => {
  const { here } = createWorld()
  const run = await createStreams(here).start({ chatId: "c", messages })
  const log = await here.open(run.streamId)
  await log.append({ type: "custom", customType: "ai-sdk:chunks", data: { from: 0, chunks: chunks.slice(0, 4) } })
  const store = createChatStore<UIMessage>(here)
  const answer: UIMessage = {
    id: "a1",
    role: "assistant",
    parts: [{ type: "step-start" }, { type: "text", text: "I look." }],
  }
  await store.saveChat({ id: "c", messages: [...messages, answer] })
  await createStreams(here, { heartbeatMs: 5 }).stop("c")
  expect(await store.loadChat("c")).toEqual([...messages, answer])
})

test("what a lost run has left does not come behind a conversation that has gone on", async () => {
  const { here } = createWorld()
  const run = await createStreams(here).start({ chatId: "c", messages })
  const log = await here.open(run.streamId)
  await log.append({ type: "custom", customType: "ai-sdk:chunks", data: { from: 0, chunks } })
  const later = [...messages, user("u2", "Never mind")]
  await createChatStore<UIMessage>(here).saveChat({ id: "c", messages: later })
  await createStreams(here, { heartbeatMs: 5 }).stop("c")
  expect(await createChatStore<UIMessage>(here).loadChat("c")).toEqual(later)
})

test("a silent run is not lost while its process lives", async () => {
  const { here, there } = createWorld()
  const run = await createStreams(here, { heartbeatMs: 5 }).start({ chatId: "c", messages })
  const source = createSource()
  const ended = run.consumeSseStream({ stream: source.stream })
  const page = new Page(await createStreams(there, { heartbeatMs: 50 }).resume("c"))
  const log = await there.open(run.streamId)
  let alive = 0
  for await (const entry of followEntries(log, 1_000)) {
    if (entry !== LOST && entry["customType"] === "ai-sdk:alive") alive++
    if (alive === 20) break
  }
  source.push(...chunks)
  source.end()
  await ended
  expect(await page.read()).toEqual(chunks)
})

const FAULTS: readonly Fault[] = ["unavailable", "request lost", "response lost", "late"]

test.each([1, 2, 3])("failing writes lose and double no chunk (seed %i)", async (seed) => {
  const dice = createDice(seed)
  const location = createMemoryLocation()
  let isFailing = false
  const storage = createFaultyStorage(createMemoryStorage({ location }), {
    decide: ({ operation }) =>
      isFailing && operation === "append" && dice.chance(0.4) ? dice.pick(FAULTS) : undefined,
  })
  const run = await createStreams(createSessions({ storage })).start({ chatId: "c", messages })
  const there = createSessions({ storage: createMemoryStorage({ location }) })
  const page = new Page(await createStreams(there).resume("c"))
  isFailing = true
  const source = createSource()
  const ended = run.consumeSseStream({ stream: source.stream })
  for (const [index, chunk] of chunks.entries()) {
    source.push(chunk)
    await page.read(index + 1)
    if (dice.chance(0.5) && storage.late > 0) await storage.deliver()
  }
  isFailing = false
  source.end()
  await ended
  expect([await page.read(), page.isDone]).toEqual([chunks, true])
})

test("the log of a stream goes when the next run of the chat starts, and with the chat, which stops its run", async () => {
  const { here } = createWorld()
  const streams = createStreams(here)
  const runs = []
  for (const number of [1, 2]) {
    const run = await streams.start({ chatId: "c", messages: [user(`u${number}`, "Look")] })
    expect(await idsOf(here)).toEqual([run.streamId])
    const source = createSource()
    runs.push({ run, source, ended: run.consumeSseStream({ stream: source.stream }) })
    if (number === 1) source.end()
  }
  await createChatStore(here).deleteChat("c")
  expect(await idsOf(here)).toEqual([])
  const [, { run, source, ended }] = runs as [unknown, (typeof runs)[number]]
  source.push(...chunks)
  if (!run.signal.aborted) await once(run.signal, "abort")
  source.end()
  await ended
  expect((await here.list()).sessions).toEqual([])
})

test("a run reads its stream to the end if its chunks cannot be written, and says so", async () => {
  const { here } = createWorld()
  const errors: unknown[] = []
  const run = await createStreams(here, { onError: (error) => errors.push(error) }).start({ chatId: "c", messages })
  await here.close()
  const source = createSource()
  source.push(...chunks)
  source.end()
  await run.consumeSseStream({ stream: source.stream })
  expect(errors).toMatchObject([{ code: "closed" }])
})

test("a run is recorded to its end although what its log has already cannot be read, and says so", async () => {
  const location = createMemoryLocation()
  const real = createMemoryStorage({ location })
  let isAway = false
  const get: typeof real.blobs.get = async (...args) => {
    if (isAway) throw Object.assign(new Error("no blobs"), { code: "misconfigured" })
    return real.blobs.get(...args)
  }
  const storage = { ...real, blobs: { ...real.blobs, get } }
  const errors: unknown[] = []
  const streams = createStreams(createSessions({ storage }), { onError: (error) => errors.push(error) })
  const asked: UIMessage = { id: "a1", role: "assistant", parts: [{ type: "text", text: "So ".repeat(1_000_000) }] }
  const run = await streams.start({ chatId: "c", messages: [...messages, asked] })
  isAway = true
  const source = createSource()
  const ended = run.consumeSseStream({ stream: source.stream })
  await vi.waitFor(() => expect(errors).toHaveLength(1))
  isAway = false
  source.push(...chunks)
  source.end()
  await ended
  expect(errors).toMatchObject([{ code: "misconfigured" }])
  // Its end is in the log of the stream and in the chat.
  expect(await streams.resume("c")).toBeNull()
  const texts = location.logs.get(run.streamId)?.lines.join() ?? ""
  expect(texts).toContain('"ai-sdk:end"')
  expect(texts).toContain('" look"')
})

test("stopping a chat that is not there, or has no run, does nothing", async () => {
  const { here } = createWorld()
  const streams = createStreams(here)
  await streams.stop("c")
  expect(await streams.resume("c")).toBeNull()
  await createChatStore(here).saveChat({ id: "c", messages, activeStreamId: "of another program" })
  await streams.stop("c")
  expect(await streams.resume("c")).toBeNull()
  expect((await here.list()).sessions).toHaveLength(1)
})
