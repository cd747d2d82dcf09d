import { describe, expect, test } from "vitest"
import { HANG_MS } from "../../../../.config/limits.ts"
import { chain, user } from "../../test/chain.ts"
import { seed } from "../../test/property.ts"
import { CODE, tipsProblem, type TipsCode, type TipsCounts } from "../../test/tips-simulation.ts"
import type { Entry } from "../format/entry.ts"
import { ENTRY_TYPES } from "../format/entry-types.ts"
import { tick } from "../storage/clock.ts"
import type { EntrySlot } from "./entry-log.ts"
import { NO_TIPS, openTips, projectTips, TIP_LIMITS, type Tips } from "./projected-tips.ts"
import { isContent, settledLines } from "./tips.ts"

/** More of them: `FC_RUNS=100000`. */
const RUNS = Number(process.env["FC_RUNS"] ?? 60)
/** Histories between two lines of progress. */
const BATCH = 5_000
/** A history takes 3 ms; a machine that is a hundred times slower is still in time. */
const HISTORY_MS = 300
const SMALL = { ...TIP_LIMITS, tips: 2, near: 2 }

function project(slots: readonly EntrySlot[], settled = 0, limits = TIP_LIMITS): Tips | undefined {
  return slots.reduce(
    (tips: Tips | undefined, slot, seq) => (seq === 0 ? tips : projectTips(tips, slot, seq, settled, limits)),
    NO_TIPS,
  )
}

function open(slots: readonly EntrySlot[], settled = 0): readonly string[] | undefined {
  const tips = project(slots, settled)
  return tips && openTips(tips).tips.map(({ id }) => id)
}

const at = (parentId: string | null) => ({ parentId })
const label = { type: "label", targetId: "e1", label: "x" }
const leaf = (parentId: string | null, settles?: readonly string[]) => ({
  type: "leaf",
  parentId,
  ...(settles === undefined ? {} : { settles }),
})

describe("an open tip", () => {
  test("is each end of the conversation off the path of the last entry", () => {
    expect(open(chain(user("a"), user("b"), user("c"), user("d", at("e2"))))).toEqual(["e3"])
    expect(open(chain(user("a"), user("b"), user("c", at("e1")), user("d", at("e1"))))).toEqual(["e3", "e2"])
    expect(open(chain(user("a"), user("b", at(null))))).toEqual(["e1"])
    expect(open(chain(user("a"), user("b")))).toEqual([])
  })

  test("is not ended by a long continuation of another, or by its compactions, edits and deletions", () => {
    const further = Array.from({ length: 50 }, (_, index) => user(`${index}`))
    const others = ["compaction", "context_edit", "tombstone", "reset_boundary"].map((type) => ({ type }))
    expect(open(chain(user("a"), user("b"), user("c", at("e1")), ...further, ...others))).toEqual(["e2"])
  })

  test("is continued through annotations and state changes", () => {
    const state = { type: "model_change", provider: "p", model: "m" }
    expect(open(chain(user("a"), user("b"), user("c", at("e1")), { ...label, ...at("e2") }, state, user("d")))).toEqual(
      ["e3"],
    )
  })

  test("is content: an annotation, a namespaced type or a state change is none", () => {
    expect([...ENTRY_TYPES.keys()].filter(isContent)).toEqual(["message", "custom_message", "branch_summary"])
    expect(["later", "a:b:c", "A:b"].every(isContent)).toBe(true)
    expect(isContent("acme:note")).toBe(false)
    expect(["constructor", "toString", "__proto__"].every(isContent)).toBe(true)
  })

  test("is settled by the entry that names it, and by no other", () => {
    const log = chain(user("a"), user("b"), user("c", at("e1")), user("d", at("e1")), leaf("e1", ["e4", "e2"]))
    expect(open(log)).toEqual(["e3"])
    expect(open(chain(user("a"), user("b"), leaf("e1", [])))).toEqual(["e2"])
  })

  test("is open again where it is continued", () => {
    const log = chain(user("a"), user("b"), leaf("e1", ["e2"]), user("c"), user("d", at("e2")), user("e", at("e4")))
    expect(open(log)).toEqual(["e5"])
  })

  test("of an older log is settled by the leaf after it, and by the summary of its branch, unless that is the target", () => {
    const summary = { type: "branch_summary", summary: "s" }
    expect(open(chain(user("a"), user("b"), leaf("e1"), user("c")))).toEqual([])
    expect(open(chain(user("a"), user("b"), user("c", at("e1")), { ...summary, fromId: "e2", ...at("e1") }))).toEqual([
      "e3",
    ])
    expect(open(chain(user("a"), user("b"), { ...summary, fromId: "root", ...at(null) }))).toEqual(["e2"])
    // Another writer goes on from e2 afterwards.
    expect(open(chain(user("a"), user("b"), user("c", at("e1")), leaf("e3"), user("d", at("e2"))))).toEqual(["e3"])
  })

  test("with a repeated id keeps its name, and can be settled by it", () => {
    const again = { ...user("b"), id: "e2", parentId: "e1" }
    expect(open(chain(user("a"), user("b"), again))).toEqual(["e2"])
    expect(open(chain(user("a"), user("b"), again, user("c"), leaf("e4", ["e2"])))).toEqual([])
  })
})

