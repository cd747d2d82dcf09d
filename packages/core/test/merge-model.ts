/**
 * Histories of one session in several storages, as entries without content: writers append to their storage, storages are merged, and a
 * merge may end after any write. With the laws that must hold once nobody writes.
 */
import * as fc from "fast-check"
import type { Entry } from "../src/format/entry.ts"
import { isAnnotationType } from "../src/format/entry-types.ts"
import { EntryLog } from "../src/log/entry-log.ts"
import { type MergePlan, planMerge } from "../src/transfer/merge/plan.ts"

/** An entry without its content. */
export type ModelEntry = Pick<Entry, "id" | "type" | "parentId" | "timestamp" | "seq">

/** The entries of one storage, in log order. */
export type ModelLog = ModelEntry[]

/** Merges two logs. `writes` is how many lines are written before it ends; returns how many it wrote. */
export type ModelMerge = (here: ModelLog, there: ModelLog, newId: () => string, writes: number) => number

export const KINDS = ["turn", "turn", "turn", "title", "branch", "reset", "merge", "merge"] as const

export interface ModelStep {
  readonly kind: (typeof KINDS)[number]
  readonly at: number
  readonly other: number
  readonly time: number
  /** Of a merge: how many lines are written before it is killed. */
  readonly writes: number
}

export interface History {
  readonly storages: number
  readonly shape: "ring" | "star"
  readonly steps: readonly ModelStep[]
}

export const history: fc.Arbitrary<History> = fc.record({
  storages: fc.integer({ min: 2, max: 6 }),
  shape: fc.constantFrom("ring", "star"),
  steps: fc.array(
    fc.record({
      kind: fc.constantFrom(...KINDS),
      at: fc.nat({ max: 5 }),
      other: fc.nat({ max: 99 }),
      // Clocks of the writers differ, and go back.
      time: fc.nat({ max: 30 }),
      writes: fc.oneof({ weight: 2, arbitrary: fc.constant(1_000) }, { weight: 1, arbitrary: fc.nat({ max: 6 }) }),
    }),
    { maxLength: 30 },
  ),
})

/** The pairs of storages that are merged with each other. */
export function pairsOf({
  storages,
  shape,
}: Pick<History, "storages" | "shape">): readonly (readonly [number, number])[] {
  if (shape === "star" || storages === 2)
    return Array.from({ length: storages - 1 }, (_, index) => [0, index + 1] as const)
  return Array.from({ length: storages }, (_, index) => [index, (index + 1) % storages] as const)
}

/** Ids whose order has nothing to do with the order of their entries. */
export function scrambledIds(): () => string {
  let made = 0
  return () => {
    made++
    return `${((made * 7_919) % 10_007).toString(36).padStart(4, "0")}-${made}`
  }
}

/** Runs the history, then merges all pairs until a round writes nothing. Returns the broken laws. */
export function brokenLaws(h: History, merge: ModelMerge): string[] {
  const newId = scrambledIds()
  const logs: ModelLog[] = Array.from({ length: h.storages }, () => [])
  const pairs = pairsOf(h)
  for (const step of h.steps) {
    const log = logs[step.at % h.storages] as ModelLog
    if (step.kind === "merge") {
      const [one, other] = pairs[step.other % pairs.length] as readonly [number, number]
      merge(logs[one] as ModelLog, logs[other] as ModelLog, newId, step.writes)
    } else append(log, step, newId())
  }
  let quiet = 0
  for (let round = 1; round <= ROUNDS && quiet === 0; round++) {
    let written = 0
    for (const [one, other] of pairs) written += merge(logs[one] as ModelLog, logs[other] as ModelLog, newId, 1_000)
    if (written === 0) quiet = round
  }
  return [...(quiet === 0 ? [`${ROUNDS} rounds do not end`] : []), ...brokenBetween(logs), ...logs.flatMap(brokenIn)]
}

const ROUNDS = 4

function append(log: ModelLog, { kind, other, time }: ModelStep, id: string): void {
  const timestamp = new Date(Date.UTC(2026, 0, 31) + time).toISOString()
  const last = log.at(-1)?.id ?? null
  const target = log.length === 0 ? null : (log[other % log.length] as ModelEntry).id
  const place = { id, timestamp, seq: log.length + 1 }
  if (kind === "turn") log.push({ ...place, type: "message", parentId: isReset(log) ? null : last })
  else if (kind === "title") log.push({ ...place, type: "title_change", parentId: last })
  else log.push({ ...place, type: "leaf", parentId: kind === "branch" ? target : null })
}

function isReset(log: ModelLog): boolean {
  return log.length > 0 && walk(log) === null && log.some(({ type }) => type === "leaf")
}

/** The conversation entry at which a log ends. An oracle: looks up each parent in the log itself. */
export function walk(log: ModelLog): string | null {
  let at = log.at(-1)
  while (at !== undefined && (at.type === "leaf" || isAnnotationType(at.type))) {
    const { parentId } = at
    at = log.find(({ id }) => id === parentId)
  }
  return at?.id ?? null
}

function brokenBetween(logs: readonly ModelLog[]): string[] {
  const broken = new Set<string>()
  const ids = (log: ModelLog): string =>
    log
      .map(({ id }) => id)
      .toSorted()
      .join()
  for (const log of logs) {
    if (ids(log) !== ids(logs[0] as ModelLog)) broken.add("the storages have different entries")
    if (walk(log) !== walk(logs[0] as ModelLog)) broken.add("the storages end at different leaves")
  }
  return [...broken]
}

function brokenIn(log: ModelLog): string[] {
  const before = new Set<string>()
  const broken: string[] = []
  for (const { id, parentId } of log) {
    if (before.has(id)) broken.push(`${id} is in a log twice`)
    if (parentId !== null && !before.has(parentId)) broken.push(`the parent of ${id} is not before it`)
    before.add(id)
  }
  return broken
}

/** As `merge.ts` writes a plan: first there, then here, in the order of the plan. */
export function mergeBy(plan: (here: EntryLog, there: EntryLog) => MergePlan): ModelMerge {
  return (here, there, newId, writes) => {
    const { toThere, toHere, leaf, leafAt } = plan(sideOf(here), sideOf(there))
    const added: readonly ModelEntry[] =
      leafAt === undefined ? [] : [{ id: newId(), type: "leaf", parentId: leaf, timestamp: leafAt, seq: 0 }]
    return write(
      [
        [there, [...toThere, ...added]],
        [here, [...toHere, ...added]],
      ],
      writes,
    )
  }
}

/** Writes at most so many lines; returns how many there were to write. */
export function write(all: readonly (readonly [ModelLog, readonly ModelEntry[]])[], writes: number): number {
  let written = 0
  for (const [log, entries] of all) {
    for (const entry of entries) {
      if (written === writes) return written
      log.push({ ...entry, seq: log.length + 1 })
      written++
    }
  }
  return written
}

export function sideOf(log: ModelLog): EntryLog {
  return EntryLog.of([undefined, ...(log as Entry[])])
}

export const merging: ModelMerge = mergeBy((here, there) => planMerge(here, there) as MergePlan)
