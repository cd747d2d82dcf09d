import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { chain, compaction, user } from "../../test/chain.ts"
import { anyLog, headerOf, slotsOf, validLog } from "../../test/logs.ts"
import { holds } from "../../test/property.ts"
import { expectContext } from "../../test/replay.ts"
import { EntryLog, type EntrySlot } from "../log/entry-log.ts"
import { selectContext, type Selection } from "./select.ts"
import type { NeedsOlder } from "../log/path.ts"

/** The part of a selection that does not depend on how much of the log was in memory. */
function essence(selection: Selection | NeedsOlder) {
  if ("older" in selection) return "older"
  const shown = selection.entries.filter(({ seq, entry }) => SHOWN.has(entry.type) || seq === selection.compaction)
  const edits = shown.flatMap(({ seq, edit }) => (edit === undefined ? [] : [[seq, edit.id]]))
  return { selected: shown.map(({ seq }) => seq), edits, state: selection.state }
}

function expected(slots: readonly EntrySlot[], leaf: number | null, header: Readonly<Record<string, unknown>>) {
  const { selected, edits, state } = expectContext(slots, leaf, header)
  const inOrder = selected.flatMap((seq) => {
    const edit = edits.get(seq)
    return edit === undefined ? [] : [[seq, slots[edit]?.id]]
  })
  return { selected, edits: inOrder, state }
}

/** Every end of the log that includes the leaf, except the whole log. */
function endsWith(slots: readonly EntrySlot[], leaf: number | null): EntryLog[] {
  const ends = slots.flatMap((_, from) =>
    from > 0 && from <= (leaf ?? from) ? [EntryLog.of(slots.slice(from), from)] : [],
  )
  return [...ends, new EntryLog(slots.length)].filter((end) => leaf === null || end.find(idOf(slots, leaf)) === leaf)
}

function idOf(slots: readonly EntrySlot[], seq: number): string {
  return slots[seq]?.id ?? ""
}

const SHOWN: ReadonlySet<string> = new Set(["message", "custom_message", "branch_summary"])

/** Entries of the log that can be a leaf: the last of each id, since a leaf is named by its id. */
function leavesOf(slots: readonly EntrySlot[]): (number | null)[] {
  const last = new Map(slots.flatMap((slot, seq) => (slot === undefined ? [] : [[slot.id, seq] as const])))
  return [...last.values(), null]
}

describe("the context of every leaf", () => {
  test("is the one that the reference implementation gives", () => {
    holds(
      fc.property(anyLog, (lines) => {
        const slots = slotsOf(lines)
        const header = headerOf(lines)
        const log = EntryLog.of(slots)
        for (const leaf of leavesOf(slots)) {
          expect(essence(selectContext(log, leaf, header))).toEqual(expected(slots, leaf, header))
        }
      }),
      150,
    )
  })

  test("is the same from every end of the log that includes it, or that end requests older lines", () => {
    holds(
      fc.property(anyLog, fc.nat(), (lines, n) => {
        const slots = slotsOf(lines)
        const header = headerOf(lines)
        const leaves = leavesOf(slots)
        for (const leaf of [
          leaves[0] as number | null,
          leaves[n % leaves.length] as number | null,
          leaves.at(-2) ?? null,
        ]) {
          const whole = essence(selectContext(EntryLog.of(slots), leaf, header))
          const answers = endsWith(slots, leaf).map((end) => essence(selectContext(end, leaf, header)))
          expect(answers.filter((answer) => answer !== "older")).toEqual(
            answers.flatMap((answer) => (answer === "older" ? [] : [whole])),
          )
        }
      }),
      150,
    )
  })

  test("is found in the end of the log that starts at the first kept entry of a session's compaction", () => {
    let short = 0
    holds(
      fc.property(validLog, (lines) => {
        const slots = slotsOf(lines)
        const leaf = slots.length - 1
        const { selected } = expectContext(slots, leaf < 1 ? null : leaf)
        const compaction = slots[selected[0] ?? 0]
        if (compaction?.type !== "compaction" || compaction["state"] === undefined) return
        const from = Math.min(...selected)
        const part = selectContext(EntryLog.of(slots.slice(from), from), leaf)
        short += "older" in part ? 0 : 1
      }),
      150,
    )
    expect(short).toBeGreaterThan(20)
  })
})

describe("a selection that needs older lines", () => {
  const from = (seq: number, ...payloads: readonly object[]) => {
    const slots = chain(user("a"), user("b"), ...(payloads as Record<string, unknown>[]))
    return selectContext(EntryLog.of(slots.slice(seq), seq), slots.length - 1)
  }

  test("has the position of a leaf entry's parent as hint", () => {
    expect(from(3, { type: "leaf", parentId: "e1", targetSeq: 1 })).toEqual({ older: true, hint: 1 })
  })

  test("has the position of a compaction's first kept entry as hint", () => {
    expect(from(3, compaction("e1", { firstKeptSeq: 1 }))).toEqual({ older: true, hint: 1 })
  })

  test("has no hint from an entry that only refers to another one", () => {
    const named = { targetId: "e1", targetSeq: 1 }
    for (const type of ["label", "tombstone", "context_edit", "x_future"]) {
      expect(from(3, { type, ...named })).toEqual({ older: true })
    }
  })

  test("ignores a hint that is not a valid seq", () => {
    for (const hint of [-1, 1.5, "1", null, 2 ** 60]) {
      expect(from(3, { type: "leaf", parentId: "e1", targetSeq: hint })).toEqual({ older: true })
      expect(from(3, compaction("e1", { firstKeptSeq: hint }))).toEqual({ older: true })
    }
  })
})
