import { racingTest } from "./racing.ts"

racingTest(100)
