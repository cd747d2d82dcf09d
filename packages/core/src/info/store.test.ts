import * as fc from "fast-check"
import { expect, test } from "vitest"
import { expectInfo } from "../../test/expect-info.ts"
import { infoLog } from "../../test/info-logs.ts"
import { counting, projectTo, headerLine, linesOf, memory, NOW, saidLine, storeKept } from "../../test/kept-info.ts"
import { anyLog, headerOf, slotsOf } from "../../test/logs.ts"
import { holdsAsync } from "../../test/property.ts"
import { STORED_ID, storeLines } from "../../test/stored.ts"
import { assistant, user } from "../../test/writers.ts"
import type { Entry } from "../format/entry.ts"
import { type HeadInfo, MAX_INFO_BYTES, type SessionStorage } from "../storage/contract.ts"
import { encodeProjection, parseProjection } from "./projection-text.ts"
import { docKey, infoText, storedInfo } from "./store.ts"
import { type InfoProjection, projectEntry, type SessionInfo, startProjection } from "./projection.ts"
import { createSessions } from "../session/repository.ts"

test("information describes the whole log, whatever part of it was stored before", async () => {
  const garbage = ["", "null", "[]", "{}", "not json", '{"v":6}']
  const kept = fc.record({ at: fc.nat(), beside: fc.boolean(), harm: fc.nat({ max: 11 }) })
  await holdsAsync(
    fc.asyncProperty(fc.oneof(infoLog, anyLog), kept, async (lines, { at, beside, harm }) => {
      const storage = memory()
      const place = at % lines.length
      const projection = harmed(projectTo(lines, place, ""), harm)
      const text = harm < garbage.length ? (garbage[harm] as string) : encodeProjection(projection as InfoProjection)
      await storeKept(storage, lines, place, text, beside)
      const sessions = createSessions({ storage })
      const expected = expectInfo(slotsOf(lines), headerOf(lines), NOW)
      expect(told(await sessions.info(STORED_ID))).toEqual(expected)
      // Again, from the information that was just stored.
      expect(told(await sessions.info(STORED_ID))).toEqual(expected)
      expect(told((await sessions.list()).sessions[0])).toEqual(expected)
    }),
    80,
  )
})

test("information that a session maintained while it wrote is the projection of its log", async () => {
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
    40,
  )
})

test("a session opened from its end has and maintains the information of its log, whatever was stored as up to date", async () => {
  const lines = [headerLine(), ...Array.from({ length: 20 }, (_, n) => saidLine(n + 1))]
  for (let harm = 0; harm < 6; harm++) {
    const storage = counting()
    const head = await storage.append(STORED_ID, lines.slice(0, 20), { expect: 0 })
    const kept = harmed(projectTo(lines, 20, head.log), harm)
    await storage.append(STORED_ID, lines.slice(20), { expect: head, info: encodeProjection(kept as InfoProjection) })
    const sessions = createSessions({ storage, readWindow: { first: 1, largest: 1 } })
    const session = await sessions.open(STORED_ID)
    expect(await session.info()).toMatchObject({
      messageCount: 20,
      firstPrompt: projectTo(lines, 20, "").firstPrompt?.text,
    })
    await session.append(user("one more"))
    expect(await session.info()).toMatchObject({
      messageCount: 21,
      firstPrompt: projectTo(lines, 20, "").firstPrompt?.text,
    })
    await sessions.close()
    const again = await createSessions({ storage: memory(storage) }).info(STORED_ID)
    expect(again).toMatchObject({ messageCount: 21, metadata: {} })
  }
})

test("the information of a session is that of the log it opened, even if the log grew before the first query", async () => {
  const storage = counting()
  const lines = [headerLine(), ...Array.from({ length: 20 }, (_, n) => saidLine(n + 1))]
  await storeKept(storage, lines, 12, encodeProjection(projectTo(lines, 12, "")), true)
  const tenLines = lines.slice(-10).join("\n").length + 1
  for (const readWindow of [{ first: tenLines, largest: tenLines }, undefined]) {
    const open = readWindow === undefined ? createSessions({ storage }) : createSessions({ storage, readWindow })
    const session = await open.open(STORED_ID)
    const other = await createSessions({ storage: memory(storage) }).open(STORED_ID)
    const before = (await other.info()).messageCount
    await other.append(user("theirs"))
    await Promise.all([session.append(user("mine")), session.append(user("mine as well"))])
    expect((await session.info()).messageCount).toBe(before + 3)
    expect((await createSessions({ storage: memory(storage) }).info(STORED_ID)).messageCount).toBe(before + 3)
    await Promise.all([session.close(), other.close()])
  }
})

/** Stored information is ignored if it has another shape or ends elsewhere. */
function harmed(projection: InfoProjection, harm: number): object {
  const elsewhere = { ...projection, messageCount: 999, firstPrompt: "wrong" }
  const all: object[] = [
    projection,
    { ...elsewhere, log: "another" },
    { ...elsewhere, firstPrompt: null },
    { ...elsewhere, metadata: null },
    { ...elsewhere, metrics: { input: "1" } },
    { ...elsewhere, createdAt: "yesterday" },
  ]
  return all[harm % all.length] as object
}

