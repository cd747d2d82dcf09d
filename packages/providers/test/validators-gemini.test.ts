/** The validator of the Gemini API refuses what the API refuses, and takes what its documentation shows. */
import { expect, test } from "vitest"
import { BAD_GEMINI, GOOD_GEMINI } from "./validators/bad-gemini.ts"
import { refusedByGemini } from "./validators/gemini.ts"

test("has at least 60 bad requests", () => {
  expect(new Set(BAD_GEMINI.map(({ body, server }) => JSON.stringify([body, server]))).size).toBeGreaterThanOrEqual(60)
})

test.each(BAD_GEMINI)("refuses $name", ({ body, rule, server }) => {
  expect(refusedByGemini(body, server).map((one) => one.rule)).toContain(rule)
})

test.each(GOOD_GEMINI)("takes $name", ({ body, server }) => {
  expect(refusedByGemini(body, server)).toEqual([])
})
