import { createMemoryStorage } from "@sessions/memory"
import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { damagedLines } from "../../../test/older-logs.ts"
import { anyLog, validLog } from "../../../test/logs.ts"
import { holdsAsync } from "../../../test/property.ts"
import { codeOf, sessionsIn } from "../../../test/transfer.ts"
import { user } from "../../../test/writers.ts"
import { parseLine } from "../../format/line.ts"
import { identifyLog } from "../../format/identify.ts"
import type { SessionStorage } from "../../storage/contract.ts"
import { verifySession } from "../index.ts"
import { verifyStored } from "./verify.ts"

type Fields = Record<string, unknown>

const AT = "2026-01-31T09:30:00.000Z"
const HEADER: Fields = { type: "session", format: "@sessions", version: 4, id: "s", timestamp: AT }

/** Entries get their position as seq, and the entry before them as parent, unless they have their own. */
function lines(header: Fields, ...entries: readonly (Fields | string)[]): string[] {
  return [
    JSON.stringify(header),
    ...entries.map((entry, index) => {
      if (typeof entry === "string") return entry
      const base = { type: "message", id: `e${index + 1}`, parentId: index === 0 ? null : `e${index}`, seq: index + 1 }
      const content = entry["type"] === undefined ? { message: { role: "user", content: [] } } : {}
      return JSON.stringify({ ...base, timestamp: AT, ...content, ...entry })
    }),
  ]
}

async function stored(log: readonly string[], storage = createMemoryStorage()): Promise<SessionStorage> {
  await storage.append("s", log, { expect: 0 })
  return storage
}

async function found(log: readonly string[]) {
  const { diagnostics, damaged } = await verifyStored(await stored(log), "s")
  return { codes: diagnostics.map(({ code, seq, entryId }) => [code, seq, entryId]), damaged }
}

const compaction = (more: Fields): Fields => ({
  type: "compaction",
  summary: "",
  firstKeptEntryId: "e1",
  tokensBefore: 1,
  readFiles: [],
  modifiedFiles: [],
  ...more,
})
const STATE = { thinkingLevel: "off", models: {}, modelIsExplicit: false, mode: "none", injectedTtsrRules: [] }

test("a sound log has no diagnostics, and a report has its size", async () => {
  const storage = createMemoryStorage()
  const sessions = sessionsIn(storage)
  const session = await sessions.create({ id: "s", systemPromptOverride: "Be brief." })
  await session.append([user("hi", "a"), { type: "model_change", provider: "p", model: "m" }])
  await session.label("a", "first")
  await session.branch("a")
  await session.edit("a", { content: "ho" })
  const head = await storage.head("s")
  expect(await verifySession(sessions, "s")).toEqual({
    id: "s",
    lines: 6,
    bytes: head?.bytes,
    diagnostics: [],
    damaged: false,
  })
})

test.each<[string, readonly (Fields | string)[], readonly unknown[]]>([
  ["a line that is no JSON", [{}, "not json", { parentId: "e1" }], ["unparsable_line", 2, undefined]],
  ["a record that is no entry", [{}, '{"type":"session"}', { parentId: "e1" }], ["unparsable_line", 2, undefined]],
  ["a seq that is not the place", [{}, { seq: 7 }], ["seq_mismatch", 2, "e2"]],
  ["an id that comes again", [{}, {}, { id: "e1" }], ["duplicate_id", 3, "e1"]],
  ["a parent that is nowhere", [{}, { parentId: "x" }], ["missing_parent", 2, "e2"]],
  ["a parent that comes later", [{}, { parentId: "e3" }, {}], ["forward_reference", 2, "e2"]],
  ["a tombstone of nothing", [{}, { type: "tombstone", targetId: "x" }], ["missing_target", 2, "e2"]],
  ["an edit of nothing", [{}, { type: "context_edit", targetId: "x", replacement: null }], ["missing_target", 2, "e2"]],
  ["a label of a later entry", [{}, { type: "label", targetId: "e3", label: "l" }, {}], ["forward_reference", 2, "e2"]],
  ["a leaf whose target is nowhere", [{}, { type: "leaf", parentId: "x" }], ["missing_parent", 2, "e2"]],
  ["a message without a role", [{ message: {} }], ["invalid_record", 1, "e1"]],
  ["a first kept entry that is nowhere", [{}, compaction({ firstKeptEntryId: "x" })], ["missing_first_kept", 2, "e2"]],
  [
    "a first kept entry on another branch",
    [{}, {}, { type: "leaf", parentId: "e1" }, compaction({ firstKeptEntryId: "e2" })],
    ["missing_first_kept", 4, "e4"],
  ],
  [
    "a state that differs from the state of the path",
    [{}, compaction({ state: { ...STATE, thinkingLevel: "high" } })],
    ["state_mismatch", 2, "e2"],
  ],
  [
    "a reset whose state differs from the state of its path",
    [{}, { type: "reset_boundary", state: { ...STATE, thinkingLevel: "high" } }],
    ["state_mismatch", 2, "e2"],
  ],
  [
    "a state that lacks a model",
    [{ type: "model_change", provider: "p", model: "m" }, compaction({ state: STATE })],
    ["state_mismatch", 2, "e2"],
  ],
  [
    "a missing blob",
    [{ type: "custom", customType: "x", data: `blob:sha256:${"a".repeat(64)}`, blobs: { "/data": "utf8" } }],
    ["missing_blob", 1, "e1"],
  ],
  [
    "a missing blob of a snapshot",
    [{ type: "file_snapshot", messageId: "m", files: { a: { blob: `sha256:${"a".repeat(64)}`, version: 1 } } }],
    ["missing_blob", 1, "e1"],
  ],
])("%s is said, with its place", async (_, entries, expected) => {
  expect(await found(lines(HEADER, ...entries))).toEqual({ codes: [expected], damaged: true })
})

