import { expect, test } from "vitest"
import { linesOfAnswer } from "./many-blocks.ts"

test("claude-code: an answer of more blocks than a call takes arguments", async () => {
  expect(await linesOfAnswer(130_000)).toBe(130_001)
})
