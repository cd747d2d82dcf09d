/** The mutants: storages with one defect each, which prove that every case of the suite can fail. */
import type { MemoryLocation } from "@sessions/memory"
import type { Subject } from "../subject.ts"
import { crossingMutants } from "./crossing.ts"
import { faultsMutants } from "./faults.ts"
import { listingMutants } from "./listing.ts"
import type { Mutant } from "./mutant.ts"
import { networked, networkMutants } from "./networks.ts"
import { openingMutants } from "./opening.ts"
import { readingMutants } from "./reading.ts"
import { soundSubjects as withoutNetwork } from "./sound-subjects.ts"
import { storesMutants } from "./stores.ts"
import { writingMutants } from "./writing.ts"

export type { Verdict } from "./check.ts"
export { checkMutant, checkSound } from "./check.ts"
export type { Mutant } from "./mutant.ts"

export const mutants: readonly Mutant[] = [
  ...openingMutants,
  ...writingMutants,
  ...readingMutants,
  ...listingMutants,
  ...storesMutants,
  ...faultsMutants,
  ...crossingMutants,
  ...networkMutants,
]

/** Each passes every case that applies to it. */
export const soundSubjects: readonly Subject<MemoryLocation>[] = [...withoutNetwork, networked("on a network")]
