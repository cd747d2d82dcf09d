import * as fc from "fast-check"
import { expect, test } from "vitest"
import {
  brokenLaws,
  history,
  type History,
  mergeBy,
  merging,
  type ModelEntry,
  type ModelMerge,
  sideOf,
  walk,
  write,
} from "../../../test/merge-model.ts"
import { holds } from "../../../test/property.ts"
import { type MergePlan, planMerge } from "./plan.ts"

const message = (id: string, parentId: string | null, time: number): ModelEntry => ({
  id,
  type: "message",
  parentId,
  timestamp: new Date(time).toISOString(),
  seq: 1,
})
const plan = (here: readonly ModelEntry[], there: readonly ModelEntry[]) =>
  planMerge(sideOf([...here]), sideOf([...there]))

test("storages merged in a ring or a star get the same entries and the same leaf in at most four rounds, wherever a merge is killed", () => {
  holds(
    fc.property(history, (h) => {
      expect(brokenLaws(h, merging)).toEqual([])
    }),
    1_000,
  )
})

/** Gives each side what it lacks, and leaves the ends as they come. */
const plainUnion = mergeBy((here, there) => ({ ...(planMerge(here, there) as MergePlan), leafAt: undefined }))

/** Brings each side back to its own leaf. */
const eachStays: ModelMerge = (here, there, newId, writes) => {
  const { toThere, toHere } = planMerge(sideOf(here), sideOf(there)) as MergePlan
  const back = (log: ModelEntry[], missing: readonly ModelEntry[]): ModelEntry[] => {
    const leaf = walk(log)
    if (walk([...log, ...missing]) === leaf) return [...missing]
    return [...missing, { id: newId(), type: "leaf", parentId: leaf, timestamp: "2026-01-31T00:00:00.000Z", seq: 0 }]
  }
  return write(
    [
      [there, back(there, toThere)],
      [here, back(here, toHere)],
    ],
    writes,
  )
}

test.each([
  ["a plain union", plainUnion],
  ["a merge after which each side stays on its own path", eachStays],
] as const)("the laws find %s", (_, merge) => {
  const found = fc.check(
    fc.property(history, (h: History) => brokenLaws(h, merge).length === 0),
    { seed: 1, numRuns: 500 },
  )
  expect(found.failed).toBe(true)
})

test("the side that alone gave more than annotations keeps its leaf, however old it is", () => {
  const common = [message("a", null, 1), message("c", "a", 9)]
  const older = [...common, message("b", "a", 2)]
  const title: ModelEntry = { ...message("t", "c", 99), type: "title_change" }
  expect(plan(older, [...common, title])).toMatchObject({ leaf: "b" })
  expect(plan([...common, title], older)).toMatchObject({ leaf: "b" })
})

test("if both gave more than annotations and one leaf is an ancestor of the other, the descendant is agreed, however old it is", () => {
  const [a, b] = [message("a", null, 1), message("b", "a", 9)]
  const one = [a, message("x", "a", 1), b]
  const other = [a, b, message("d", "b", 2)]
  expect(plan(one, other)).toMatchObject({ leaf: "d" })
  expect(plan(other, one)).toMatchObject({ leaf: "d" })
})

test("of two leaves on different branches the greater by time, then id, is agreed, and both logs end there", () => {
  const root = message("a", null, 1)
  for (const [one, other, leaf] of [
    [message("b", "a", 2), message("c", "a", 3), "c"],
    [message("b", "a", 3), message("c", "a", 2), "b"],
    [message("b", "a", 2), message("c", "a", 2), "c"],
  ] as const) {
    expect(plan([root, one], [root, other])).toMatchObject({ leaf, leafAt: expect.any(String) })
    expect(plan([root, other], [root, one])).toMatchObject({ leaf, leafAt: expect.any(String) })
  }
})

test("logs with the same entries that end at different leaves get one leaf, so an interrupted merge is finished", () => {
  const [root, b, c] = [message("a", null, 1), message("b", "a", 2), message("c", "a", 3)]
  expect(plan([root, b, c], [root, c, b])).toMatchObject({ toHere: [], toThere: [], leaf: "c", leafAt: c.timestamp })
  expect(plan([root, b, c], [root, b, c])).toMatchObject({ leaf: "c", leafAt: undefined })
})

test("an entry whose parent would not be before it in the other log is named", () => {
  const lost = message("b", "gone", 2)
  expect(plan([message("a", null, 1), lost], [message("a", null, 1)])).toEqual({ from: "here", entry: lost })
  expect(plan([message("a", null, 1)], [message("a", null, 1), lost])).toEqual({ from: "there", entry: lost })
})

test("a leaf whose timestamp is missing, or is no text, is agreed as well", () => {
  const root = message("a", null, 1)
  for (const timestamp of [undefined, null, 7]) {
    const one = message("b", "a", 0)
    const other: ModelEntry = Object.assign(message("c", "a", 0), { timestamp })
    expect(plan([root, one], [root, other])).toMatchObject({ leaf: "c", leafAt: "1970-01-01T00:00:00.000Z" })
    expect(plan([root, other], [root, one])).toMatchObject({ leaf: "c", leafAt: "1970-01-01T00:00:00.000Z" })
  }
})
