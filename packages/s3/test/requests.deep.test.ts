import { appendsTest, largeSessionTest } from "./requests.ts"

appendsTest(4_300)
largeSessionTest(200)
