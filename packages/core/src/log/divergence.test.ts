import * as fc from "fast-check"
import { describe, expect, test } from "vitest"
import { assistant, chain, role, user } from "../../test/chain.ts"
import { anyLog, slotsOf } from "../../test/logs.ts"
import { holds } from "../../test/property.ts"
import { divergenceOf } from "./divergence.ts"
import { EntryLog, type EntrySlot } from "./entry-log.ts"

function tips(slots: readonly EntrySlot[], imported = 0) {
  const found = divergenceOf(EntryLog.of(slots), imported)
  return typeof found === "object" ? [found.leaf, found.otherLeaf] : found
}

const at = (parentId: string | null) => ({ parentId })

describe("a log", () => {
  test("diverged if two turns have the same parent or interleave; both tips are named", () => {
    expect(tips(chain(user("a"), user("b"), user("c", at("e1")), assistant("d")))).toEqual(["e4", "e2"])
    const interleaved = chain(user("a"), user("b"), user("c", at("e1")), { ...assistant("d"), ...at("e2") })
    expect(tips(interleaved)).toEqual(["e4", "e3"])
  })

  test("did not diverge with one line of conversation, or without any", () => {
    expect(tips(chain(user("a"), assistant("b"), role("notice")))).toBeUndefined()
    expect(tips(chain())).toBeUndefined()
  })

  test("did not diverge if the path records that it left the other branch", () => {
    const leaf = { type: "leaf", ...at("e1") }
    const summary = { type: "branch_summary", fromId: "e2", summary: "s", ...at("e1") }
    expect(tips(chain(user("a"), user("b"), leaf, user("c")))).toBeUndefined()
    expect(tips(chain(user("a"), user("b"), summary, user("c")))).toBeUndefined()
    expect(tips(chain(user("a"), user("b"), { type: "leaf", ...at(null) }))).toBeUndefined()
  })

  test("diverged if another turn came after that record", () => {
    const log = chain(user("a"), user("b"), { type: "leaf", ...at("e1") }, user("c", at("e2")), user("d", at("e3")))
    expect(tips(log)).toEqual(["e5", "e4"])
  })

  test("did not diverge by annotations", () => {
    const label = { type: "label", targetId: "e1", label: "x" }
    expect(tips(chain(user("a"), label, user("b", at("e1")), assistant("c")))).toBeUndefined()
  })

  test("did not diverge by imported entries", () => {
    const log = chain(user("a"), user("b"), user("c", at("e1")))
    expect(tips(log, 4)).toBeUndefined()
    expect(tips(log, 2)).toEqual(["e3", "e2"])
  })
})

describe("an end of the log", () => {
  test("gives no answer on a turn beside a longer path until the turn's beginning is in memory", () => {
    const writers = chain(user("a"), user("b"), user("c"), user("d", at("e1")))
    const bridged = chain(user("a"), user("b"), user("c", at("lost")))
    expect(divergenceOf(EntryLog.of(writers.slice(3), 3), 0)).toBe("older")
    expect(divergenceOf(EntryLog.of(bridged.slice(2), 2), 0)).toBe("older")
    expect(tips(writers)).toEqual(["e4", "e3"])
    expect(tips(bridged)).toBeUndefined()
  })

  test("gives the answer of the whole log, as far as it reaches", () => {
    holds(
      fc.property(anyLog, (lines) => {
        const slots = slotsOf(lines)
        const whole = divergenceOf(EntryLog.of(slots), 0)
        const ends = slots.map((_, from) => divergenceOf(EntryLog.of(slots.slice(from), from), 0))
        const said = ends.filter((end) => end !== "older" && end !== undefined)
        expect(said).toEqual(said.map(() => whole))
        const other = typeof whole === "object" ? (whole.seq ?? 0) : slots.length
        expect(ends.slice(0, other + 1).includes(undefined)).toBe(whole === undefined)
      }),
      300,
    )
  })
})