function told(info: SessionInfo | undefined): Partial<SessionInfo> {
  const {
    id: _,
    updatedAt: __,
    bytes: ___,
    parts: ____,
    incomplete: _____,
    openTips: ______,
    ...rest
  } = info as SessionInfo
  return rest
}

test("after an awaited append the information includes it, without a read of the log or a second write", async () => {
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

test("information of another log, or with another last entry, is made again", async () => {
  for (const change of [{ log: "another" }, { to: { seq: 2, id: "another" } }]) {
    const storage = counting()
    const lines = [headerLine(), ...[1, 2, 3, 4].map(saidLine)]
    await storeKept(
      storage,
      lines,
      2,
      encodeProjection({ ...projectTo(lines, 2, ""), messageCount: 70, ...change }),
      true,
    )
    expect((await createSessions({ storage }).info(STORED_ID)).messageCount).toBe(4)
  }
})

test("information over 8 KB goes into a document and is restored without a read of the log", async () => {
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

test("information beside the head is at most 8 KB", () => {
  const projection = startProjection({ systemPromptOverride: "ü".repeat(5_000) }, "l")
  expect(infoText(projection)).toBeUndefined()
  expect(infoText(startProjection({ systemPromptOverride: "x".repeat(5_000) }, "l"))).toBeDefined()
})
test("stored information is deleted with its session, even if it is stored at that moment", async () => {
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

test("a storage that refuses documents still gives information", async () => {
  const inner = memory()
  const refuse = async (): Promise<never> => Promise.reject(new Error("The disk is read-only."))
  const storage: SessionStorage = { ...inner, docs: { ...inner.docs, get: refuse, put: refuse } }
  await storeLines([headerLine(), ...Array.from({ length: 1_200 }, (_, n) => saidLine(n + 1))], storage)
  expect((await createSessions({ storage }).info(STORED_ID)).messageCount).toBe(1_200)
})

test("the information beside the head has the tips, and is written without them if it is too long with them", () => {
  let projection = startProjection({}, "l")
  for (let seq = 1; seq <= 60; seq++) projection = projectEntry(projection, aside(seq), seq)
  expect(projection.tips?.tips).toHaveLength(24)
  expect(projection.tips).toMatchObject({ more: 36 })
  expect((infoText(projection) as string).length).toBeLessThan(MAX_INFO_BYTES)
  expect(parseProjection(infoText(projection) as string)).toEqual(projection)
  const title = "x".repeat(MAX_INFO_BYTES - 1_500)
  const long = { ...projection, userTitle: title }
  const { tips: _, ...without } = long
  expect(parseProjection(infoText(long) as string)).toEqual(without)
  expect(infoText({ ...projection, userTitle: "x".repeat(MAX_INFO_BYTES) })).toBeUndefined()
})

test("of the stored projections the one with the most lines is used that has what is needed", async () => {
  const lines = [headerLine(), saidLine(1), saidLine(2), saidLine(3)]
  const storage = memory()
  const { log } = await storage.append(STORED_ID, lines, { expect: 0 })
  const to = (seq: number, more: object = {}): InfoProjection => ({ ...projectTo(lines, seq, log), ...more })
  const stale = { stale: true } as const
  const used = async (beside: InfoProjection, document: InfoProjection): Promise<number | undefined> => {
    const head = { ...(await storage.head(STORED_ID)), info: { text: encodeProjection(beside), next: 4 } } as HeadInfo
    const doc = await storage.docs.get(docKey(STORED_ID))
    await storage.docs.put(docKey(STORED_ID), encodeProjection(document), { expect: doc?.version ?? null })
    return (await storedInfo(storage, STORED_ID, head, (info) => info.stale === undefined, {}))?.to.seq
  }
  expect(await used(to(1), to(2))).toBe(2)
  expect(await used(to(2), to(1))).toBe(2)
  expect(await used(to(3, stale), to(1))).toBe(1)
  expect(await used(to(1), to(3, stale))).toBe(1)
  expect(await used(to(3, stale), to(2, stale))).toBeUndefined()
})

/** A root of its own, as each entry of another writer may be. */
function aside(seq: number): Entry {
  const message = { role: "user" as const, content: [] }
  return { type: "message", id: `${seq}`.padStart(26, "0"), parentId: null, seq, timestamp: "", message }
}

test("a stored projection whose parent session has neither an id nor a ref is none", () => {
  const stored = startProjection({ ...HEADER_OF_FORK, parentSession: { id: "p" } }, "log")
  expect(parseProjection(encodeProjection(stored))?.parentSession).toEqual({ id: "p" })
  for (const parentSession of [{}, { ie: "p" }, { id: 5 }, [], "p"])
    expect(parseProjection(encodeProjection({ ...stored, parentSession } as never))).toBeUndefined()
})

const HEADER_OF_FORK = {
  type: "session",
  format: "@sessions",
  version: 4,
  id: "s",
  timestamp: "2026-01-31T09:30:00.000Z",
}
