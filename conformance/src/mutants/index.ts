/** The mutants: storages with one defect each, which prove that every case of the suite can fail. */
import { crossingMutants } from "./crossing.ts"
import { faultsMutants } from "./faults.ts"
import { listingMutants } from "./listing.ts"
import type { Mutant } from "./mutant.ts"
import { openingMutants } from "./opening.ts"
import { readingMutants } from "./reading.ts"
import { storesMutants } from "./stores.ts"
import { writingMutants } from "./writing.ts"

export type { Verdict } from "./check.ts"
export { checkMutant, checkSound } from "./check.ts"
export type { Mutant } from "./mutant.ts"
export { soundSubjects } from "./sound-subjects.ts"

export const mutants: readonly Mutant[] = [
  ...openingMutants,
  ...writingMutants,
  ...readingMutants,
  ...listingMutants,
  ...storesMutants,
  ...faultsMutants,
  ...crossingMutants,
]
