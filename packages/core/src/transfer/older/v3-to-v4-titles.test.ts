import { expect, test } from "vitest"
import { AT, entry, header, lines, message } from "../../../test/older-logs.ts"
import { ulidAt } from "../../format/computed-ids.ts"
import type { Entry } from "../../format/entry.ts"
import { migrateLines } from "./migrate.ts"

const slot = { type: "title", v: 1, title: "Slot", source: "auto", updatedAt: "2025-06-01T00:00:00.000Z", pad: "    " }
const ids = (log: { records: readonly object[] }) => log.records.map((record) => (record as Entry).id)

test("the title slot becomes the last entry, under the leaf, with its source and time", () => {
  const { records } = migrateLines(lines(slot, header(3), message("a", null), message("b", "a")))
  expect(records[2]).toEqual({
    type: "title_change",
    id: ulidAt(Date.parse(slot.updatedAt), 3),
    parentId: "b",
    seq: 3,
    timestamp: slot.updatedAt,
    updatedAt: slot.updatedAt,
    title: "Slot",
    source: "auto",
  })
})

test("a slot without a source was set by the user, and keeps unknown fields", () => {
  const { source: _, ...bare } = slot
  const { records } = migrateLines(lines({ ...bare, x_unknown: [1] }, header(3), message("a", null)))
  expect(records[1]).toMatchObject({ source: "user", x_unknown: [1] })
  expect(records[1]).not.toHaveProperty("pad")
})

test("an empty slot clears the title", () => {
  const { records } = migrateLines(lines({ ...slot, title: "" }, header(3), message("a", null)))
  expect(records[1]).toMatchObject({ title: null })
})

test("a header's title becomes the last entry, with the header's titleSource or the user as its source", () => {
  const titled = migrateLines(lines(header(3, { title: "H" }), message("a", null)))
  expect(titled.records[1]).toEqual({
    type: "title_change",
    id: ulidAt(Date.parse(AT), 2),
    parentId: "a",
    seq: 2,
    timestamp: AT,
    title: "H",
    source: "user",
  })
  const auto = migrateLines(lines(header(3, { title: "H", titleSource: "auto" })))
  expect(auto.records).toMatchObject([{ title: "H", source: "auto", parentId: null, seq: 1 }])
})

test("an empty header title makes no entry", () => {
  expect(migrateLines(lines(header(3, { title: "" }))).records).toEqual([])
})

test("the slot wins over the header's title, which then makes no entry", () => {
  const { records } = migrateLines(lines(slot, header(3, { title: "H" }), message("a", null)))
  expect(records).toMatchObject([{ id: "a" }, { title: "Slot" }])
})

test("an entry that sets the title is newer than the header's title", () => {
  const log = lines(header(3, { title: "H" }), entry("session_info", "a", null, { name: "N" }))
  expect(ids(migrateLines(log))).toEqual(["a"])
})

test("a line that is not an entry is never the title's parent", () => {
  const { records } = migrateLines(lines(slot, header(3), message("a", null), "torn"))
  expect(records).toMatchObject([{ id: "a" }, { raw: "torn" }, { parentId: "a", seq: 3 }])
})

test("the slot is not counted by firstKeptEntryIndex", () => {
  const said = { type: "message", timestamp: AT, message: { role: "user", content: "hi" } }
  const compaction = { type: "compaction", timestamp: AT, summary: "", firstKeptEntryIndex: 2, tokensBefore: 1 }
  const { records } = migrateLines(lines(slot, header(undefined), said, said, compaction))
  expect(records[2]).toMatchObject({ firstKeptEntryId: (records[1] as Entry).id, firstKeptSeq: 2 })
})

test("a second slot is an ordinary line and is kept", () => {
  const log = lines(slot, slot, header(3), message("a", null), slot)
  const raw = { raw: JSON.stringify(slot) }
  expect(migrateLines(log).records).toMatchObject([raw, { id: "a" }, raw, { title: "Slot" }])
})
