import { expect, test } from "vitest"
import { codeOf } from "../../test/writers.ts"
import { shouldCompact } from "../compaction/plan/trigger.ts"
import { LIMITS, limitsOf, windowOf } from "./windows.ts"

test("a model's window is that of the longest row that its name begins with", () => {
  expect(windowOf("claude-sonnet-4-20250514")).toBe(200_000)
  expect(windowOf("claude-opus-5-5")).toBe(1_000_000)
  expect(windowOf("gpt-4o-mini")).toBe(128_000)
  expect(windowOf("gpt-4-turbo-2024")).toBe(128_000)
  expect(windowOf("gpt-4-0613")).toBe(8_192)
  expect(windowOf("gpt-5.4-mini-2026-03-17")).toBe(272_000)
  expect(windowOf("gemini-2.0-flash-lite")).toBe(1_000_000)
})

test("a window that input and output share counts without the output, where more input is refused", () => {
  for (const model of ["gpt-5", "gpt-5-mini", "gpt-5-pro", "gpt-5.1", "gpt-5.2-codex", "gpt-5.3-codex", "gpt-5.4-nano"])
    expect(windowOf(model)).toBe(272_000)
  for (const model of ["gpt-5.4", "gpt-5.5-pro", "gpt-5.6-sol", "gpt-6-luna", "gpt-6.1-sol"])
    expect(windowOf(model)).toBe(922_000)
  // Due before the API refuses.
  expect(shouldCompact(272_000, windowOf("gpt-5") ?? 0)).toBe(true)
})

test("the window of a model without a row is not known", () => {
  expect(windowOf("llama")).toBeUndefined()
  expect(windowOf("")).toBeUndefined()
  expect(windowOf(undefined, { "": 5 })).toBeUndefined()
})

test("the prefix of a router or a cloud is ignored", () => {
  for (const prefix of ["openai/", "openrouter/openai/", "openai:", "azure.openai.", "ft:"])
    expect(windowOf(`${prefix}gpt-4o`)).toBe(128_000)
  expect(windowOf("us.anthropic.claude-sonnet-4-6-v1:0")).toBe(1_000_000)
  expect(windowOf("models/gemini-3.1-pro-preview")).toBe(1_000_000)
  expect(windowOf("meta/llama-3")).toBeUndefined()
})

test("case is ignored, and a dot between digits is a hyphen", () => {
  expect(windowOf("GPT-4o")).toBe(128_000)
  expect(windowOf("chatgpt-4o-latest")).toBe(128_000)
  expect(windowOf("anthropic/claude-opus-4.6")).toBe(windowOf("claude-opus-4-6"))
  expect(windowOf("grok-4-1-fast-reasoning")).toBe(2_000_000)
  // A date in the name is not a version.
  expect(windowOf("gpt-4.1-nano")).toBe(1_047_576)
  expect(windowOf("gpt-4-1106-preview")).toBe(128_000)
  expect(windowOf("My.Model-1.5", { "my.model-1-5": 7 })).toBe(7)
})

test("each row of the table is found by its own name, with and without a prefix", () => {
  for (const [name, limits] of Object.entries(LIMITS)) {
    expect(limitsOf(name)).toMatchObject(limits)
    expect(limitsOf(`router/${name}`)).toEqual(limitsOf(name))
  }
})

test("each limit is that of the longest row that has it", () => {
  expect(limitsOf("claude-sonnet-4-5")).toEqual({ tokens: 200_000, bytes: 32_000_000, images: 100 })
  expect(limitsOf("claude-opus-4-6")).toEqual({ tokens: 1_000_000, bytes: 32_000_000, images: 600 })
  expect(limitsOf("us.anthropic.claude-opus-4-6-v1:0")).toEqual({ tokens: 1_000_000, bytes: 20_000_000, images: 600 })
  expect(limitsOf("gpt-5.4-mini")).toEqual({ tokens: 272_000, bytes: 50_000_000, images: 500 })
  expect(limitsOf("gemini-3-pro-image")).toEqual({ tokens: 65_536, bytes: 20_000_000, images: 14 })
  expect(limitsOf("gpt-4o", { "gpt-4o": 1, gpt: 2 })).toEqual({ tokens: 1, bytes: 50_000_000, images: 500 })
})

test("a limit that is not known is missing", () => {
  expect(limitsOf("gpt-oss-120b")).toEqual({ tokens: 131_072 })
  expect(limitsOf("llama-3", { llama: 8_000 })).toEqual({ tokens: 8_000 })
  expect(limitsOf("llama-3")).toEqual({})
  expect(limitsOf(undefined)).toEqual({})
})

test("the caller's rows win: a longer one, one of the same length, one with the prefix, one for every model", () => {
  expect(windowOf("gpt-4o-mini", { "gpt-4o-mini": 64_000 })).toBe(64_000)
  expect(windowOf("gpt-4o", { "gpt-4o": 1 })).toBe(1)
  expect(windowOf("openai/gpt-4o", { "openai/": 2, "openai/gpt-4o": 3 })).toBe(3)
  expect(windowOf("gpt-4o", { gpt: 1 })).toBe(128_000)
  expect(windowOf("llama-3", { "": 8_000 })).toBe(8_000)
})

test("a row that is not a number of tokens is invalid", async () => {
  shouldCompact(1, 1_000, { windows: { llama: 1 } })
  for (const tokens of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, "9" as never]) {
    expect(await codeOf((async () => shouldCompact(1, 1_000, { windows: { llama: tokens } }))())).toBe("invalid")
  }
})