test.each<[string, Fields]>([
  ["keeps nothing", { firstKeptEntryId: "e2" }],
  ["carries what its path projections to", { state: STATE }],
  ["carries it with its keys in another order", { state: Object.fromEntries(Object.entries(STATE).toReversed()) }],
])("nothing is said of a compaction that %s", async (_, more) => {
  expect(await found(lines(HEADER, {}, compaction(more)))).toEqual({ codes: [], damaged: false })
})

test("two concurrent turns are reported and are no damage; imported branches are neither", async () => {
  const branches = [{}, { parentId: "e1" }, { parentId: "e1" }]
  expect(await found(lines(HEADER, ...branches))).toEqual({ codes: [["diverged", 2, undefined]], damaged: false })
  const origin = { format: "pi", version: 3, lines: 4 }
  expect(await found(lines({ ...HEADER, origin }, ...branches))).toEqual({ codes: [], damaged: false })
})

test("fewer lines than the header's count are `incomplete`, and an invalid header is `invalid_record`", async () => {
  const origin = { format: "pi", version: 3, lines: 9 }
  expect((await found(lines({ ...HEADER, origin }, {}))).codes).toEqual([["incomplete", undefined, undefined]])
  expect((await found(lines({ ...HEADER, cwd: 7 }))).codes).toEqual([["invalid_record", 0, undefined]])
})

test("a missing backup is reported", async () => {
  const origin = { format: "pi", version: 3, backup: { blobs: [`sha256:${"a".repeat(64)}`], bytes: 1 } }
  expect((await found(lines({ ...HEADER, origin }))).codes).toEqual([["missing_blob", 0, undefined]])
})

test("bytes after the last line, and lines that the storage does not return, are reported", async () => {
  const storage = await stored(lines(HEADER, {}))
  const torn: SessionStorage = {
    ...storage,
    head: async (session, o) => {
      const head = await storage.head(session, o)
      return head === undefined ? undefined : { ...head, next: 5, torn: 17 }
    },
  }
  const { diagnostics } = await verifyStored(torn, "s")
  expect(diagnostics.map(({ code, bytes }) => [code, bytes])).toEqual([
    ["torn_tail", 17],
    ["incomplete", undefined],
  ])
})

test("the header's system prompt needs no copy in a state", async () => {
  const header = { ...HEADER, systemPromptOverride: "Be brief." }
  expect((await found(lines(header, {}, compaction({ state: STATE })))).codes).toEqual([])
  expect(
    (await found(lines(HEADER, {}, compaction({ state: { ...STATE, systemPromptOverride: "x" } })))).codes,
  ).toEqual([["state_mismatch", 2, "e2"]])
})

test("an older log is verified as its migration makes it; of a newer one only the version is reported", async () => {
  const old = lines(
    { type: "session", version: 3, id: "s", timestamp: AT },
    { message: { role: "user", content: "hi" } },
    "not json",
  )
  expect(await found(old)).toEqual({ codes: [["unparsable_line", 2, undefined]], damaged: true })
  const whole = lines(
    { type: "session", version: 3, id: "s", timestamp: AT },
    { message: { role: "user", content: "hi" } },
  )
  expect(await found(whole)).toEqual({ codes: [], damaged: false })
  const newer = lines({ ...HEADER, version: 99 }, '["another", "form"]')
  expect(await found(newer)).toEqual({ codes: [["unknown_version", 0, undefined]], damaged: false })
})

