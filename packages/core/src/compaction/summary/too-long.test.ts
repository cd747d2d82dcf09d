import { expect, test } from "vitest"
import { isTooLong } from "./too-long.ts"

test("a context-length error is recognized in many wordings, also inside another error", () => {
  const refusals: unknown[] = [
    new Error("prompt is too long: 213462 tokens > 200000 maximum"),
    Object.assign(new Error("400"), { code: "context_length_exceeded" }),
    new Error("This model's maximum context length is 128000 tokens."),
    new Error("The input token count (1100000) exceeds the maximum number of tokens allowed"),
    new Error("Input is too long for requested model"),
    Object.assign(new Error("failed"), { status: 413 }),
    { statusCode: 413 },
    "Too many tokens",
    new Error("not compacted", { cause: new Error("no answer", { cause: new Error("exceeds the context window") }) }),
  ]
  for (const error of refusals) expect(isTooLong(error)).toBe(true)
})

test("other errors are not recognized, nor are values without a message or cyclic ones", () => {
  const circle = new Error("busy")
  circle.cause = circle
  const others: unknown[] = [
    new Error("overloaded"),
    { status: 429 },
    new Error("invalid token"),
    undefined,
    null,
    5,
    circle,
  ]
  for (const error of others) expect(isTooLong(error)).toBe(false)
})