test("an id means its last entry, however often it is repeated", () => {
  const again = { ...label, id: "e2" }
  const log = chain(user("a"), user("b"), again, user("c", at("e1")), { ...again, parentId: "e4" }, user("d", at("e2")))
  expect(open(log)).toEqual(["e2"])
})

describe("the horizon of an imported log", () => {
  const branched = [user("a"), user("b"), user("c", at("e1"))]

  test("settles all tips but the current one", () => {
    expect(open(chain(...branched), 4)).toEqual([])
    expect(open(chain(...branched, user("d", at("e1"))), 4)).toEqual(["e3"])
    expect(open(chain(...branched, { ...label, ...at("e2") }, user("d", at("e1"))), 5)).toEqual(["e2"])
  })

  test("settles none before it is reached, or without one", () => {
    expect(open(chain(...branched), 9)).toEqual(["e2"])
    expect(open(chain(...branched), 1)).toEqual(["e2"])
  })

  test("is origin.settled, else the lines of another system's log; wrong values are none", () => {
    const of = (origin?: object): number => settledLines({ origin })
    expect(of({ format: "pi", version: 3, lines: 9, settled: 4 })).toBe(4)
    expect(of({ format: "pi", version: 3, lines: 9 })).toBe(9)
    expect(of({ format: "@sessions", version: 4, lines: 9 })).toBe(0)
    expect(of({ format: "@sessions", version: 4, lines: 9, settled: 5 })).toBe(5)
    expect(of()).toBe(0)
    expect([{ lines: -1 }, { format: "pi", lines: "9" }, { settled: {} }].map(of)).toEqual([0, 0, 0])
    expect(settledLines({ origin: null })).toBe(0)
  })
})

