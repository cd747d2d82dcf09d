import { boundedThreadTest, failingTrimTest } from "./trim.ts"

boundedThreadTest(200)
failingTrimTest(1)
