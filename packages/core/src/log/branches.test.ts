import * as fc from "fast-check"
import { expect, test } from "vitest"
import { chain, tombstone, user } from "../../test/chain.ts"
import { anyLog, slotsOf } from "../../test/logs.ts"
import { holds } from "../../test/property.ts"
import { ancestorsOf, trueTips } from "../../test/tips-oracle.ts"
import { type Branch, branchesOf } from "./branches.ts"
import { EntryLog } from "./entry-log.ts"

const at = (parentId: string | null) => ({ parentId })

/** With the log's last entry as the leaf. */
const branches = (log: EntryLog, settled = 0): readonly Branch[] =>
  branchesOf(log, settled, log.entryBefore(log.end) ?? null)

test("the branches of a log are its tips, newest first, with the place where each leaves the current path", () => {
  const left = { type: "leaf", parentId: "e2", settles: ["e5"] }
  const log = chain(
    user("a"),
    user("b"),
    user("c"),
    user("d"),
    user("e", at("e2")),
    left,
    user("f"),
    user("g", at(null)),
  )
  const timestamp = "2026-01-31T09:30:00.000Z"
  const more = { timestamp, settled: false, current: false }
  const whole = EntryLog.of([...log, ...chain(tombstone("e4", { id: "t", parentId: "e7" })).slice(1)])
  expect(branches(whole)).toEqual([
    { ...more, id: "e8", seq: 8, fork: null, messages: 1 },
    { ...more, id: "e7", seq: 7, fork: "e7", messages: 0, current: true },
    { ...more, id: "e5", seq: 5, fork: "e2", messages: 1, settled: true },
    { ...more, id: "e4", seq: 4, fork: "e2", messages: 1 },
  ])
})

test("the current path is that of the session's leaf, and no branch is current if the leaf is an earlier message", () => {
  const log = EntryLog.of(chain(user("a"), user("b"), user("c", at("e1")), user("d"), { type: "leaf", parentId: "e2" }))
  const of = (leaf: number | null): unknown[] =>
    branchesOf(log, 0, leaf).map(({ id, fork, messages, current }) => [id, fork, messages, current])
  expect(of(5)).toEqual([
    ["e4", "e1", 2, false],
    ["e2", "e2", 0, true],
  ])
  expect(of(3)).toEqual([
    ["e4", "e3", 1, false],
    ["e2", "e1", 1, false],
  ])
  expect(of(null)).toEqual([
    ["e4", null, 3, false],
    ["e2", null, 2, false],
  ])
})

test("the branches of an import that is not complete count as settled, like at its end", () => {
  const log = EntryLog.of(chain(user("a"), user("b"), user("c", at("e1"))))
  expect(branches(log, 5).map(({ id, settled }) => [id, settled])).toEqual([
    ["e3", true],
    ["e2", true],
  ])
})

test("a log without content has none", () => {
  expect(branches(EntryLog.of(chain()))).toEqual([])
  expect(branches(EntryLog.of(chain({ type: "label", targetId: "e1" })))).toEqual([])
})

test("fork and messages are those of the path from each tip, however damaged the log is", () => {
  holds(
    fc.property(anyLog, (lines) => {
      const slots = slotsOf(lines)
      const log = EntryLog.of(slots)
      const truth = trueTips(slots, 0)
      const last = slots.findLastIndex((slot) => slot !== undefined)
      const current = ancestorsOf(truth, [last < 0 ? null : last])
      const expected = truth.tips.toReversed().map((seq) => {
        const path = [...ancestorsOf(truth, [seq])]
        const apart = path.filter((on) => !current.has(on) && slots[on]?.type === "message" && !log.deleted.has(on))
        return { seq, fork: slots[path.find((on) => current.has(on)) ?? -1]?.id ?? null, messages: apart.length }
      })
      const found = branches(log).map(({ seq, fork, messages }) => ({ seq, fork, messages }))
      expect(found).toEqual(expected)
    }),
    200,
  )
})