describe("the kept tips", () => {
  test("of a log without branches are one", () => {
    expect(project(chain(user("a"), user("b"), label))).toEqual({
      tips: [{ seq: 2, id: "e2", near: ["e2", "e3"] }],
      current: 2,
    })
  })

  test("beyond the limit are counted, and the current one stays", () => {
    const log = chain(user("a"), user("b"), user("c", at("e1")), user("d", at("e1")))
    expect(project(log, 0, SMALL)).toMatchObject({ tips: [{ id: "e3" }, { id: "e4" }], more: 1 })
    expect(openTips(project(log, 0, SMALL) as Tips)).toEqual({ tips: [{ seq: 3, id: "e3" }], more: 1 })
  })

  test("have at most 2,500 bytes of JSON, unless one alone has more", () => {
    const id = "ü".repeat(200)
    const roots = [1, 2, 3, 4].map((n) => ({ ...user("a", at(null)), id: id + n }))
    const tips = project(chain(...roots)) as Tips
    expect(new TextEncoder().encode(JSON.stringify(tips.tips)).length).toBeLessThanOrEqual(2_500)
    expect(tips).toMatchObject({ current: 4, more: 1 })
    expect(project(chain({ ...user("a"), id: "x".repeat(3_000) }))).toMatchObject({ tips: [{ seq: 1 }], current: 1 })
  })

  test("stay known where one that was not kept is continued, settled or annotated, and it stays counted", () => {
    const branched = [user("a"), user("b"), user("c", at("e1")), user("d", at("e1"))]
    expect(project(chain(...branched, user("e", at("e2"))), 0, SMALL)).toMatchObject({
      tips: [{ id: "e4" }, { id: "e5" }],
      current: 5,
      more: 2,
    })
    expect(project(chain(...branched, { ...label, ...at("e2") }), 0, SMALL)).toMatchObject({
      tips: [{ id: "e3" }, { id: "e4" }],
      current: null,
      more: 1,
    })
    expect(project(chain(...branched, leaf("e4", ["e2"])), 0, SMALL)).toMatchObject({
      tips: [{ id: "e3" }, { id: "e4" }],
      current: 4,
      more: 1,
    })
    expect(project(chain(...branched, leaf("e4", ["e3"])), 0, SMALL)).toMatchObject({ tips: [{ id: "e4" }], more: 1 })
    expect(project(chain(...branched, user("e", at("e4"))), 0, SMALL)).toMatchObject({ current: 5, more: 1 })
  })

  test("are unknown where an entry may be anchored at one whose annotations were dropped", () => {
    const annotated = [user("a"), user("b"), label, label, label]
    expect(project(chain(...annotated, user("c", at("e3"))), 0, SMALL)).toBeUndefined()
    expect(project(chain(...annotated, user("c")), 0, SMALL)).toMatchObject({ tips: [{ id: "e6" }] })
  })

  test("are known at a step back that settles the tip whose annotations were dropped", () => {
    const annotated = [user("a"), user("b"), label, label, label]
    expect(project(chain(...annotated, leaf("e1", ["e2"])), 0, SMALL)).toEqual({ tips: [], current: null })
  })

  test("are unknown where an entry may be the child of a damaged line, for 100 lines and while a tip of theirs is kept", () => {
    const between = Array.from({ length: 99 }, () => user("x"))
    const log = [user("a"), user("b"), undefined, user("c")]
    expect(project(chain(user("a"), user("b"), undefined, user("c", at("e3"))))).toBeUndefined()
    expect(project(chain(...log, ...between.slice(1), user("d", at("e1"))))).toBeUndefined()
    expect(project(chain(...log, ...between, user("d", at("e1"))))).toBeUndefined()
    expect(project(chain(...log, ...between, user("x"), user("d", at("e1"))))).toMatchObject({
      tips: [{ id: "e104" }, { seq: 105 }],
    })
  })

  test("stay unknown", () => {
    expect(projectTips(undefined, chain(user("a"))[1] as Entry, 1, 0)).toBeUndefined()
  })
})

