/** Values that are nested deeply: where each way into a session ends, and what becomes of those that other programs have written. */
import { branchWithSummary, compact } from "@sessions/core/compaction"
import { copySession, exportSession, importSession, mergeSession, verifySession } from "../transfer/index.ts"
import { createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { flatten, isTooDeep, levelsOf, toJsonText, writeDeep } from "../format/deep-text.ts"
import { isDeep, MAX_DEPTH } from "../storage/depth.ts"
import type { SessionStorage } from "../storage/contract.ts"
import { chain, linesOf, user } from "../../test/chain.ts"
import { HEADER } from "../../test/logs.ts"
import { STORED_ID, storeLines } from "../../test/stored.ts"
import { textOf } from "../../test/transfer.ts"
import { createSessions } from "./repository.ts"
import type { Session } from "./types.ts"

/** JSON of lists and objects in turn. */
const nested = (levels: number): string => {
  const open = Array.from({ length: levels }, (_, n) => (n % 2 === 0 ? "[" : '{"a":'))
  const close = open.map((mark) => (mark === "[" ? "]" : "}")).toReversed()
  return `${open.join("")}1${close.join("")}`
}
const deep = (levels: number): unknown => JSON.parse(nested(levels))

/** More than any runtime can write. */
const DEEPEST = 20_000

const CALLS: Readonly<Record<string, (session: Session, value: unknown) => Promise<unknown>>> = {
  "a custom entry": (session, data) => session.append({ type: "custom", customType: "x", data }),
  metadata: (session, value) => session.metadata("a", value),
  "the details of a summary": (session, details) => branchWithSummary(session, null, "s", { details }),
}

describe("at most 200 levels are taken, on every runtime,", () => {
  test.each(Object.entries(CALLS))("in %s", async (_, call) => {
    const session = await createSessions({ storage: createMemoryStorage() }).create()
    // The record is the first level.
    await call(session, deep(MAX_DEPTH - 1))
    const before = (await session.refresh()).next
    for (const levels of [MAX_DEPTH, 6_000, DEEPEST])
      await expect(call(session, deep(levels))).rejects.toMatchObject({ code: "too_large" })
    expect((await session.refresh()).next).toBe(before)
  })

  test("in the arguments of a tool, and behind a hook that copies the entry", async () => {
    const sessions = createSessions({ storage: createMemoryStorage(), hooks: { append: async () => undefined } })
    const session = await sessions.create()
    const call = (levels: number) => [{ type: "toolCall", id: "1", name: "t", arguments: { a: deep(levels) } }]
    for (const levels of [MAX_DEPTH, DEEPEST]) {
      const message = { role: "assistant", content: call(levels) } as never
      await expect(session.append({ type: "message", message })).rejects.toMatchObject({ code: "too_large" })
    }
  })

  test("in what a session is created with, of which nothing is stored", async () => {
    const sessions = createSessions({ storage: createMemoryStorage() })
    for (const levels of [MAX_DEPTH, DEEPEST]) {
      const parentSession = { id: "p", more: deep(levels) } as never
      for (const o of [{ metadata: { a: deep(levels) } }, { parentSession }])
        await expect(sessions.create(o)).rejects.toMatchObject({ code: "too_large" })
    }
    expect((await sessions.list()).sessions).toEqual([])
  })

  test("in a document, unless it is no JSON", async () => {
    const { docs } = createMemoryStorage()
    await docs.put("a", nested(MAX_DEPTH), { expect: null })
    for (const levels of [MAX_DEPTH + 1, DEEPEST])
      await expect(docs.put("b", nested(levels), { expect: null })).rejects.toMatchObject({ code: "too_large" })
    await docs.put("b", "[".repeat(DEEPEST), { expect: null })
  })

  test("in what a value itself writes with toJSON; a cycle is invalid", async () => {
    const session = await createSessions({ storage: createMemoryStorage() }).create()
    const data = { toJSON: () => deep(MAX_DEPTH) }
    await expect(session.append({ type: "custom", customType: "x", data })).rejects.toMatchObject({ code: "too_large" })
    const cycle: Record<string, unknown> = {}
    cycle["a"] = cycle
    await expect(session.append({ type: "custom", customType: "x", data: cycle })).rejects.toMatchObject({
      code: "invalid",
    })
  })
})

describe("a log that has deeper values already", () => {
  const values = [
    { type: "metadata", key: "a", value: "DEEP" },
    { type: "mode_change", mode: "m", data: "DEEP" },
    { type: "custom", customType: "x", data: "DEEP" },
  ]
  const lines = (levels: number): string[] =>
    linesOf(chain(user("hello"), ...values, user("again")), { ...HEADER, parentSession: { id: "p", a: "DEEP" } }).map(
      (line) => line.replace('"DEEP"', nested(levels)),
    )
  const stored = (levels: number): Promise<SessionStorage> => storeLines(lines(levels))

  test.each([300, DEEPEST])("is read, listed, shown and exported as it is: %i levels", async (levels) => {
    const storage = await stored(levels)
    const sessions = createSessions({ storage })
    const { sessions: listed, unreadable } = await sessions.list()
    expect(unreadable).toEqual([])
    // Each runtime can write the list.
    expect(levelsOf(JSON.stringify(listed))).toBeLessThan(MAX_DEPTH)
    expect(listed[0]?.metadata).toEqual({ a: "(nested too deeply)" })
    const session = await sessions.open(STORED_ID)
    expect((await session.context()).messages.map(({ entryId }) => entryId)).toHaveLength(2)
    expect(writeDeep((await session.path({ types: ["custom"] })).entries[0]?.["data"])).toBe(nested(levels))
    expect(await textOf(exportSession(sessions, STORED_ID))).toBe(`${lines(levels).join("\n")}\n`)
  })

  test("goes on: with messages, metadata, and a compaction that has the deep state of its path", async () => {
    const storage = await stored(DEEPEST / 20)
    const session = await createSessions({ storage }).open(STORED_ID)
    await session.append({ type: "message", message: { role: "assistant", content: "more ".repeat(200) } })
    await session.metadata("b", 1)
    await compact(session, { summarize: async () => "s", keepRecentTokens: 0 })
    expect((await session.info()).metadata).toEqual({ a: "(nested too deeply)", b: 1 })
  })

  test.each([300, DEEPEST])("is reported by verify, which calls it sound: %i levels", async (levels) => {
    const { diagnostics, damaged } = await verifySession(createSessions({ storage: await stored(levels) }), STORED_ID)
    expect(diagnostics.map(({ code, seq }) => [code, seq])).toEqual([0, 2, 3, 4].map((seq) => ["beyond_limit", seq]))
    expect(diagnostics[1]?.message).toContain(`has ${levels + 1} levels`)
    expect(damaged).toBe(false)
  })

  test("is copied and merged as it is, and reported", async () => {
    const sessions = createSessions({ storage: await stored(DEEPEST) })
    const other = createMemoryStorage()
    const { diagnostics } = await copySession(sessions, STORED_ID, other)
    expect(diagnostics.map(({ code, seq }) => [code, seq])).toEqual([2, 3, 4].map((seq) => ["beyond_limit", seq]))
    const short = await storeLines(lines(DEEPEST).slice(0, 2))
    const merged = await mergeSession(createSessions({ storage: short }), STORED_ID, sessions.storage)
    expect([merged.received, merged.diagnostics.length]).toEqual([4, 3])
    const text = await textOf(exportSession(createSessions({ storage: short }), STORED_ID))
    // The merge adds when it has written them.
    expect(text.replaceAll(/,"writtenAt":"[^"]*"/g, "")).toBe(await textOf(exportSession(sessions, STORED_ID)))
  })

  test.each([300, DEEPEST])("is imported with texts in the place of the deepest values: %i levels", async (levels) => {
    const sessions = createSessions({ storage: createMemoryStorage() })
    const text = `${lines(levels).join("\n")}\n`
    const { id, diagnostics } = await importSession(sessions, text)
    expect(diagnostics.map(({ code, seq }) => [code, seq])).toEqual([0, 2, 3, 4].map((seq) => ["beyond_limit", seq]))
    const imported = await textOf(exportSession(sessions, id, { selfContained: true }))
    expect(imported.split("\n").some((line) => isTooDeep(line))).toBe(false)
    expect((await verifySession(sessions, id)).diagnostics).toEqual([])
    // Again: nothing is left to be shortened.
    const again = createSessions({ storage: createMemoryStorage() })
    expect((await importSession(again, imported)).diagnostics).toEqual([])
  })

  test("is imported from an older version too", async () => {
    const records = [
      { type: "session", version: 3, id: "a", timestamp: HEADER.timestamp, cwd: "/" },
      { type: "custom", id: "b", parentId: null, timestamp: HEADER.timestamp, customType: "x", data: "DEEP" },
    ]
    const text = records.map((record) => JSON.stringify(record).replace('"DEEP"', nested(DEEPEST))).join("\n")
    const sessions = createSessions({ storage: createMemoryStorage() })
    const { id, diagnostics } = await importSession(sessions, text)
    expect(diagnostics.map(({ code, seq }) => [code, seq])).toEqual([["beyond_limit", 1]])
    expect((await verifySession(sessions, id)).diagnostics).toEqual([])
  })

  test("is imported by an importer too, which a runtime could not write", async () => {
    const sessions = createSessions({ storage: createMemoryStorage() })
    const header = { ...HEADER, origin: { format: "f", version: 1 } }
    const entry = { ...JSON.parse(lines(DEEPEST)[4] as string), parentId: null }
    const from = {
      format: "f",
      identify: () => true,
      read: async function* () {
        yield* [header, entry]
      },
    }
    const { id, diagnostics } = await importSession(sessions, "x", { from })
    expect(diagnostics.map(({ code, seq }) => [code, seq])).toEqual([["beyond_limit", 1]])
    expect((await verifySession(sessions, id)).diagnostics).toEqual([])
  })
})

describe("texts of deep values", () => {
  test("JSON.stringify and the one without recursion are the same", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(writeDeep(value)).toBe(JSON.stringify(value))
      }),
    )
  })

  test("what is within the limit stays; what is deeper is a text with its JSON", () => {
    const text = fc
      .jsonValue({ maxDepth: 6 })
      .map((value) => `{"s":"[{\\"","deep":${nested(198)},"v":${JSON.stringify(value)}}`)
    fc.assert(
      fc.property(text, (json) => {
        expect(flatten(json)).toBe(json)
      }),
    )
    const flat = JSON.parse(toJsonText({ s: '[{"\\', deep: deep(DEEPEST) })) as { deep: unknown }
    let inner: unknown = flat.deep
    while (typeof inner === "object") inner = Object.values(inner as object)[0]
    expect(flat).not.toSatisfy((value) => isDeep(value, MAX_DEPTH + 8))
    expect(nested(DEEPEST)).toContain(inner)
    expect(levelsOf(inner as string)).toBe(DEEPEST - MAX_DEPTH - 7)
  })
})
