import * as fc from "fast-check"
import { expect, test } from "vitest"
import { olderLog, entry, header, lines, message, slots } from "../../../test/older-logs.ts"
import { holds } from "../../../test/property.ts"
import type { Entry } from "../../format/entry.ts"
import { EntryLog } from "../../log/entry-log.ts"
import { pathTo } from "../../log/walk.ts"
import { linkEntries } from "./links.ts"
import { migrateLines } from "./migrate.ts"

const compaction = (id: string, parentId: string, firstKeptEntryId?: unknown) =>
  entry("compaction", id, parentId, { summary: "", tokensBefore: 1, firstKeptEntryId })
const migrate = (...records: Record<string, unknown>[]) => migrateLines(lines(header(3), ...records))

test("a compaction's first kept entry gets its seq beside its id", () => {
  const { records, diagnostics } = migrate(message("a", null), message("b", "a"), compaction("c", "b", "b"))
  expect(records[2]).toMatchObject({ firstKeptEntryId: "b", firstKeptSeq: 2 })
  expect(diagnostics).toEqual([])
})

test.each([
  ["is not in the log", "nowhere"],
  ["is on another branch", "other"],
  ["comes later", "later"],
  ["is missing", undefined],
  ["is no text", 7],
])("a compaction whose first kept entry %s keeps nothing, with a diagnostic", (_, firstKept) => {
  const { records, diagnostics } = migrate(
    message("a", null),
    message("other", "a"),
    message("b", "a"),
    compaction("c", "b", firstKept),
    message("later", "c"),
  )
  expect(records[3]).toMatchObject({ firstKeptEntryId: "c", firstKeptSeq: 4 })
  expect(diagnostics).toMatchObject([{ code: "missing_first_kept", seq: 4, entryId: "c" }])
})

test("a compaction that keeps nothing on purpose states that without a diagnostic", () => {
  const { records, diagnostics } = migrate(
    message("a", null),
    compaction("c", "a", "c"),
    compaction("d", "c", "compaction:keep-nothing"),
  )
  expect(records.slice(1)).toMatchObject([
    { firstKeptEntryId: "c", firstKeptSeq: 2 },
    { firstKeptEntryId: "d", firstKeptSeq: 3 },
  ])
  expect(diagnostics).toEqual([])
})

test("a duplicate id means the nearest entry before the reference", () => {
  const { records } = migrate(message("a", null), message("a", "a"), compaction("c", "a", "a"), message("a", "c"))
  expect(records[2]).toMatchObject({ firstKeptSeq: 2 })
})

test("a compaction behind a lost line still keeps the entries of the bridged path", () => {
  const { records, diagnostics } = migrate(message("a", null), compaction("c", "lost", "a"))
  expect(records[1]).toMatchObject({ firstKeptEntryId: "a", firstKeptSeq: 1 })
  expect(diagnostics).toEqual([])
})

test("a branch summary that names its target gets the last entry of the branch it came from", () => {
  const { records } = migrate(
    message("a", null),
    message("b", "a"),
    message("c", "b"),
    entry("branch_summary", "s", "a", { fromId: "a", summary: "" }),
    entry("branch_summary", "t", "s", { fromId: "s", summary: "" }),
  )
  expect(records[3]).toMatchObject({ fromId: "c" })
  expect(records[4]).toMatchObject({ fromId: "c" })
})

test("a branch summary at the root gets the leaf before it; without another branch it gets root", () => {
  const root = (id: string) => entry("branch_summary", id, null, { fromId: "root", summary: "" })
  expect(migrate(message("a", null), message("b", "a"), root("s")).records[2]).toMatchObject({ fromId: "b" })
  expect(migrate(root("s")).records[0]).toMatchObject({ fromId: "root" })
  const chain = entry("branch_summary", "s", "a", { fromId: "a", summary: "" })
  expect(migrate(message("a", null), chain).records[1]).toMatchObject({ fromId: "root" })
})

test("a branch summary that names its abandoned leaf is left as it is", () => {
  const { records } = migrate(
    message("a", null),
    message("b", "a"),
    message("c", "b"),
    entry("branch_summary", "s", "a", { fromId: "b", summary: "" }),
    entry("branch_summary", "t", "a", { fromId: "root", summary: "" }),
  )
  expect(records[3]).toMatchObject({ fromId: "b" })
  expect(records[4]).toMatchObject({ fromId: "root" })
})

test("isAncestor and lastOutside agree with the walk to the root, in every tree", () => {
  holds(
    fc.property(olderLog, (log) => {
      const held = slots(migrateLines(lines(...log)))
      const tree = EntryLog.of(held)
      const links = linkEntries(tree)
      for (const [seq, slot] of held.entries()) {
        if (slot === undefined) continue
        const path = new Set(pathTo(tree, seq).seqs)
        const before = held.flatMap((other, at) => (other !== undefined && at < seq ? [at] : []))
        for (const at of before) expect(links.isAncestor(at, seq)).toBe(path.has(at))
        expect(links.lastOutside[seq]).toBe(before.findLast((at) => !path.has(at)) ?? -1)
        expect(links.isAncestor(seq, seq)).toBe(false)
      }
    }),
  )
})

test("every first kept entry of a migrated log is on its compaction's path, at its stored seq", () => {
  holds(
    fc.property(olderLog, (log) => {
      const held = slots(migrateLines(lines(...log)))
      const tree = EntryLog.of(held)
      for (const [seq, slot] of held.entries()) {
        if (slot?.type !== "compaction") continue
        const kept = slot["firstKeptSeq"] as number
        expect((held[kept] as Entry).id).toBe(slot["firstKeptEntryId"])
        expect(pathTo(tree, seq).seqs).toContain(kept)
      }
    }),
  )
})
