/** Checks that the suite can fail: each mutant must fail the cases that it names, and no others. */
import type { MemoryLocation } from "@sessions/memory"
import { cases } from "../cases/index.ts"
import type { Failure } from "../runner/result.ts"
import { run, type RunOptions } from "../runner/run.ts"
import type { Subject } from "../subject.ts"
import type { Mutant } from "./mutant.ts"

export interface Verdict {
  readonly mutant: string
  /** It failed exactly the cases that it names. */
  readonly killed: boolean
  /** Cases that it names and passed. */
  readonly missing: readonly string[]
  /** Failures of cases that it does not name. */
  readonly unexpected: readonly Failure[]
}

/**
 * Small sizes at which every case still tests its rule: more sessions than one page of a store, a log of several chunks, and limits
 * that the subjects with small limits reach.
 */
const SIZES = { limitBytes: 4_500_000, logBytes: 600_000 }
/** For cases that must fail: a mutant waits in vain. */
const SHORT: RunOptions = { timeLimit: 1_500, sizes: { ...SIZES, waitMs: 100 } }
/** For cases that must pass, on a busy machine too. */
const GENEROUS: RunOptions = { sizes: SIZES }

export async function checkMutant({ subject, fails }: Mutant): Promise<Verdict> {
  const others = cases.map(({ id }) => id).filter((id) => !fails.includes(id))
  const reports = [await run(subject, { ...SHORT, only: fails }), await run(subject, { ...GENEROUS, only: others })]
  const results = reports.flatMap((report) => report.results)
  const failed = new Map(results.flatMap(({ id, failure }) => (failure === undefined ? [] : [[id as string, failure]])))
  const missing = fails.filter((id) => !failed.has(id))
  const unexpected = [...failed].flatMap(([id, failure]) => (fails.includes(id) ? [] : [failure]))
  return {
    mutant: subject.name,
    killed: failed.size > 0 && missing.length + unexpected.length === 0,
    missing,
    unexpected,
  }
}

/** The failures of a correct storage: none, unless the suite is wrong. */
export async function checkSound(subject: Subject<MemoryLocation>): Promise<readonly Failure[]> {
  const { results } = await run(subject, GENEROUS)
  return results.flatMap(({ failure }) => failure ?? [])
}
