import { fuzzTest } from "./work.ts"

fuzzTest(1_000)
