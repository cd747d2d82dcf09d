import { expect, test } from "vitest"
import { codeOf } from "../../../test/writers.ts"
import { checkWindows, windowOf } from "./windows.ts"

test("a model's window is that of the longest row that its name begins with, and 200,000 without one", () => {
  expect(windowOf("claude-sonnet-4")).toBe(200_000)
  expect(windowOf("gpt-4o-mini")).toBe(128_000)
  expect(windowOf("gpt-4-turbo-2024")).toBe(128_000)
  expect(windowOf("gpt-4")).toBe(200_000)
  expect(windowOf("gemini-2.0-flash-lite")).toBe(1_000_000)
  expect(windowOf("llama")).toBe(200_000)
  expect(windowOf(undefined, { "": 5 })).toBe(200_000)
})

test("the caller's rows win: a longer one, one of the same length, one for every model", () => {
  expect(windowOf("gpt-4o-mini", { "gpt-4o-mini": 64_000 })).toBe(64_000)
  expect(windowOf("gpt-4o", { "gpt-4o": 1 })).toBe(1)
  expect(windowOf("gpt-4o", { gpt: 1 })).toBe(128_000)
  expect(windowOf("llama-3", { "": 8_000 })).toBe(8_000)
})

test("a row that is not a number of tokens is invalid", async () => {
  checkWindows({ llama: 1 })
  for (const tokens of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, "9" as never]) {
    expect(await codeOf((async () => checkWindows({ llama: tokens }))())).toBe("invalid")
  }
})
