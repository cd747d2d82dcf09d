import { storedSizeTest } from "./stored-size.ts"

storedSizeTest(10_000, 100, 10)
