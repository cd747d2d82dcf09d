/** Sums over many histories, and the laws of them. */
import type { Law } from "./laws.ts"
import { addTally, createTally, type Prediction, type Tally } from "./tally.ts"
import type { World } from "./world.ts"

/** What one history gave. */
export interface Outcome {
  readonly library: Tally
  readonly oracle: Tally
  readonly predictions: readonly Prediction[]
  /** The broken laws, each with its first case. */
  readonly broken: ReadonlyMap<Law, string>
  /** A possible request was given up, and none was accepted since. */
  readonly endedForGood: boolean
}

/** Histories that have something in common: nothing unusual, a table of windows that is wrong, reports that leave things out. */
export type Group = "all" | "calm" | "window" | "reports"

interface Both {
  readonly library: Tally
  readonly oracle: Tally
}

export interface Totals {
  histories: number
  readonly groups: Readonly<Record<Group, Both>>
  stuckSessions: number
  endedForGood: number
  /** How many histories broke each law. */
  readonly broken: Map<Law, number>
  /** Errors of predictions, by situation, of real tokenizers and of random ones. */
  readonly errors: Readonly<Record<"real" | "wild", Readonly<Record<Prediction["since"], number[]>>>>
}

export function createTotals(): Totals {
  const errors = () => ({ same: [], new: [], changed: [] })
  const both = () => ({ library: createTally(), oracle: createTally() })
  return {
    histories: 0,
    groups: { all: both(), calm: both(), window: both(), reports: both() },
    stuckSessions: 0,
    endedForGood: 0,
    broken: new Map(),
    errors: { real: errors(), wild: errors() },
  }
}

export function addOutcome(to: Totals, world: World, outcome: Outcome): void {
  to.histories++
  for (const group of groupsOf(world)) {
    addTally(to.groups[group].library, outcome.library)
    addTally(to.groups[group].oracle, outcome.oracle)
  }
  if (outcome.library.stuck > 0) to.stuckSessions++
  if (outcome.endedForGood) to.endedForGood++
  for (const law of outcome.broken.keys()) to.broken.set(law, (to.broken.get(law) ?? 0) + 1)
  for (const { since, error } of outcome.predictions) to.errors[world.wild ? "wild" : "real"][since].push(error)
}

function groupsOf({ calm, belief, report }: World): Group[] {
  const groups: Group[] = ["all"]
  if (calm) groups.push("calm")
  if (belief !== 1) groups.push("window")
  if (report === "cacheless" || report === "nocache" || report === "reason") groups.push("reports")
  return groups
}

/** Of 1,000 requests that can be sent, how many were refused. */
export function refusedPer1000({ sends, refusedPossible, refusedImpossible }: Tally): number {
  return (1_000 * refusedPossible) / Math.max(1, sends - refusedImpossible)
}

/** Summaries for 1,000 messages, without those of impossible requests. */
export function paidPer1000({ paid, paidImpossible, messages }: Tally): number {
  return (1_000 * (paid - paidImpossible)) / Math.max(1, messages)
}

export function cutPer1000({ cutQuestions, messages }: Tally): number {
  return (1_000 * cutQuestions) / Math.max(1, messages)
}

/** The share of predictions that were within 10 %. */
export function within(errors: readonly number[]): number {
  return errors.filter((error) => error <= 0.1).length / Math.max(1, errors.length)
}

/** A sum of the library, times that of the oracle. */
const times =
  (sum: (tally: Tally) => number, group: Group = "all") =>
  ({ groups }: Totals): number =>
    sum(groups[group].library) / sum(groups[group].oracle)

/** Laws of sums. They are checked on many histories, because few differ by chance. */
export const SUMS: Readonly<
  Record<
    string,
    {
      readonly law: string
      readonly limit: number
      readonly measure: (totals: Totals) => number
    }
  >
> = {
  summaries: { law: "summaries, times those of the oracle", limit: 1.18, measure: times(paidPer1000) },
  "summaries-calm": {
    law: "the same in long histories without surprises",
    limit: 1.18,
    measure: times(paidPer1000, "calm"),
  },
  refusals: {
    law: "refusals of possible requests, times those of the oracle",
    limit: 2.5,
    measure: times(refusedPer1000),
  },
  "refusals-window": {
    law: "the same where the table of windows is wrong",
    limit: 2.4,
    measure: times(refusedPer1000, "window"),
  },
  "refusals-reports": {
    law: "the same where reports leave things out",
    limit: 2.3,
    measure: times(refusedPer1000, "reports"),
  },
  "refusals-model": {
    law: "the same of models that have answered nothing yet, after another one has",
    limit: 3.5,
    measure: times(({ refusedNew, sends }) => refusedNew / sends),
  },
  cuts: { law: "questions cut, times those of the oracle", limit: 1.1, measure: times(cutPer1000) },
  // The windows are small, so that a message is a large share of a context: the model of the rules has 1.4 to 1.9, 5 and 20 to 23 of 100.
  "fits-same": {
    law: "sizes that are wrong by more than 10 %, of 100, after two reports, for a context that grew by less than a fifth; with real tokenizers",
    limit: 2,
    measure: ({ errors: { real } }) => 100 * (1 - within(real.same)),
  },
  "fits-wild": {
    law: "the same with random tokenizers",
    limit: 6,
    measure: ({ errors: { wild } }) => 100 * (1 - within(wild.same)),
  },
  "fits-other": {
    law: "the same after a compaction or larger news, with real tokenizers",
    limit: 25,
    measure: ({ errors: { real } }) => 100 * (1 - within([...real.new, ...real.changed])),
  },
}
/** Histories from which sums are judged. */
export const MANY = 5_000

export function brokenSums(totals: Totals): string[] {
  return Object.entries(SUMS).flatMap(([name, sum]) => {
    const measured = sum.measure(totals)
    return measured <= sum.limit ? [] : [`${name}: ${sum.law}: ${measured.toFixed(2)}, at most ${sum.limit}`]
  })
}
