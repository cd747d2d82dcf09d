import * as fc from "fast-check"
import { expect, test } from "vitest"
import { chain, user } from "../../test/chain.ts"
import { anyLog, slotsOf } from "../../test/logs.ts"
import { holds } from "../../test/property.ts"
import { trueTips } from "../../test/tips-oracle.ts"
import { EntryLog } from "./entry-log.ts"
import { openTips, projectTips, TIP_LIMITS } from "./projected-tips.ts"
import { tipsOfLog, wholeTips } from "./tips-of-log.ts"

const at = (parentId: string | null) => ({ parentId })

test("the tips of a log are those of its definition, however damaged it is", () => {
  holds(
    fc.property(anyLog, fc.nat({ max: 40 }), (lines, settled) => {
      const slots = slotsOf(lines)
      const truth = trueTips(slots, settled)
      const found = wholeTips(EntryLog.of(slots), settled)
      expect(found.map(({ seq }) => seq)).toEqual(truth.tips)
      const isSettled = (seq: number): boolean => truth.settled.has(seq)
      expect(found.map((tip) => tip.settled)).toEqual(truth.tips.map(isSettled))
      const current = truth.tips.find((seq) => seq === truth.current && !isSettled(seq)) ?? null
      expect(tipsOfLog(EntryLog.of(slots), settled).current).toBe(current)
    }),
    200,
  )
})

test("they can be continued line by line", () => {
  holds(
    fc.property(anyLog, fc.nat({ max: 99 }), (lines, percent) => {
      const slots = slotsOf(lines)
      const from = Math.ceil((slots.length * percent) / 100)
      const start = tipsOfLog(EntryLog.of(slots.slice(0, from)), 0)
      const parents = slots.slice(0, from).map((slot) => slot?.id)
      const tips = slots.slice(from).reduce(
        (next, slot, index) => {
          // A parent that no line has cannot be told from an inner entry.
          const isMissing = slot !== undefined && slot.parentId !== null && !parents.includes(slot.parentId)
          parents.push(slot?.id)
          return isMissing ? undefined : projectTips(next, slot, from + index, 0)
        },
        start as ReturnType<typeof projectTips>,
      )
      if (tips === undefined || tips.more !== undefined) return
      const expected = trueTips(slots, 0).open.toReversed()
      expect(openTips(tips).tips.map(({ seq }) => seq)).toEqual(expected)
    }),
    200,
  )
})

test("the tips of the end of a log are those after its first held line", () => {
  const log = chain(user("a"), user("b"), user("c", at("e1")), user("d", at("e2")), user("e", at("e1")))
  const held = EntryLog.of(log.slice(4), 4)
  expect(openTips(tipsOfLog(held, 0)).tips.map(({ id }) => id)).toEqual(["e4"])
  expect(openTips(tipsOfLog(EntryLog.of(log), 0)).tips.map(({ id }) => id)).toEqual(["e4", "e3"])
})

test("they keep the newest annotations of each tip, and a damaged line that is near", () => {
  const label = { type: "label", targetId: "e1", label: "x" }
  const limits = { ...TIP_LIMITS, near: 2 }
  const annotated = chain(user("a"), label, label, label, undefined)
  expect(tipsOfLog(EntryLog.of(annotated), 0, limits)).toEqual({
    tips: [{ seq: 1, id: "e1", near: ["e1", "e3", "e4"] }],
    current: 1,
    doubt: 5 + limits.bridge + 1,
  })
  const further = Array.from({ length: 101 }, () => user("b"))
  expect(tipsOfLog(EntryLog.of(chain(undefined, ...further)), 0).doubt).toBeUndefined()
  expect(tipsOfLog(EntryLog.of(annotated.slice(0, 5)), 0, limits).doubt).toBe(2)
})
