import * as fc from "fast-check"
import { expect, test } from "vitest"
import { growthOf, MOST_GROWTH } from "../../../test/growth-of.ts"
import { entry, header, lines, message, olderLog, slots } from "../../../test/older-logs.ts"
import { holds } from "../../../test/property.ts"
import { foldState, initialState, storedState } from "../../context/state.ts"
import type { Entry } from "../../format/entry.ts"
import { storesState } from "../../format/entry-types.ts"
import { EntryLog } from "../../log/entry-log.ts"
import { pathTo } from "../../log/walk.ts"
import { migrateLines } from "./migrate.ts"

const compaction = (id: string, parentId: string) =>
  entry("compaction", id, parentId, { summary: "", tokensBefore: 1, firstKeptEntryId: id })

test("a compaction stores the state of its own path, not of another branch", () => {
  const { records } = migrateLines(
    lines(
      header(3),
      entry("thinking_level_change", "a", null, { thinkingLevel: "low" }),
      entry("thinking_level_change", "b", "a", { thinkingLevel: "high" }),
      compaction("c", "b"),
      entry("model_change", "d", "a", { model: "p/m" }),
      compaction("e", "d"),
    ),
  )
  expect(records[2]).toMatchObject({ state: { thinkingLevel: "high", models: {}, modelIsExplicit: false } })
  expect(records[4]).toMatchObject({
    state: { thinkingLevel: "low", models: { default: { provider: "p", model: "m" } }, modelIsExplicit: true },
  })
})

test("a reset stores the state of its path", () => {
  const { records } = migrateLines(
    lines(
      header(3),
      entry("thinking_level_change", "a", null, { thinkingLevel: "low" }),
      entry("reset_boundary", "b", "a"),
    ),
  )
  expect(records[1]).toMatchObject({ type: "reset_boundary", state: { thinkingLevel: "low", models: {} } })
})

test("the header's model and thinking level apply until an entry or an assistant message changes them", () => {
  const older = header(undefined, { provider: "p", modelId: "m", thinkingLevel: "high" })
  const assistant = { type: "message", message: { role: "assistant", content: [], provider: "q", model: "n" } }
  const compact = { type: "compaction", summary: "", firstKeptEntryIndex: 1, tokensBefore: 1 }
  const { records } = migrateLines(lines(older, { type: "x" }, compact, assistant, compact))
  expect(records[1]).toMatchObject({
    state: { thinkingLevel: "high", models: { default: { provider: "p", model: "m" } } },
  })
  expect(records[3]).toMatchObject({
    state: { thinkingLevel: "high", models: { default: { provider: "q", model: "n" } } },
  })
})

test("every compaction and every reset of a migrated log stores the state of its path", () => {
  holds(
    fc.property(olderLog, (log) => {
      const migrated = migrateLines(lines(...log))
      const held = slots(migrated)
      const tree = EntryLog.of(held)
      for (const [seq, slot] of held.entries()) {
        if (slot === undefined || !storesState(slot.type)) continue
        const path = pathTo(tree, seq).seqs.map((at) => held[at] as Entry)
        expect(storedState(slot)).toEqual(foldState(path, initialState(migrated.header)))
      }
    }),
    300,
  )
})

test("many compactions on one long path, and on many short ones, cost no more than one pass", async () => {
  expect(await growthOf(3_000, compactedLog, migrateAll)).toBeLessThan(MOST_GROWTH)
})

function compactedLog(count: number): string[] {
  const records: Record<string, unknown>[] = [header(3)]
  for (let i = 0; i < count; i++) {
    const parent = i === 0 ? null : `e${i < count / 2 ? i - 1 : i - count / 2}`
    const branch = entry("branch_summary", `e${i}`, `e${i - 1}`, { fromId: `e${i - 1}`, summary: "" })
    const plain = message(`e${i}`, parent, "text", i % 2 === 0 ? "user" : "assistant")
    const compact = { ...compaction(`e${i}`, parent ?? ""), firstKeptEntryId: "e0" }
    records.push(i < count / 2 ? plain : i % 2 === 0 ? branch : compact)
  }
  return lines(...records)
}

function migrateAll(log: readonly string[]): void {
  expect(migrateLines(log).records).toHaveLength(log.length - 1)
}
