import { expect, test } from "vitest"
import { codeOf } from "../../../test/writers.ts"
import type { Summarize, SummarizeRequest } from "../../compaction-settings/types.ts"
import { askSummarizer } from "./summarizer.ts"

const asked = async (summarize: unknown, o: { timeout?: number; signal?: AbortSignal; temperature?: number } = {}) =>
  (await asking(summarize, o)).text

const asking = (summarize: unknown, o: { timeout?: number; signal?: AbortSignal; temperature?: number } = {}) =>
  askSummarizer(
    {
      session: "s",
      summarize: summarize as Summarize,
      timeout: o.timeout ?? 60_000,
      temperature: o.temperature,
      prompts: {},
      signal: o.signal ?? new AbortController().signal,
    },
    "the prompt",
    77,
  )

test("a text is an answer, and so is a model's response, with or without a stop reason", async () => {
  const text = (said: string) => ({ type: "text", text: said })
  const answers: readonly (readonly [unknown, string])[] = [
    ["  all of it\n", "all of it"],
    [{ text: "all of it" }, "all of it"],
    [{ text: "all of it", stopReason: "end_turn" }, "all of it"],
    [{ role: "assistant", content: "all of it", stopReason: "stop" }, "all of it"],
    [{ content: [{ type: "thinking", thinking: "hm" }, text("all"), text("of it")], stopReason: "STOP" }, "all\nof it"],
    [{ text: "all of it", stopReason: "eos_token" }, "all of it"],
  ]
  for (const [answer, said] of answers) expect(await asked(async () => answer)).toBe(said)
})

test("a truncated or refused answer, or a tool call, is rejected, and the error names which", async () => {
  const call = { type: "toolCall", id: "c", name: "read", arguments: {} }
  const text = { type: "text", text: "some text" }
  const answers: readonly (readonly [object, RegExp])[] = [
    [{ text: "half of", stopReason: "length" }, /cut off by its length/],
    [{ text: "half of", stopReason: "max_tokens" }, /cut off by its length/],
    [{ text: "half of", stopReason: "MAX_TOKENS" }, /cut off by its length/],
    [{ content: [text, call] }, /called a tool/],
    [{ content: [text, { type: "tool_use", id: "c" }] }, /called a tool/],
    [{ text: "let me look", stopReason: "toolUse" }, /called a tool/],
    [{ text: "let me look", stopReason: "tool_calls" }, /called a tool/],
    [{ text: "I cannot", stopReason: "refusal" }, /refused/],
    [{ text: "I cannot", stopReason: "content_filter" }, /refused/],
    [{ text: "so far", stopReason: "aborted" }, /broke off/],
  ]
  for (const [answer, why] of answers) {
    expect(await codeOf(asked(async () => answer))).toBe("compaction_failed")
    await expect(asked(async () => answer)).rejects.toThrow(why)
  }
})

test("an empty answer is rejected", async () => {
  for (const answer of ["", " \n", undefined, null, 5, [], {}, { text: "" }, { content: [] }, { content: [{}] }]) {
    await expect(asked(async () => answer)).rejects.toThrow(/gave no text/)
  }
})

test("an error of the summarizer, immediate or later, is reported with its message and as the cause", async () => {
  const error = new Error("overloaded")
  const thrown = (): never => {
    throw error
  }
  for (const summarize of [thrown, () => Promise.reject(error)]) {
    await expect(asked(summarize)).rejects.toMatchObject({
      code: "compaction_failed",
      cause: error,
      message: expect.stringContaining("overloaded") as string,
    })
  }
})

test("a summarizer that never answers times out, and its signal fires", async () => {
  let signal: AbortSignal | undefined
  const never: Summarize = (request) => ((signal = request.signal), new Promise(() => undefined))
  await expect(asked(never, { timeout: 5 })).rejects.toThrow(/no answer within 5 ms/)
  expect(signal?.aborted).toBe(true)
})

test("a timeout longer than a timer's maximum is reduced to it", async () => {
  const slow: Summarize = () => new Promise((resolve) => setTimeout(() => resolve("said"), 10))
  for (const timeout of [2 ** 40, Number.POSITIVE_INFINITY]) expect(await asked(slow, { timeout })).toBe("said")
})

test("an abort gives `aborted`, whatever the summarizer does, and one aborted before makes no request", async () => {
  const stop = new AbortController()
  let heard: unknown
  const deaf: Summarize = ({ signal }) => {
    signal.addEventListener("abort", () => (heard = signal.reason))
    setTimeout(() => stop.abort("enough"))
    return new Promise(() => undefined)
  }
  expect(await codeOf(asked(deaf, { signal: stop.signal }))).toBe("aborted")
  expect(heard).toBe("enough")
  let calls = 0
  expect(await codeOf(asked(async () => String(calls++), { signal: stop.signal }))).toBe("aborted")
  expect(calls).toBe(0)
  const again = new AbortController()
  const rejecting = async () => (again.abort(), Promise.reject(new Error("stopped")))
  expect(await codeOf(asked(rejecting, { signal: again.signal }))).toBe("aborted")
})

test("it gets the prompts, the maximum length of the answer, and a temperature only if one is set", async () => {
  const requests: SummarizeRequest[] = []
  const summarize: Summarize = async (request) => (requests.push(request), "said")
  await asked(summarize)
  await asked(summarize, { temperature: 0 })
  expect(requests[0]).toMatchObject({ prompt: "the prompt", maxTokens: 77 })
  expect(requests[0]?.system).toContain("summarize")
  expect(requests.map((request) => request.temperature)).toEqual([undefined, 0])
  expect("temperature" in (requests[0] as object)).toBe(false)
})

test("the usage of an answer is returned if its fields are numbers", async () => {
  const cases: readonly (readonly [unknown, unknown])[] = [
    [
      { input: 10, output: 2, cost: 0.5 },
      { input: 10, output: 2, cost: 0.5 },
    ],
    [
      { totalTokens: 12, cost: { total: 0.5, input: 0.1 } },
      { totalTokens: 12, cost: 0.5 },
    ],
    [{ input: "10", output: Number.NaN, cacheRead: 3, service: "x" }, { cacheRead: 3 }],
    [{ input: "10" }, undefined],
    ["10", undefined],
  ]
  for (const [usage, kept] of cases) expect((await asking(async () => ({ text: "said", usage }))).usage).toEqual(kept)
  expect((await asking(async () => "said")).usage).toBeUndefined()
})
