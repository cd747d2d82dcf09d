import { expect, test, vi } from "vitest"
import { AT, entry, header, message } from "../../../test/older-logs.ts"
import { ulidAt } from "../../format/computed-ids.ts"
import { isUlid } from "../../format/ids.ts"
import type { Diagnostic } from "../../format/diagnostics.ts"
import type { LogRecord } from "../../format/line.ts"
import type { OlderLog, RawLine } from "./records.ts"
import { migrateV1ToV2, migrateV2ToV3 } from "./v1-to-v3.ts"

const time = Date.parse(AT)
const said = (content: string): LogRecord => ({ type: "message", timestamp: AT, message: { role: "user", content } })
const compaction = (firstKeptEntryIndex: unknown): LogRecord => ({
  type: "compaction",
  timestamp: AT,
  summary: "s",
  firstKeptEntryIndex,
  tokensBefore: 1,
})
const log = (...records: (LogRecord | RawLine)[]): OlderLog => ({ header: header(undefined) as LogRecord, records })
function migrated(...records: (LogRecord | RawLine)[]): { readonly log: OlderLog; readonly diagnostics: Diagnostic[] } {
  const diagnostics: Diagnostic[] = []
  return { log: migrateV1ToV2(log(...records), (diagnostic) => diagnostics.push(diagnostic)), diagnostics }
}

test("ids are ULIDs of the entry's timestamp and its index in the log, so that every load gives the same ids", () => {
  const { records } = migrated(said("a"), said("b")).log
  expect(records.map((record) => (record as LogRecord)["id"])).toEqual([ulidAt(time, 1), ulidAt(time, 2)])
  expect(records.every((record) => isUlid((record as LogRecord)["id"]))).toBe(true)
  expect(migrated(said("a"), said("b"))).toEqual(migrated(said("a"), said("b")))
})

test("an entry without a time takes that of the entry before it, and the first one that of the header", () => {
  const later = "2025-06-01T00:00:00.000Z"
  const { records } = migrated({ type: "x" }, { type: "x", timestamp: later }, { type: "x", timestamp: "soon" }).log
  const times = [time, Date.parse(later), Date.parse(later)]
  expect(records.map((record) => (record as LogRecord)["id"])).toEqual(times.map((at, i) => ulidAt(at, i + 1)))
})

test("a time without a zone is UTC in any time zone", () => {
  vi.stubEnv("TZ", "America/New_York")
  const { records } = migrated({ type: "x", timestamp: "2025-01-01T00:00:00.000" }).log
  vi.unstubAllEnvs()
  expect((records[0] as LogRecord)["id"]).toBe(ulidAt(time, 1))
})

test("entries form one chain in file order", () => {
  const { records } = migrated(said("a"), { raw: "torn" }, said("b"), said("c")).log
  const entries = records.filter((record): record is LogRecord => "type" in record)
  expect(entries.map((entry) => entry["parentId"])).toEqual([null, entries[0]?.["id"], entries[1]?.["id"]])
})

test("an entry that has an id and a parent keeps them", () => {
  const { records } = migrated(said("a"), { ...said("b"), id: "own", parentId: null }, said("c")).log
  expect(records[1]).toMatchObject({ id: "own", parentId: null })
  expect(records[2]).toMatchObject({ parentId: "own" })
})

test("firstKeptEntryIndex counts the header as 0 and becomes the id of the entry there", () => {
  const { log: result, diagnostics } = migrated(said("a"), said("b"), compaction(2), said("c"))
  expect(result.records[2]).toMatchObject({ firstKeptEntryId: ulidAt(time, 2) })
  expect(result.records[2]).not.toHaveProperty("firstKeptEntryIndex")
  expect(diagnostics).toEqual([])
})

test("firstKeptEntryIndex does not count lines that are not JSON, and counts those that are", () => {
  const broken = migrated(said("a"), { raw: '{"type":"mess' }, said("b"), compaction(2)).log
  expect(broken.records[3]).toMatchObject({ firstKeptEntryId: (broken.records[2] as LogRecord)["id"] })
  const odd = migrated(said("a"), { raw: '{"no":"type"}' }, said("b"), compaction(3)).log
  expect(odd.records[3]).toMatchObject({ firstKeptEntryId: (odd.records[2] as LogRecord)["id"] })
})

test.each([0, 2, 3, 99, -1, 1.5, "1", null, { toString: 1 }])(
  "a compaction whose firstKeptEntryIndex is %j keeps nothing before it, and reports that",
  (index) => {
    const { log: result, diagnostics } = migrated(said("a"), compaction(index))
    const { id } = result.records[1] as LogRecord
    expect(result.records[1]).toMatchObject({ firstKeptEntryId: id })
    expect(diagnostics).toMatchObject([{ code: "missing_first_kept", seq: 2, entryId: id }])
  },
)

test("the header becomes version 2 and nothing else changes", () => {
  const input = log({ ...said("a"), x_unknown: { deep: [1] } })
  const before = structuredClone(input)
  const result = migrateV1ToV2(input, () => undefined)
  expect(input).toEqual(before)
  expect(result.header).toEqual({ ...input.header, version: 2 })
  expect(result.records[0]).toEqual({ ...input.records[0], id: ulidAt(time, 1), parentId: null })
})

const logV2 = (...records: object[]): OlderLog => ({ header: header(2) as LogRecord, records: records as LogRecord[] })

test("the role hookMessage is custom, and everything else of the message stays", () => {
  const hook = { role: "hookMessage", content: "hi", customType: "n", display: true, x_unknown: 1 }
  const input = logV2(entry("message", "a", null, { message: hook }))
  const before = structuredClone(input)
  const result = migrateV2ToV3(input)
  expect(result.records).toEqual([entry("message", "a", null, { message: { ...hook, role: "custom" } })])
  expect(result.header).toEqual(header(3))
  expect(input).toEqual(before)
})

test("other roles, other types and invalid messages are left as they are", () => {
  const records = [
    message("a", null),
    entry("custom", "b", "a", { message: { role: "hookMessage" } }),
    entry("message", "c", "b", { message: "hookMessage" }),
    { raw: '{"role":"hookMessage"}' },
  ]
  expect(migrateV2ToV3(logV2(...records)).records).toEqual(records)
})
