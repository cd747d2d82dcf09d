/** The validator of Anthropic's API refuses what the API refuses, and takes what its documentation shows. */
import { expect, test } from "vitest"
import { refusedByAnthropic } from "./validators/anthropic.ts"
import { BAD_ANTHROPIC, GOOD_ANTHROPIC, says, text, thinking, user } from "./validators/bad-anthropic.ts"

test("has at least 60 bad requests", () => {
  expect(new Set(BAD_ANTHROPIC.map(({ body }) => JSON.stringify(body))).size).toBeGreaterThanOrEqual(60)
})

test.each(BAD_ANTHROPIC)("refuses $name", ({ body, rule }) => {
  expect(refusedByAnthropic(body).map((one) => one.rule)).toContain(rule)
})

test.each(GOOD_ANTHROPIC)("takes $name", ({ body }) => {
  expect(refusedByAnthropic(body)).toEqual([])
})

test("takes an answer last from a model before Claude 4.6", () => {
  const messages = [user(), says(text("half"))]
  expect(refusedByAnthropic({ messages }, { prefill: true })).toEqual([])
})

test("refuses 101 images to a model with a window of 200,000 tokens", () => {
  const source = { type: "base64", media_type: "image/png", data: "iVBORw0KGgo=" }
  const images = Array.from({ length: 101 }, () => ({ type: "image", source }))
  expect(refusedByAnthropic({ messages: [user(...images)] })).toEqual([])
  expect(refusedByAnthropic({ messages: [user(...images)] }, { media: 100 }).map(({ rule }) => rule)).toEqual([
    "image_count",
  ])
})

test("refuses thinking that is not what the signature signs", () => {
  const messages = [user(), says(thinking({ thinking: "changed" }), text()), user()]
  const signed = new Map([["EqQB", "hm"]])
  expect(refusedByAnthropic({ messages }, { signed }).map(({ rule }) => rule)).toEqual(["thinking_changed"])
})
