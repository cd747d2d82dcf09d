import { describe } from "vitest"
import { findingsTest } from "../../test/findings.ts"

// More than a call takes arguments.
describe("windows", () => {
  findingsTest(200_000)
})
