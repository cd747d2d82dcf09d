/** Whether the suite can fail: each mutant has to fail the cases that are named for it, and no others. */
import type { MemoryLocation } from "@sessions/memory"
import type { Failure } from "../runner/result.ts"
import type { RunOptions } from "../runner/run.ts"
import { run } from "../runner/run.ts"
import type { Subject } from "../subject.ts"
import type { Mutant } from "./mutant.ts"

export interface Verdict {
  readonly mutant: string
  /** It failed exactly what it had to. */
  readonly killed: boolean
  /** Cases named for the mutant that it passed. */
  readonly missing: readonly string[]
  /** Cases that it failed and nobody named. */
  readonly unexpected: readonly Failure[]
}

/**
 * Sizes at which every case is still carried out in full sense: more sessions than a page of a store, a log of several chunks, a
 * limit that {@link mutants} and {@link soundSubjects} with small limits reach. What never happens by itself is waited for briefly.
 */
const OPTIONS: RunOptions = { timeLimit: 1_500, sizes: { patience: 100, limitBytes: 4_500_000, logBytes: 600_000 } }

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

/** What a storage that is right failed all the same; empty where the suite is right too. */
export async function checkSound(subject: Subject<MemoryLocation>): Promise<readonly Failure[]> {
  const { results } = await run(subject, {
    ...OPTIONS,
    timeLimit: 10_000,
    sizes: { ...OPTIONS.sizes, patience: 5_000 },
  })
  return results.flatMap(({ failure }) => failure ?? [])
}
