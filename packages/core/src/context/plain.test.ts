import * as fc from "fast-check"
import { expect, test } from "vitest"
import { anyLog, headerOf, slotsOf } from "../../test/logs.ts"
import { holds } from "../../test/property.ts"
import type { Entry } from "../format/entry.ts"
import { EntryLog } from "../log/entry-log.ts"
import { toModelMessages } from "./model-messages.ts"
import { plainMessages } from "./plain.ts"
import { renderMessages } from "./render.ts"
import { repairMessages } from "./repair.ts"
import { selectContext } from "./select.ts"
import type { RepairMode, SelectedEntry } from "./types.ts"

const MODES: readonly RepairMode[] = ["synthesize", "drop", "none"]
const STYLES = [undefined, "user", "pair"] as const

/** Renders, converts and repairs the entries. */
function fully(entries: readonly SelectedEntry[], repair: RepairMode, style: "user" | "pair" | undefined) {
  return repairMessages(toModelMessages(renderMessages(entries).messages, style).messages, repair).messages
}

test("the fast path gives exactly what rendering, converting and repairing give", () => {
  let plainly = 0
  holds(
    fc.property(anyLog, fc.nat(), fc.constantFrom(...MODES), fc.constantFrom(...STYLES), (lines, n, repair, style) => {
      const slots = slotsOf(lines)
      const places = slots.flatMap((slot, seq) => (slot === undefined ? [] : [seq]))
      const leaf = places[n % Math.max(1, places.length)]
      if (leaf === undefined) return
      const selection = selectContext(EntryLog.of(slots), leaf, headerOf(lines))
      if ("older" in selection) throw new Error("A log that is held whole needs nothing older.")
      const plain = plainMessages(selection.entries, repair, style)
      if (plain === undefined) return
      plainly++
      expect(plain).toEqual(fully(selection.entries, repair, style))
    }),
    200,
  )
  expect(plainly).toBeGreaterThan(10)
})

test("a compaction and messages after it take the fast path in either style; without a readable summary they do not", () => {
  const entry = (fields: object): Entry => ({ id: "c", parentId: null, timestamp: "", ...fields }) as unknown as Entry
  const said = entry({ type: "message", message: { role: "user", content: [{ type: "text", text: "and?" }] } })
  for (const summaryAs of [undefined, "user", "pair", "nonsense"]) {
    const compaction = entry({ type: "compaction", summary: "so far </summary> it went", summaryAs })
    const entries = [compaction, said].map((one, seq) => ({ seq, entry: one }))
    for (const style of STYLES) {
      const plain = plainMessages(entries, "synthesize", style)
      expect(plain).toEqual(fully(entries, "synthesize", style))
      expect(plain).toHaveLength((style ?? summaryAs) === "pair" ? 3 : 2)
    }
  }
  for (const wrong of [{ summary: 7 }, { summary: `blob:sha256:${"0".repeat(64)}`, blobs: { "/summary": "utf8" } }]) {
    expect(plainMessages([{ seq: 1, entry: entry({ type: "compaction", ...wrong }) }], "synthesize")).toBeUndefined()
  }
})
