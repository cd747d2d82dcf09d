import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { createCountingStorage } from "../../test/counting-storage.ts"
import type { CountingStorage } from "../../test/counting-storage.ts"
import { expectInfo } from "../../test/expect-info.ts"
import { infoLog } from "../../test/info-logs.ts"
import { anyLog, headerOf, slotsOf } from "../../test/logs.ts"
import { holdsAsync } from "../../test/property.ts"
import { STORED_ID, storeLines } from "../../test/stored.ts"
import { assistant, user } from "../../test/writers.ts"
import type { SessionStorage } from "../storage/contract.ts"
import { infoText } from "./info-store.ts"
import { foldInfo, startFold } from "./info.ts"
import type { InfoFold, SessionInfo } from "./info.ts"
import { createSessions } from "./repository.ts"

const NOW = Date.UTC(2026, 5, 1)

test("information is the log's, whatever was kept of it, and how far", async () => {
  const garbage = ["", "null", "[]", "{}", "not json", '{"v":1}']
  const kept = fc.record({ at: fc.nat(), beside: fc.boolean(), harm: fc.nat({ max: 11 }) })
  await holdsAsync(
    fc.asyncProperty(fc.oneof(infoLog, anyLog), kept, async (lines, { at, beside, harm }) => {
      const storage = memory()
      const place = at % lines.length
      const fold = harmed(foldTo(lines, place, ""), harm)
      const text = harm < garbage.length ? (garbage[harm] as string) : JSON.stringify(fold)
      await storeKept(storage, lines, place, text, beside)
      const sessions = createSessions({ storage })
      const expected = expectInfo(slotsOf(lines), headerOf(lines), NOW)
      expect(told(await sessions.info(STORED_ID))).toEqual(expected)
      // And once more, of what that kept.
      expect(told(await sessions.info(STORED_ID))).toEqual(expected)
      expect(told((await sessions.list()).sessions[0])).toEqual(expected)
    }),
    200,
  )
})

test("information that was carried along while a session wrote is the fold of its log", async () => {
  const texts = fc.array(
    fc.tuple(fc.constantFrom("say", "answer", "title", "drop", "branch", "model", "edit"), fc.nat()),
    { maxLength: 25, size: "max" },
  )
  await holdsAsync(
    fc.asyncProperty(texts, async (steps) => {
      const storage = memory()
      const session = await createSessions({ storage, now: () => NOW }).create({ id: STORED_ID })
      const ids: string[] = []
      for (const [what, n] of steps) {
        const target = ids[n % Math.max(1, ids.length)]
        if (what === "say") ids.push(...(await session.append(user(`say ${n}`))).ids)
        else if (what === "answer") ids.push(...(await session.append(assistant(`answer ${n}`))).ids)
        else if (what === "title")
          await session.title(n % 3 === 0 ? null : `t${n}`, { source: n % 2 === 0 ? "auto" : "user" })
        else if (what === "model") await session.append({ type: "model_change", provider: "p", model: `m${n}` })
        else if (target === undefined) await session.resetLeaf()
        else if (what === "drop") await session.tombstone(target)
        else if (what === "edit") await session.edit(target, n % 2 === 0 ? null : { content: `edited ${n}` })
        else await session.branch(target)
      }
      const lines = await linesOf(storage)
      const expected = expectInfo(slotsOf(lines), headerOf(lines), NOW)
      expect(told(await session.info())).toEqual(expected)
      expect(told(await createSessions({ storage: memory(storage) }).info(STORED_ID))).toEqual(expected)
    }),
    100,
  )
})

test("after an awaited append the information shows it, without a read of the log or a second write", async () => {
  const storage = counting()
  const sessions = createSessions({ storage })
  const session = await sessions.create({ id: "s", title: "t" })
  storage.take()
  for (let n = 1; n <= 3; n++) {
    await session.append(user(`say ${n}`))
    expect(await sessions.info("s")).toMatchObject({ messageCount: n, firstPrompt: "say 1" })
    expect((await session.info()).messageCount).toBe(n)
  }
  expect(storage.take()).toMatchObject({ lines: 0, docsPut: 0, docsGot: 0 })
})

test("after a branch the list knows the model without opening the log", async () => {
  const storage = counting()
  const sessions = createSessions({ storage })
  const session = await sessions.create()
  const { ids } = await session.append([user("a"), { type: "model_change", provider: "p", model: "old" }])
  await session.append({ type: "model_change", provider: "p", model: "new" })
  await session.branch(ids[1] as string)
  await session.append(user("b"))
  storage.take()
  expect((await sessions.list()).sessions[0]?.model).toEqual({ provider: "p", model: "old" })
  expect(storage.take()).toMatchObject({ lines: 0, docsGot: 0 })
})

test("where only the path can tell the model, the answer is kept, and the next list does not look again", async () => {
  const storage = counting()
  const lines = [
    header(),
    line(1, { type: "model_change", provider: "p", model: "old" }),
    line(2, { type: "model_change", provider: "p", model: "new" }),
    line(3, { type: "leaf" }, "e1"),
  ]
  await storeKept(storage, lines, 3, JSON.stringify(foldTo(lines, 3, "")), true)
  const sessions = createSessions({ storage })
  expect((await sessions.list()).sessions[0]?.model).toEqual({ provider: "p", model: "old" })
  expect(storage.take().lines).toBeGreaterThan(0)
  expect((await sessions.list()).sessions[0]?.model).toEqual({ provider: "p", model: "old" })
  expect(storage.take().lines).toBe(0)
})

