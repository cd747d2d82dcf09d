import { describe } from "vitest"
import { longPathTest, tombstonesTest } from "../../test/linear-time.ts"

describe("through a session, in linear time", () => {
  longPathTest(100_000)
  tombstonesTest(50_000)
})
