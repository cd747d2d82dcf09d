import { expect, test } from "vitest"
import {
  FIRST_SUMMARY_PROMPT,
  missingHeadings,
  SUMMARY_HEADINGS,
  summaryPrompt,
  turnPrefixPrompt,
  UPDATE_SUMMARY_PROMPT,
} from "./prompts.ts"

test("both prompts demand the headings, verbatim and in their order", () => {
  for (const prompt of [FIRST_SUMMARY_PROMPT, UPDATE_SUMMARY_PROMPT]) {
    const lines = prompt.split("\n")
    expect(lines.filter((line) => SUMMARY_HEADINGS.includes(line))).toEqual(SUMMARY_HEADINGS)
  }
})

test("a prompt is the conversation, the previous summary if there is one, what to do, and the caller's words last", () => {
  expect(summaryPrompt({ conversation: "C" })).toBe(`<conversation>\nC\n</conversation>\n\n${FIRST_SUMMARY_PROMPT}`)
  expect(summaryPrompt({ conversation: "C", previousSummary: "P", instructions: "I" })).toBe(
    `<conversation>\nC\n</conversation>\n\n<previous-summary>\nP\n</previous-summary>\n\n${UPDATE_SUMMARY_PROMPT}\n\nI`,
  )
  expect(turnPrefixPrompt({ conversation: "C", instructions: "I" })).toMatch(
    /^<conversation>\nC\n<\/conversation>\n\n[^]*## Context for Suffix[^]*\n\nI$/,
  )
})

test("headings that a summary lacks are named", () => {
  expect(missingHeadings(SUMMARY_HEADINGS.join("\n  text\n"))).toEqual([])
  expect(missingHeadings("## Goal \r\n### Done")).toEqual(
    SUMMARY_HEADINGS.filter((heading) => heading !== "## Goal" && heading !== "### Done"),
  )
  expect(missingHeadings("")).toEqual(SUMMARY_HEADINGS)
})