describe("in random histories", () => {
  const counts = (): TipsCounts => ({ checks: 0, open: 0, notKept: 0, unknown: 0, silent: 0 })

  test(
    `open tips are those of the whole tree that no writer left knowingly, in ${RUNS} histories`,
    async () => {
      const total = counts()
      for (let first = 0; first < RUNS; first += BATCH) {
        const end = Math.min(RUNS, first + BATCH)
        for (let run = first; run < end; run++)
          expect(tipsProblem(seed + run, total), `SEED=${seed + run} FC_RUNS=1`).toBeUndefined()
        console.info(`SEED=${seed} ${end} histories: ${JSON.stringify(total)}`)
        // Vitest prints what a test has said when it does not compute.
        await tick()
      }
    },
    HANG_MS + RUNS * HISTORY_MS,
  )

  const project: TipsCode["project"] = (...step) => projectTips(...step)
  const mapped = (change: (entry: Entry, tips: Tips) => Entry): Partial<TipsCode> => ({
    project: (tips, entry, ...more) => project(tips, entry && tips && change(entry, tips), ...more),
  })
  const kept = (change: (tips: Tips) => Tips): Partial<TipsCode> => ({
    project: (...step) => {
      const next = project(...step)
      return next && change(next)
    },
  })
  const settles = (change: (...leaving: Parameters<TipsCode["settles"]>) => readonly string[]): Partial<TipsCode> => ({
    settles: change,
  })
  const without = <T extends object>(object: T, key: string): T =>
    Object.fromEntries(Object.entries(object).filter(([name]) => name !== key)) as T
  const retyped = (entry: Entry, type: string): Entry => ({ ...entry, type }) as Entry
  const isLeaf = ({ type }: Entry): boolean => type === "leaf" || type === "branch_summary"

  // With the first history to try, if many have nothing that the variant gets wrong.
  test.each<[string, Partial<TipsCode>, first?: number]>([
    ["nothing is settled", mapped((entry) => ({ ...entry, settles: [] }))],
    [
      "any leaf is a choice about all branches",
      mapped((entry, { tips }) => (isLeaf(entry) ? { ...entry, settles: tips.map(({ id }) => id) } : entry)),
    ],
    ["namespaced types are content", mapped((entry) => (entry.type === "acme:turn" ? retyped(entry, "x") : entry))],
    [
      "later types are annotations",
      mapped((entry) => ((entry.type as string) === "later_type" ? retyped(entry, "leaf") : entry)),
    ],
    [
      "annotations are not followed",
      kept((tips) => ({ ...tips, tips: tips.tips.map((tip) => ({ ...tip, near: [] })) })),
    ],
    ["dropped annotations and damaged lines put nothing in doubt", kept((tips) => without(tips, "doubt"))],
    ["dropped tips are forgotten", kept((tips) => without(tips, "more"))],
    [
      "a repeated id means the older entry too",
      kept((tips) => ({ ...tips, tips: tips.tips.map((tip) => ({ ...tip, near: [...tip.near, tip.id] })) })),
      286,
    ],
    ["the horizon is ignored", { project: (tips, entry, seq, _, limits) => project(tips, entry, seq, 0, limits) }],
    [
      "the horizon settles the current tip",
      {
        project: (tips, entry, seq, settled, limits) =>
          seq === settled - 1 ? { ...NO_TIPS } : project(tips, entry, seq, settled, limits),
      },
    ],
    ["the horizon of a whole log is ignored", { whole: (log, _, limits) => CODE.whole(log, 0, limits) }],
    ["what a leaf settles is decided when it is sent", { sendAgain: (entry, tips) => ({ ...entry, settles: tips }) }],
    ["the own tip is not settled", settles((log, tips, o) => CODE.settles(log, tips, { ...o, leaf: null }))],
    [
      "a step back settles what was reported",
      settles((log, tips, o) => [...new Set([...CODE.settles(log, tips, o), ...[...o.reported].map(({ id }) => id)])]),
    ],
    ["a choice settles nothing", settles((log, tips, o) => CODE.settles(log, tips, { ...o, reported: [] }))],
    ["the chosen tip is settled too", settles((log, tips, o) => CODE.settles(log, tips, { ...o, target: o.leaf }))],
  ])("a variant is found in which %s", (_, broken, first = 0) => {
    const code = { ...CODE, ...broken }
    let run = first
    while (run < first + 3_000 && tipsProblem(run, counts(), code) === undefined) run++
    expect(run).toBeLessThan(first + 3_000)
  })
})
