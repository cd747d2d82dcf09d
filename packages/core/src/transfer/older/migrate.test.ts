import { isLastWriterWins } from "../../log/last-writer-wins.ts"
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { AT, damagedLines, entry, header, lines, message, olderLog, stored } from "../../../test/older-logs.ts"
import { holds } from "../../../test/property.ts"
import { entry as currentEntry, header as currentHeader } from "../../../test/records.ts"
import { SessionError } from "../../format/errors.ts"
import { toEncodedEntry, encodeHeader, lineOf } from "../../format/line.ts"
import type { Entry } from "../../format/entry.ts"
import type { Header } from "../../format/header.ts"
import { identifyLog } from "../../format/identify.ts"
import { isRawLine } from "./records.ts"
import { migrateLines } from "./migrate.ts"

test("version 1 goes through every step", () => {
  const hook = { type: "message", timestamp: AT, message: { role: "hookMessage", content: "hi" } }
  const { header: made, records, from } = migrateLines(lines(header(undefined), hook))
  expect(from).toEqual({ format: "pi", version: 1 })
  expect(made).toMatchObject({ format: "@sessions", version: 4, origin: { format: "pi", version: 1, id: "old-1" } })
  expect(records).toMatchObject([{ message: { role: "custom", content: [{ type: "text", text: "hi" }] }, seq: 1 }])
})

test("version 2 is renamed, version 3 is not", () => {
  const hook = entry("message", "a", null, { message: { role: "hookMessage", content: [] } })
  expect(migrateLines(lines(header(2), hook)).records).toMatchObject([{ message: { role: "custom" } }])
  expect(migrateLines(lines(header(3), hook)).records).toMatchObject([{ message: { role: "hookMessage" } }])
})

test("a line that is not an entry is kept verbatim in its position, and reported", () => {
  const odd = ['{"torn":', "[1]", '{"type":"message","parentId":null}', JSON.stringify(header(3)), "tail\r"]
  const [torn = "", array = "", noId = "", second = "", tail = ""] = odd
  const log = [
    "before",
    ...lines(header(3), torn, message("a", null), array, noId, second, "", " ", message("b", "a")),
    tail,
  ]
  const { records, diagnostics } = migrateLines(log)
  const raw = { before: 1, torn: 2, array: 4, noId: 5, second: 6, tail: 8 }
  expect(records.map((record) => (isRawLine(record) ? record.raw : record.id))).toEqual([
    "before",
    torn,
    "a",
    array,
    noId,
    second,
    "b",
    tail,
  ])
  expect(records[2]).toMatchObject({ seq: 3 })
  expect(diagnostics.map(({ seq }) => seq)).toEqual(Object.values(raw))
  expect(diagnostics.map(({ code }) => code)).toEqual([
    "unparsable_line",
    "unparsable_line",
    "unparsable_line",
    "invalid_record",
    "invalid_record",
    "unparsable_line",
  ])
})

test("BOM and CRLF are tolerated", () => {
  const log = lines(header(3), message("a", null)).map((line) => `${line}\r`)
  expect(migrateLines([`\ufeff${log[0]}`, log[1] ?? ""]).records).toMatchObject([{ id: "a" }])
})

test("the diagnostics are in log order", () => {
  const lost = entry("compaction", "c", "a", { summary: "", tokensBefore: 1, firstKeptEntryId: "x" })
  const { diagnostics } = migrateLines(lines(header(3), message("a", null), lost, "torn"))
  expect(diagnostics.map(({ code, seq }) => [code, seq])).toEqual([
    ["missing_first_kept", 2],
    ["unparsable_line", 3],
  ])
})

test("a log of this format passes through unchanged, whatever its entries are", () => {
  holds(
    fc.property(currentHeader, fc.array(currentEntry, { maxLength: 6 }), (own, entries) => {
      const log = [
        encodeHeader(own as Header),
        ...entries.map((each, i) => lineOf(toEncodedEntry(each as Entry), i + 1)),
      ]
      const migrated = migrateLines(log)
      const parsed = log.map((line) => JSON.parse(line) as unknown)
      expect(migrated).toEqual({
        header: parsed[0],
        records: parsed.slice(1),
        diagnostics: [],
        from: { format: "@sessions", version: 4 },
      })
    }),
  )
})

test("a log of this format changes only its id if another one is given", () => {
  const own = { type: "session", format: "@sessions", version: 4, id: "a", timestamp: AT, x_unknown: 1 }
  expect(migrateLines(lines(own), { id: "b" }).header).toEqual({ ...own, id: "b" })
  expect(migrateLines(lines(own)).header).toEqual(own)
})

test.each([
  ["newer_version", lines(header(99))],
  ["not_a_session", ["hello"]],
  ["not_a_session", []],
])("what is no log of a known version is refused with %s", (code, log) => {
  expect(() => migrateLines(log)).toThrow(SessionError)
  expect(() => migrateLines(log)).toThrow(expect.objectContaining({ code }))
})

test("migrating is idempotent: a migrated log, stored and read again, is the same log", () => {
  holds(
    fc.property(damagedLines, (log) => {
      fc.pre(identifyLog(log).kind === "older")
      const migrated = migrateLines(log)
      const again = migrateLines(stored(migrated))
      expect(again.header).toEqual(migrated.header)
      expect(again.records).toEqual(migrated.records)
      expect(stored(again)).toEqual(stored(migrated))
    }),
    120,
  )
})

test("migrating is deterministic: the same lines give the same log", () => {
  holds(
    fc.property(olderLog, (log) => {
      expect(migrateLines(lines(...log))).toEqual(migrateLines(lines(...log)))
    }),
  )
})

test("unknown fields survive at any position, in damaged logs too", () => {
  const kept = /"x_\w+":(?:"[^"\n]*"|\d+|true|\{"list":\[1,null,\{"a":"b"\}\]\})/g
  const marks = (log: readonly string[]) => (log.join("\n").match(kept) ?? []).toSorted()
  holds(
    fc.property(
      fc.oneof(
        damagedLines,
        olderLog.map((log) => lines(...log)),
      ),
      (log) => {
        fc.pre(identifyLog(log).kind === "older")
        expect(marks(stored(migrateLines(log)))).toEqual(marks(log))
      },
    ),
    200,
  )
})

test("damage never stops a migration: every line has its record, in log order, at its seq", () => {
  holds(
    fc.property(damagedLines, (log) => {
      fc.pre(identifyLog(log).kind === "older")
      const { records } = migrateLines(log)
      const seqs = records.map((record, at) => (isRawLine(record) ? at + 1 : record.seq))
      expect(seqs).toEqual(records.map((_, at) => at + 1))
      const raws = records.filter((record) => isRawLine(record)).map(({ raw }) => raw)
      let next = 0
      for (const raw of raws) {
        next = log.indexOf(raw, next) + 1
        expect(next).toBeGreaterThan(0)
      }
      // One line is the header and one may be the title slot; a title outside the entries, and annotations in force, may end the log.
      const inForce = records.filter((record) => !isRawLine(record) && isLastWriterWins(record.type)).length
      const added = records.length - log.filter((line) => line.trim() !== "").length
      expect(added).toBeGreaterThanOrEqual(-1)
      expect(added).toBeLessThanOrEqual(inForce)
    }),
    200,
  )
})

test("if damage has removed the header, the log is rejected, and no other error is thrown", () => {
  holds(
    fc.property(damagedLines, (log) => {
      fc.pre(identifyLog(log).kind !== "older")
      expect(() => migrateLines(log)).toThrow(SessionError)
    }),
    50,
  )
})
