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

export interface Totals {
  histories: number
  library: Tally
  oracle: Tally
  stuckSessions: number
  endedForGood: number
  /** How many histories broke each law. */
  readonly broken: Map<Law, number>
  /** Errors of predictions, by situation, of real tokenizers and of random ones. */
  readonly errors: Readonly<Record<"real" | "wild", Readonly<Record<Prediction["since"], number[]>>>>
}

export function createTotals(): Totals {
  const errors = () => ({ same: [], new: [], compacted: [] })
  return {
    histories: 0,
    library: createTally(),
    oracle: createTally(),
    stuckSessions: 0,
    endedForGood: 0,
    broken: new Map(),
    errors: { real: errors(), wild: errors() },
  }
}

export function addOutcome(to: Totals, world: World, outcome: Outcome): void {
  to.histories++
  addTally(to.library, outcome.library)
  addTally(to.oracle, outcome.oracle)
  if (outcome.library.stuck > 0) to.stuckSessions++
  if (outcome.endedForGood) to.endedForGood++
  for (const law of outcome.broken.keys()) to.broken.set(law, (to.broken.get(law) ?? 0) + 1)
  for (const { since, error } of outcome.predictions) to.errors[world.wild ? "wild" : "real"][since].push(error)
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

/** Laws of sums. They are checked on many histories, because few differ by chance. */
export const SUMS: Readonly<
  Record<string, { readonly law: string; readonly limit: number; readonly measure: (totals: Totals) => number }>
> = {
  summaries: {
    law: "summaries, times those of the oracle",
    limit: 1.3,
    measure: ({ library, oracle }) => paidPer1000(library) / paidPer1000(oracle),
  },
  refusals: {
    law: "refusals of possible requests, times those of the oracle",
    limit: 2.5,
    measure: ({ library, oracle }) => refusedPer1000(library) / refusedPer1000(oracle),
  },
  cuts: {
    law: "questions cut, times those of the oracle",
    limit: 1.1,
    measure: ({ library, oracle }) => cutPer1000(library) / cutPer1000(oracle),
  },
  "fits-same": {
    law: "sizes that are wrong by more than 10 %, of 100, after two reports, for a context that grew by less than a fifth",
    limit: 1,
    measure: ({ errors: { real, wild } }) => 100 * (1 - within([...real.same, ...wild.same])),
  },
  "fits-other": {
    law: "the same after a compaction or larger news, with real tokenizers",
    limit: 20,
    measure: ({ errors: { real } }) => 100 * (1 - within([...real.new, ...real.compacted])),
  },
}
/** Histories from which sums are judged. */
export const MANY = 2_000

export function brokenSums(totals: Totals): string[] {
  return Object.entries(SUMS).flatMap(([name, { law, limit, measure }]) => {
    const measured = measure(totals)
    return measured <= limit ? [] : [`${name}: ${law}: ${measured.toFixed(2)}, at most ${limit}`]
  })
}