test("a log that is not a session, and a missing one, are errors", async () => {
  expect(await codeOf(verifyStored(await stored(["hello"]), "s"))).toBe("not_a_session")
  expect(await codeOf(verifyStored(createMemoryStorage(), "s"))).toBe("not_found")
})

test("every damaged line of any log is named", async () => {
  await holdsAsync(
    fc.asyncProperty(
      anyLog.filter((log) => identifyLog(log.slice(0, 1)).kind === "sessions"),
      async (log) => {
        const { diagnostics, lines: count } = await verifyStored(await stored(log), "s")
        expect(count).toBe(log.length)
        const named = new Set(diagnostics.map(({ seq }) => seq))
        const ids = new Set<unknown>()
        const missed = log.filter((line, seq) => {
          const record = parseLine(line).record as Fields | undefined
          const { type, id, parentId, seq: said } = record ?? {}
          const sound = record !== undefined && said === seq && !ids.has(id) && (parentId === null || ids.has(parentId))
          // The id of a header is that of a session, which an entry may have too.
          if (type !== "session") ids.add(id)
          return seq > 0 && !sound && !named.has(seq)
        })
        expect(missed).toEqual([])
      },
    ),
    40,
  )
})

test("a sound log has no damage except the kinds its generator makes on purpose", async () => {
  const meant = new Set([
    "state_mismatch",
    "missing_first_kept",
    "missing_target",
    "missing_parent",
    "invalid_record",
    "diverged",
  ])
  await holdsAsync(
    fc.asyncProperty(validLog, async (log) => {
      const { diagnostics } = await verifyStored(await stored(log), "s")
      expect(diagnostics.filter(({ code }) => !meant.has(code))).toEqual([])
    }),
  )
})

test("verify ends with a report for every older log", async () => {
  await holdsAsync(
    fc.asyncProperty(damagedLines, async (log) => {
      const kept = log.filter((line) => line !== "")
      fc.pre(kept.length > 0)
      const outcome = await verifyStored(await stored(kept), "s").then(
        ({ lines: count }) => `a report on ${count} lines`,
        (error: { code?: unknown }) => error.code,
      )
      const { kind } = identifyLog(kept)
      const refused = kind === "foreign" || kind === "empty"
      expect(outcome).toBe(refused ? "not_a_session" : `a report on ${kept.length} lines`)
    }),
  )
})

describe("the result of a tool call that was started", () => {
  const call = { type: "toolCall", id: "c", name: "charge", arguments: {} }
  const answer: Fields = { id: "a", message: { role: "assistant", content: [call] } }
  const start = (attempt: number, run: string): Fields => {
    const fields = { targetId: "a", callId: "c", call: 0, toolName: "charge", attempt, key: "k", run }
    return { type: "tool_start", id: `a.0.${attempt}`, parentId: "a", ...fields }
  }
  const result = (id: string, parentId: string, run?: string, callId = "c"): Fields => ({
    id,
    parentId,
    message: { role: "toolResult", toolCallId: callId, isError: false, content: [] },
    ...(run === undefined ? {} : { run }),
  })
  const reported = async (...entries: readonly Fields[]) => {
    const { diagnostics, damaged } = await verifyStored(await stored(lines(HEADER, answer, ...entries)), "s")
    expect(damaged).toBe(false)
    return diagnostics.flatMap(({ code, entryId, message }) => (code === "foreign_result" ? [[entryId, message]] : []))
  }

  test("is reported if the run that started it last has not given it", async () => {
    const found = [["r", expect.stringContaining("was not given by the run that started the call")]]
    expect(await reported(start(1, "one"), result("r", "a.0.1", "one"))).toEqual([])
    expect(await reported(start(1, "one"), result("r", "a.0.1", "two"))).toEqual(found)
    expect(await reported(start(1, "one"), result("r", "a.0.1"))).toEqual(found)
  })

  test("of an earlier attempt is one of a call that may have run twice", async () => {
    const twice = await reported(start(1, "one"), start(2, "two"), result("r", "a.0.2", "one"))
    expect(twice).toEqual([["r", expect.stringContaining("may have run twice")]])
    expect(await reported(start(1, "one"), start(2, "two"), result("r", "a.0.2", "two"))).toEqual([])
  })

  test("is that of the message before it: a later call with the same id that was not started has its own", async () => {
    const later: Fields = { ...answer, id: "b", parentId: "r" }
    expect(await reported(start(1, "one"), result("r", "a.0.1", "one"), later, result("q", "b"))).toEqual([])
  })

  test("without a start, or without its message, is not reported", async () => {
    expect(await reported(result("r", "a", "one"))).toEqual([])
    expect(await reported(start(1, "one"), { ...result("r", "a"), parentId: null })).toEqual([])
  })
})
