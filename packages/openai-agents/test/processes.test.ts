/** A process that is killed, on files. */
import { expect, test } from "vitest"
import { historiesAfter } from "./calls.ts"
import { killBetweenCalls } from "./killed.ts"

test("a process that is killed between any calls leaves the history of the last one or of that which ran, on files", async () => {
  expect(await killBetweenCalls("files", await historiesAfter(1_000), 0, 5)).toBeGreaterThanOrEqual(5)
})
