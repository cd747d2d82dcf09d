import { describe } from "vitest"
import { growthTests } from "../../test/growth.ts"

describe("calls that append", () => {
  growthTests(1_500)
})