test("a row that is behind its head is brought up to date from the log's end alone", async () => {
  const storage = counting()
  const lines = [header(), ...Array.from({ length: 500 }, (_, n) => said(n + 1))]
  await storeKept(storage, lines, 497, JSON.stringify(foldTo(lines, 497, "")), true)
  expect((await createSessions({ storage }).info(STORED_ID)).messageCount).toBe(500)
  // The line that the kept information ends with is looked at: it must be the one that it was made of.
  expect(storage.take().lines).toBe(4)
})

test("a long log without information is read once; what it folds to is kept", async () => {
  const storage = counting()
  const lines = [header(), ...Array.from({ length: 1_500 }, (_, n) => said(n + 1))]
  await storeLines(lines, storage)
  const sessions = createSessions({ storage })
  expect((await sessions.list()).sessions[0]?.messageCount).toBe(1_500)
  expect(storage.take()).toMatchObject({ docsPut: 1 })
  expect((await sessions.list()).sessions[0]?.messageCount).toBe(1_500)
  expect(storage.take()).toMatchObject({ lines: 0, docsPut: 0 })
})

test("information of another log, or with another entry at its end, is made anew", async () => {
  for (const change of [{ log: "another" }, { to: { seq: 2, id: "another" } }]) {
    const storage = counting()
    const lines = [header(), ...[1, 2, 3, 4].map(said)]
    await storeKept(storage, lines, 2, JSON.stringify({ ...foldTo(lines, 2, ""), messageCount: 70, ...change }), true)
    expect((await createSessions({ storage }).info(STORED_ID)).messageCount).toBe(4)
  }
})

test("information over 8 KB goes into a document and comes back without a read of the log", async () => {
  const big = "x".repeat(9_000)
  const cases = [{ systemPromptOverride: big }, {}]
  for (const options of cases) {
    const storage = counting()
    const writer = createSessions({ storage })
    const session = await writer.create({ id: "s", ...options })
    if (Object.keys(options).length === 0) await session.metadata("notes", { text: big })
    await session.append(user("hello"))
    expect(await writer.info("s")).toMatchObject({ messageCount: 1, firstPrompt: "hello", ...options })
    await session.close()
    storage.take()
    const sessions = createSessions({ storage })
    const [info] = (await sessions.list()).sessions
    expect(info).toMatchObject({ messageCount: 1, firstPrompt: "hello", ...options })
    if (Object.keys(options).length === 0) expect(info?.metadata).toEqual({ notes: { text: big } })
    expect(storage.take()).toMatchObject({ lines: 0, docsPut: 0 })
  }
})

test("where all prompts that were remembered are deleted, the list reads the log once for the next one", async () => {
  const storage = counting()
  const sessions = createSessions({ storage })
  const session = await sessions.create({ id: "s" })
  const ids: string[] = []
  for (let n = 1; n <= 6; n++) ids.push(...(await session.append(user(`say ${n}`))).ids)
  for (const id of ids.slice(0, 4)) await session.tombstone(id)
  expect((await session.info()).firstPrompt).toBe("say 5")
  expect((await sessions.info("s")).firstPrompt).toBe("say 5")
  storage.take()
  expect((await sessions.list()).sessions[0]?.firstPrompt).toBe("say 5")
  expect(storage.take().lines).toBe(0)
  await session.append(user("say 7"))
  expect((await sessions.info("s")).firstPrompt).toBe("say 5")
  expect(storage.take().lines).toBe(0)
})

test("prompts that the end of the log deletes are not missed by who goes on from what is kept", async () => {
  const storage = memory()
  const gone = [1, 2, 3].map((n) => line(5 + n, { type: "tombstone", targetId: `e${n}` }))
  const lines = [header(), ...[1, 2, 3, 4, 5].map(said), ...gone]
  await storeKept(storage, lines, 5, JSON.stringify(foldTo(lines, 5, "")), true)
  expect((await createSessions({ storage }).info(STORED_ID)).firstPrompt).toMatch(/^say 4 /)
})

test("a prompt that is too long for a line shows its start, never a reference", async () => {
  const storage = counting()
  const long = `It begins ${"here ".repeat(200)}`
  const sessions = createSessions({ storage, blobs: { textUnits: 100 } })
  const session = await sessions.create({ id: "s" })
  const { ids } = await session.append(user("short"))
  await session.append(user(long))
  await session.tombstone(ids[0] as string)
  expect((await session.info()).firstPrompt).toBe(long.slice(0, 200))
  const copy = memory()
  for await (const { hash } of storage.blobs.list()) await copy.blobs.put((await storage.blobs.get(hash)) as Uint8Array)
  await storeLines(await linesOf(storage, "s"), copy)
  const elsewhere = createSessions({ storage: copy })
  expect((await elsewhere.info(STORED_ID)).firstPrompt).toBe(long.slice(0, 200))
  expect(await (await elsewhere.open(STORED_ID)).info()).toMatchObject({ firstPrompt: long.slice(0, 200) })
  for await (const { hash } of copy.blobs.list()) await copy.blobs.delete(hash)
  const bare = createSessions({ storage: memory(copy) })
  expect((await bare.info(STORED_ID)).firstPrompt).not.toMatch(/blob:/)
})

