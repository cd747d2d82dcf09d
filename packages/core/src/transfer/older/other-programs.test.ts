/** Logs as other programs write them. */
import { expect, test } from "vitest"
import { COMPACTIONS, CONTEXT_MESSAGES, CUT_OFF, firstVersionLines, LEFT, LINES } from "../../../test/first-version.ts"
import { AT, entry, header, lines, message, slots, stored, titleSlotLines } from "../../../test/older-logs.ts"
import { headerProblem } from "../../format/header.ts"
import type { Entry } from "../../format/entry.ts"
import { entryProblem } from "../../format/entry-problems.ts"
import { buildSessionContext } from "../../context/build.ts"
import { identifyLog } from "../../format/identify.ts"
import { isRawLine } from "./records.ts"
import { type MigratedLog, migrateLines } from "./migrate.ts"

const context = (log: MigratedLog) => buildSessionContext(slots(log), undefined, { header: log.header })

/** A compaction, and a summary of the branch that it is not on. */
const branched = lines(
  header(3),
  message("a", null),
  message("b", "a", "b", "assistant"),
  message("c", "b"),
  message("d", "c", "d", "assistant"),
  message("x", "b"),
  entry("branch_summary", "e", "a", { fromId: "d", summary: "Another way was tried." }),
  message("f", "e"),
  entry("compaction", "g", "d", { summary: "so far", firstKeptEntryId: "b", tokensBefore: 9 }),
  message("h", "g"),
)
const versions = [
  { name: "a log of pi, version 1", log: firstVersionLines(), version: 1, format: "pi" },
  { name: "a log of pi, version 2", log: lines(header(2), message("a", null)), version: 2, format: "pi" },
  { name: "a log of pi, version 3", log: lines(header(3), message("a", null)), version: 3, format: "pi" },
  { name: "a log of pi with a branch", log: branched, version: 3, format: "pi" },
  { name: "a log of oh-my-pi", log: titleSlotLines(), version: 3, format: "oh-my-pi" },
] as const

test.each(versions)("$name is identified with its version and its writer", ({ log, version, format }) => {
  expect(identifyLog(log)).toEqual({ kind: "older", version, format })
})

test("a log of pi, version 4, is newer than what can be read", () => {
  const first = { v: 4, kind: "header", id: "a", storageVersion: 1, createdAt: 1_790_000_000_000, cwd: "/p" }
  const second = { kind: "value", op: "set", seq: 1, namespace: "pi.branch.tip", key: "main", value: null }
  expect(identifyLog(lines(first, second))).toEqual({ kind: "newer", version: 4 })
})

test("other agents' sessions are foreign", () => {
  const said = { role: "user", content: "hi" }
  const first = {
    "Claude Code": { type: "user", uuid: "a", parentUuid: null, sessionId: "s", timestamp: AT, message: said },
    Codex: { timestamp: AT, type: "session_meta", payload: { id: "s", cwd: "/p", timestamp: AT } },
    noumen: { type: "message", uuid: "a", parentUuid: null, sessionId: "s", timestamp: AT, message: said },
  }
  for (const [name, line] of Object.entries(first))
    expect([name, identifyLog(lines(line)).kind]).toEqual([name, "foreign"])
})

test.each(versions)("$name becomes complete entries without a diagnostic, and stays the same", ({ log }) => {
  const migrated = migrateLines(log)
  expect(migrated.diagnostics).toEqual([])
  expect(headerProblem(migrated.header)).toBeUndefined()
  for (const record of migrated.records) expect(entryProblem(record)).toBeUndefined()
  expect(migrateLines(stored(migrated)).records).toEqual(migrated.records)
})

test("the first kept entries of a version 1 log are the records that its indexes name", () => {
  const log = firstVersionLines()
  const migrated = migrateLines(log)
  expect(log).toHaveLength(LINES)
  expect(migrated.records).toHaveLength(LINES - 1)
  const compactions = migrated.records.filter(
    (record): record is Entry => !isRawLine(record) && record.type === "compaction",
  )
  expect(compactions.map((entry) => entry["firstKeptSeq"])).toEqual(COMPACTIONS.map(({ firstKept }) => firstKept))
  for (const entry of compactions) {
    const kept = slots(migrated)[entry["firstKeptSeq"] as number]
    expect(entry["firstKeptEntryId"]).toBe(kept?.id)
    expect(kept).toMatchObject({ timestamp: JSON.parse(log[kept?.seq ?? 0] ?? "").timestamp })
  }
})

test("version 1: the context is the writer's own", () => {
  const migrated = migrateLines(firstVersionLines())
  const { messages, model, thinkingLevel } = context(migrated)
  expect(messages).toHaveLength(CONTEXT_MESSAGES)
  expect({ model, thinkingLevel }).toEqual({
    model: { provider: "anthropic", model: "claude-opus-4-5" },
    thinkingLevel: "off",
  })
  expect(migrated.header.parentSession).toEqual({ ref: LEFT })
})

test("version 1: the state of the path begins with the header's", () => {
  const migrated = migrateLines(firstVersionLines())
  const first = slots(migrated)[1]?.id ?? ""
  const { model, thinkingLevel } = buildSessionContext(slots(migrated), first, { header: migrated.header })
  expect({ model, thinkingLevel }).toEqual({
    model: { provider: "anthropic", model: "claude-haiku-4-5" },
    thinkingLevel: "minimal",
  })
})

test("a migration loses only transient fields", () => {
  const migrated = migrateLines(firstVersionLines())
  const written = migrated.records.map((record) => JSON.stringify(record))
  const records = firstVersionLines()
    .slice(1)
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  let dropped = 0
  const clean = (key: string, value: unknown) => {
    if (key !== "partialJson") return value
    dropped++
    return undefined
  }
  for (const [i, { type, timestamp, firstKeptEntryIndex: _, modelId, ...rest }] of records.entries()) {
    const entry = JSON.parse(written[i] ?? "") as Record<string, unknown>
    const expected = { type, timestamp, ...rest, ...(modelId === undefined ? {} : { model: modelId }) }
    expect(entry).toMatchObject(JSON.parse(JSON.stringify(expected, clean)) as object)
  }
  expect(dropped).toBe(CUT_OFF)
  expect(written.join("").includes("partialJson")).toBe(false)
})

test("a branch summary keeps its abandoned leaf", () => {
  const { records } = migrateLines(branched)
  expect(records.find((record) => (record as Entry).type === "branch_summary")).toMatchObject({ fromId: "d" })
})

test("the title slot is the last entry, and the reset before it empties the context", () => {
  const migrated = migrateLines(titleSlotLines())
  expect(migrated.records.at(-1)).toMatchObject({ title: "Letters", source: "user", parentId: "b" })
  expect(context(migrated).messages).toEqual([])
})
