import { expect, test } from "vitest"
import { chain, user } from "../../test/chain.ts"
import { EntryLog, type EntrySlot } from "./entry-log.ts"
import { settlesOf, type Leaving } from "./settles.ts"
import { tipsOfLog } from "./tips-of-log.ts"

const at = (parentId: string | null) => ({ parentId })
const label = { type: "label", targetId: "e1", label: "x" }

const tip = (seq: number) => ({ seq, id: `e${seq}` })

function settles(slots: readonly EntrySlot[], leaving: Partial<Leaving>, from = 0): readonly string[] {
  const tips = tipsOfLog(EntryLog.of(slots), 0)
  const o = { leaf: null, target: null, reported: [], named: [], ...leaving }
  return settlesOf(EntryLog.of(slots.slice(from), from), tips, o)
}

/** e1, with the tips e2, e3 and e4. */
const three = chain(user("a"), user("b"), user("c", at("e1")), user("d", at("e1")))

test("a leaf settles the tip that its writer leaves", () => {
  expect(settles(three, { leaf: 4, target: 1 })).toEqual(["e4"])
  expect(settles(three, { leaf: 4, target: null })).toEqual(["e4"])
  expect(settles(three, { leaf: null, target: 1 })).toEqual([])
})

test("a leaf whose writer is on an inner entry, which another writer continued, settles nothing", () => {
  expect(settles(chain(user("a"), user("b"), user("c")), { leaf: 2, target: 1 })).toEqual([])
})

test("a leaf at a tip settles the others that were reported, one at an inner entry none of them", () => {
  const reported = [tip(3), tip(2)]
  expect(settles(three, { leaf: 4, target: 2, reported })).toEqual(["e4", "e3"])
  expect(settles(three, { leaf: 4, target: 4, reported })).toEqual(["e3", "e2"])
  expect(settles(three, { leaf: 4, target: 1, reported })).toEqual(["e4"])
  expect(settles(three, { leaf: 4, target: null, reported })).toEqual(["e4"])
})

test("a leaf does not settle a reported tip that was continued since", () => {
  const continued = chain(user("a"), user("b"), user("c", at("e1")), user("d", at("e2")))
  expect(settles(continued, { leaf: 3, target: 4, reported: [tip(2)] })).toEqual(["e3"])
})

test("a leaf settles a reported tip if it is not known whether it is open", () => {
  const o = { leaf: 4, target: 4, reported: [tip(2), tip(1)], named: [] }
  expect(settlesOf(EntryLog.of(three), undefined, o)).toEqual(["e2"])
  expect(settlesOf(EntryLog.of(three), { tips: [], current: null, more: 3 }, o)).toEqual(["e2"])
  expect(settlesOf(EntryLog.of(three.slice(4), 4), undefined, o)).toEqual(["e2", "e1"])
})

test("a leaf settles what its caller names, but never its target", () => {
  expect(settles(three, { leaf: 4, target: 1, named: ["e2"] })).toEqual(["e4", "e2"])
  expect(settles(three, { leaf: 4, target: 2, named: ["e2", "e4"] })).toEqual(["e4"])
  expect(settles(three, { leaf: 4, target: 4, named: ["e4"] })).toEqual([])
})

test("a tip is found through the annotations after it, and in the kept tips if it is not held", () => {
  const annotated = chain(user("a"), user("b"), label, label, user("c", at("e1")))
  expect(settles(annotated, { leaf: 4, target: 5, reported: [tip(2)] })).toEqual(["e2"])
  expect(settles(annotated, { leaf: 4, target: 5 }, 4)).toEqual(["e2"])
  expect(settles(annotated, { leaf: 5, target: 4, reported: [tip(2), tip(5)] }, 4)).toEqual(["e5"])
  const held = EntryLog.of(annotated.slice(4), 4)
  expect(settlesOf(held, undefined, { leaf: 4, target: 5, reported: [], named: [] })).toEqual([])
})

test("a tip whose id another entry repeats is settled only if it was reported or is named", () => {
  const repeated = chain(user("a"), user("b"), { ...user("c"), id: "e2", parentId: "e1" })
  expect(settles(repeated, { leaf: 2, target: 1 })).toEqual([])
  expect(settles(repeated, { leaf: 2, target: 1, named: ["e2"] })).toEqual(["e2"])
})
