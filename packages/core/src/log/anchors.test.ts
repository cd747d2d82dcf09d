import * as fc from "fast-check"
import { expect, test } from "vitest"
import { growthOf, MOST_GROWTH } from "../../test/growth-of.ts"
import { holds } from "../../test/property.ts"
import type { Entry } from "../format/entry.ts"
import type { Seq } from "../storage/contract.ts"
import { anchorOf, anchorsIn, isContinued } from "./anchors.ts"
import { EntryLog, type EntrySlot } from "./entry-log.ts"
import { OLDER, parentOf } from "./path.ts"
import { isContent } from "./tips.ts"

const entry = fc.record({
  id: fc.constantFrom("a", "b", "c", "d", "e", "f", "g"),
  parentId: fc.constantFrom(null, "a", "b", "c", "d", "e", "f", "g", "unheld"),
  type: fc.constantFrom("message", "message", "label", "leaf"),
})
/** Undefined is a line that is not an entry. */
const lines = fc.array(fc.option(entry, { nil: undefined, freq: 9 }), { maxLength: 4 })
const steps = fc.array(fc.tuple(fc.constantFrom("push", "push", "prepend", "truncate", "ask"), lines), {
  maxLength: 12,
})

test("anchors, and what is continued, are those of a walk through the log, whatever came and went before", () => {
  holds(
    fc.property(steps, (script) => {
      const log = new EntryLog(30)
      for (const [kind, slots] of [...script, ["ask", []] as const]) {
        if (kind === "push") for (const slot of slots) log.push(slot as EntrySlot)
        else if (kind === "prepend") log.prepend(slots as readonly EntrySlot[])
        else if (kind === "truncate") log.truncate(log.end - slots.length)
        else expect(foundIn(log)).toEqual(walkedIn(log))
      }
    }),
    1_000,
  )
})

/** Of each entry: its anchor, that if the tip before the held lines is kept, and whether content continues it. */
function foundIn(log: EntryLog): readonly unknown[] {
  const tips = { tips: [{ seq: 3, id: "unheld", near: ["unheld"] }], current: 3 }
  return entriesIn(log).map((seq) => {
    const anchor = anchorOf(log, undefined, seq)
    return [anchor, anchorOf(log, tips, seq), anchor === seq && isContinued(log, seq)]
  })
}

function walkedIn(log: EntryLog): readonly unknown[] {
  return entriesIn(log).map((seq) => {
    const anchor = walkedAnchor(log, seq)
    const held = typeof anchor === "number" ? anchor : null
    return [held, anchor === "unheld" ? 3 : held, anchor === seq && isWalkedTo(log, seq)]
  })
}

function entriesIn(log: EntryLog): readonly Seq[] {
  return Array.from({ length: log.end - log.from }, (_, n) => log.from + n).filter((seq) => log.at(seq) !== undefined)
}

/** Seq of the anchor, or the id of the parent that is not held. */
function walkedAnchor(log: EntryLog, seq: Seq): Seq | string | null {
  const { type, parentId } = log.at(seq) as Entry
  if (isContent(type)) return seq
  const parent = parentOf(log, seq)
  return parent === OLDER ? (parentId === "unheld" ? parentId : null) : parent < 0 ? null : walkedAnchor(log, parent)
}

function isWalkedTo(log: EntryLog, seq: Seq): boolean {
  const isAnchoredAt = (at: Seq): boolean => walkedAnchor(log, at) === seq
  for (let at = seq + 1; at < log.end; at++) {
    const parent = parentOf(log, at)
    if (isContent(log.at(at)?.type ?? "label") && parent >= 0 && isAnchoredAt(parent)) return true
  }
  return false
}

test("an anchor behind many annotations, and a tip before them, are found again without a walk", async () => {
  const find = (count: number): void => {
    const log = new EntryLog()
    log.push(undefined)
    log.push({ type: "message", id: "e1", parentId: null } as unknown as Entry)
    let right = 0
    for (let n = 2; n < count; n++) {
      log.push({ type: "label", id: `e${n}`, parentId: `e${n - 1}` } as unknown as Entry)
      if (anchorOf(log, undefined, n) === 1 && !isContinued(log, 1)) right++
    }
    expect(right).toBe(count - 2)
    expect(anchorsIn(log)).toHaveLength(count)
  }
  const same = (count: number): number => count
  // Four times as many take sixteen times as long if each is looked for from the start.
  expect(await growthOf(1_000, same, find)).toBeLessThan(MOST_GROWTH)
})