test("what is kept is deleted with its session, also where it was kept at that very moment", async () => {
  const storage = counting()
  const sessions = createSessions({ storage })
  const session = await sessions.create({ id: "s", systemPromptOverride: "x".repeat(9_000) })
  await session.append(user("hello"))
  await createSessions({ storage: memory(storage) }).delete("s")
  await session.close()
  const left: string[] = []
  for await (const key of storage.docs.list()) left.push(key)
  expect(left).toEqual([])
})

test("a storage that refuses documents still has its information told", async () => {
  const inner = memory()
  const refuse = async (): Promise<never> => Promise.reject(new Error("The disk is read-only."))
  const storage: SessionStorage = { ...inner, docs: { ...inner.docs, get: refuse, put: refuse } }
  await storeLines([header(), ...Array.from({ length: 1_200 }, (_, n) => said(n + 1))], storage)
  expect((await createSessions({ storage }).info(STORED_ID)).messageCount).toBe(1_200)
})

// ---- helpers -------------------------------------------------------------------------------------------------------------------

const locations = new WeakMap<SessionStorage, ReturnType<typeof createMemoryLocation>>()

/** A storage whose clock stands; another one on the same sessions where one is given. */
function memory(same?: SessionStorage): SessionStorage {
  const location = (same === undefined ? undefined : locations.get(same)) ?? createMemoryLocation()
  const storage = createMemoryStorage({ location, clock: () => NOW })
  locations.set(storage, location)
  return storage
}

function counting(): CountingStorage {
  const inner = memory()
  const storage = createCountingStorage(inner)
  locations.set(storage, locations.get(inner) as ReturnType<typeof createMemoryLocation>)
  return storage
}

function header(): string {
  return JSON.stringify({
    type: "session",
    format: "@sessions",
    version: 4,
    id: STORED_ID,
    timestamp: "2026-01-31T09:30:00.000Z",
  })
}

function line(seq: number, payload: object, parentId: string | null = seq === 1 ? null : `e${seq - 1}`): string {
  return JSON.stringify({ ...payload, id: `e${seq}`, parentId, seq, timestamp: "2026-01-31T09:30:00.000Z" })
}

function said(seq: number): string {
  return line(seq, {
    type: "message",
    message: { role: "user", content: [{ type: "text", text: `say ${seq} ${"-".repeat(60)}` }] },
  })
}

function foldTo(lines: readonly string[], place: number, log: string): InfoFold {
  const slots = slotsOf(lines)
  let fold = startFold(headerOf(lines), log)
  for (let seq = 1; seq <= place; seq++) fold = foldInfo(fold, slots[seq], seq)
  return fold
}

/** Stores a log with a text kept of its first lines, beside its head or as the document. */
async function storeKept(
  storage: SessionStorage,
  lines: readonly string[],
  place: number,
  text: string,
  beside: boolean,
): Promise<void> {
  const info = beside ? { info: text } : {}
  const head = await storage.append(STORED_ID, lines.slice(0, place + 1), { expect: 0, ...info })
  if (place + 1 < lines.length) await storage.append(STORED_ID, lines.slice(place + 1), { expect: head })
  const own = text.startsWith('{"v":1,"log":""') ? text.replace('"log":""', `"log":${JSON.stringify(head.log)}`) : text
  if (!beside) await storage.docs.put(`sessions/${STORED_ID}/info`, own, { expect: null })
}

/** Nothing kept is believed that does not have its shape, or ends elsewhere. */
function harmed(fold: InfoFold, harm: number): object {
  const elsewhere = { ...fold, messageCount: 999, firstPrompt: "wrong" }
  const all: object[] = [
    fold,
    { ...elsewhere, log: "another" },
    { ...elsewhere, prompts: [null] },
    { ...elsewhere, metadata: null },
    { ...elsewhere, metrics: { input: "1" } },
    { ...elsewhere, createdAt: "yesterday" },
  ]
  return all[harm % all.length] as object
}

async function linesOf(storage: SessionStorage, id = STORED_ID): Promise<string[]> {
  const lines: string[] = []
  for await (const chunk of storage.read(id)) lines.push(...chunk.lines)
  return lines
}

function told(info: SessionInfo | undefined): Partial<SessionInfo> {
  const { id: _, updatedAt: __, bytes: ___, parts: ____, incomplete: _____, ...rest } = info as SessionInfo
  return rest
}

test("information that rides along is at most 8 KB", () => {
  const fold = startFold({ systemPromptOverride: "ü".repeat(5_000) }, "l")
  expect(infoText(fold)).toBeUndefined()
  expect(infoText(startFold({ systemPromptOverride: "x".repeat(5_000) }, "l"))).toBeDefined()
})
