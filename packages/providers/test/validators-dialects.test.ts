/** The validators of providers with the API of Chat Completions refuse what these refuse, and take what their documentation shows. */
import { describe, expect, test } from "vitest"
import { called, callOf, result, user } from "./validators/bad-chat.ts"
import {
  BAD_DEEPSEEK,
  BAD_GOOGLE,
  BAD_KIMI,
  BAD_MISTRAL,
  BAD_OPENROUTER,
  BAD_STRICT,
} from "./validators/bad-dialects.ts"
import { refusedByDeepSeek } from "./validators/deepseek.ts"
import { GOOD_DEEPSEEK, GOOD_GOOGLE, GOOD_KIMI, GOOD_MISTRAL, GOOD_OPENROUTER, GOOD_STRICT } from "./validators/good.ts"
import { refusedByGoogleChat } from "./validators/google-chat.ts"
import { refusedByKimi } from "./validators/kimi.ts"
import { refusedByMistral } from "./validators/mistral.ts"
import { refusedByOpenRouter } from "./validators/openrouter.ts"
import { refusedByStrictTemplate } from "./validators/strict-template.ts"

const PROVIDERS = [
  { provider: "Mistral", refused: refusedByMistral, bad: BAD_MISTRAL, good: GOOD_MISTRAL },
  { provider: "DeepSeek", refused: refusedByDeepSeek, bad: BAD_DEEPSEEK, good: GOOD_DEEPSEEK },
  { provider: "Kimi", refused: refusedByKimi, bad: BAD_KIMI, good: GOOD_KIMI },
  { provider: "OpenRouter", refused: refusedByOpenRouter, bad: BAD_OPENROUTER, good: GOOD_OPENROUTER },
  { provider: "Google's endpoint", refused: refusedByGoogleChat, bad: BAD_GOOGLE, good: GOOD_GOOGLE },
  { provider: "strict templates", refused: refusedByStrictTemplate, bad: BAD_STRICT, good: GOOD_STRICT },
] as const

describe.each(PROVIDERS)("$provider", ({ refused, bad, good }) => {
  test("has at least 20 bad requests", () => {
    expect(new Set(bad.map(({ body }) => JSON.stringify(body))).size).toBeGreaterThanOrEqual(20)
  })
  test.each(bad)("refuses $name", ({ body, rule }) => {
    expect(refused(body).map((one) => one.rule)).toContain(rule)
  })
  test.each(good)("takes $name", ({ body }) => {
    expect(refused(body)).toEqual([])
  })
})

test("OpenRouter refuses reasoning that is not the one which it gave with the calls", () => {
  const text = (words: string) => ({ type: "reasoning.text", text: words, signature: "SIG", index: 0 })
  const sent = (...details: readonly object[]) => ({
    messages: [user(), { ...called(callOf()), reasoning_details: details }, result()],
  })
  const given = [{ ...called(callOf()), reasoning_details: [text("a"), text("b")] }]
  expect(refusedByOpenRouter(sent(text("a"), text("b")), { given })).toEqual([])
  for (const changed of [[text("a")], [text("b"), text("a")], [text("a"), text("c")]])
    expect(refusedByOpenRouter(sent(...changed), { given })).toMatchObject([{ rule: "details_changed" }])
})

test("Google refuses a signature that it has not given", () => {
  const sent = (signature: string) => {
    const extra = { extra_content: { google: { thought_signature: signature } } }
    return { messages: [user(), called({ ...callOf(), ...extra }), { ...result(), name: "weather" }] }
  }
  const given = new Set(["SIG"])
  expect(refusedByGoogleChat(sent("SIG"), { given })).toEqual([])
  expect(refusedByGoogleChat(sent("skip_thought_signature_validator"), { given })).toEqual([])
  expect(refusedByGoogleChat(sent("SIg"), { given })).toMatchObject([{ rule: "signature_changed" }])
})
