import { faultsMutants } from "./faults.ts"
import type { Mutant } from "./mutant.ts"
import { readingMutants } from "./reading.ts"
import { storesMutants } from "./stores.ts"
import { writingMutants } from "./writing.ts"

export const mutants: readonly Mutant[] = [...writingMutants, ...readingMutants, ...storesMutants, ...faultsMutants]
