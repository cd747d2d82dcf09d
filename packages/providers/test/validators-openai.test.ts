/** The validators of OpenAI's APIs refuse what the APIs refuse, and take what their documentation shows. */
import { describe, expect, test } from "vitest"
import { BAD_CHAT, says, user } from "./validators/bad-chat.ts"
import { answers, asks, BAD_RESPONSES, calls, outputs, reasons } from "./validators/bad-responses.ts"
import { GOOD_CHAT, GOOD_RESPONSES } from "./validators/good.ts"
import { refusedByOpenAIChat } from "./validators/openai-chat.ts"
import { refusedByOpenAIResponses } from "./validators/openai-responses.ts"

const APIS = [
  { api: "Chat Completions", refused: refusedByOpenAIChat, bad: BAD_CHAT, good: GOOD_CHAT },
  { api: "Responses", refused: refusedByOpenAIResponses, bad: BAD_RESPONSES, good: GOOD_RESPONSES },
] as const

describe.each(APIS)("$api", ({ refused, bad, good }) => {
  test("has at least 60 bad requests", () => {
    expect(new Set(bad.map(({ body }) => JSON.stringify(body))).size).toBeGreaterThanOrEqual(60)
  })
  test.each(bad)("refuses $name", ({ body, rule }) => {
    expect(refused(body).map((one) => one.rule)).toContain(rule)
  })
  test.each(good)("takes $name", ({ body }) => {
    expect(refused(body)).toEqual([])
  })
})

test("Chat Completions refuses audio that it has no longer", () => {
  const body = { messages: [user(), says(null, { audio: { id: "audio_1" } }), user()] }
  expect(refusedByOpenAIChat(body)).toEqual([])
  expect(refusedByOpenAIChat(body, { forgotten: new Set(["audio_1"]) })).toMatchObject([{ rule: "forgotten_audio" }])
})

describe("Responses, after answers that it has given", () => {
  const given = [[reasons(), answers(undefined, { id: "msg_1" })]]
  const rulesOf = (...input: readonly object[]) =>
    refusedByOpenAIResponses({ input: [asks(), ...input, asks()], store: false }, { given }).map(({ rule }) => rule)

  test("takes them as they were", () => {
    expect(rulesOf(...(given[0] ?? []))).toEqual([])
    expect(rulesOf(...(given[0] ?? []), calls(), outputs())).toEqual([])
  })
  test("refuses an item that has lost its reasoning", () => {
    expect(rulesOf(answers(undefined, { id: "msg_1" }))).toEqual(["without_reasoning"])
  })
  test("refuses a reasoning whose encryption is of another item or another server", () => {
    expect(rulesOf(reasons("rs_2"), answers())).toEqual(["foreign_encryption"])
    expect(rulesOf(reasons("rs_1", { encrypted_content: "x" }), answers())).toEqual(["foreign_encryption"])
  })
})
