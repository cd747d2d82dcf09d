import { longThreadTest } from "./long-thread.ts"

longThreadTest(5_000)
