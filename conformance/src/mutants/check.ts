/** Checks that the suite can fail: each mutant must fail the cases that it names, and no others. */
import type { MemoryLocation } from "@sessions/memory"
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
 * that the subjects with small limits reach. The wait is short, because a mutant waits in vain.
 */
const OPTIONS: RunOptions = { timeLimit: 1_500, sizes: { waitMs: 100, limitBytes: 4_500_000, logBytes: 600_000 } }

export async function checkMutant({ subject, fails }: Mutant): Promise<Verdict> {
  const { results } = await run(subject, OPTIONS)
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
  const { results } = await run(subject, {
    ...OPTIONS,
    timeLimit: 10_000,
    sizes: { ...OPTIONS.sizes, waitMs: 5_000 },
  })
  return results.flatMap(({ failure }) => failure ?? [])
}
