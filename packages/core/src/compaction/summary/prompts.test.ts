import { expect, test } from "vitest"
import {
  BRANCH_SUMMARY_PROMPT,
  branchSummaryPrompt,
  FIRST_SUMMARY_PROMPT,
  missingHeadings,
  SUMMARY_HEADINGS,
  SUMMARY_SYSTEM_PROMPT,
  summaryPrompt,
  TURN_PREFIX_PROMPT,
  turnPrefixPrompt,
  UPDATE_SUMMARY_PROMPT,
} from "./prompts.ts"

test("a summary has these headings", () => {
  expect(SUMMARY_HEADINGS).toEqual([
    "## Goal",
    "## Constraints & Preferences",
    "## Progress",
    "### Done",
    "### In Progress",
    "### Blocked",
    "## Key Decisions",
    "## Next Steps",
    "## Critical Context",
  ])
})

test("both prompts demand the headings, verbatim and in their order, with the form of each list", () => {
  for (const prompt of [FIRST_SUMMARY_PROMPT, UPDATE_SUMMARY_PROMPT]) {
    expect(headingsOf(prompt)).toEqual(SUMMARY_HEADINGS)
    expect(prompt).toContain("EXACTLY")
    expect(sectionOf(prompt, "## Constraints & Preferences")).toMatch(/^- /)
    expect(sectionOf(prompt, "### Done")).toMatch(/^- \[x\] /)
    expect(sectionOf(prompt, "### In Progress")).toMatch(/^- \[ \] /)
    expect(sectionOf(prompt, "### Blocked")).toMatch(/^- /)
    expect(sectionOf(prompt, "## Key Decisions")).toMatch(/^- \*\*.+\*\*: /)
    expect(sectionOf(prompt, "## Next Steps")).toMatch(/^1\. /)
    expect(sectionOf(prompt, "## Critical Context")).toMatch(/^- /)
    expect(prompt).toMatch(/each section short/)
    for (const exact of ["file paths", "function names", "error messages", "exactly as they stand"])
      expect(prompt).toContain(exact)
  }
})

test("the system prompt asks for the structured summary only, and for no answer", () => {
  for (const rule of [/summarize context/, /between a user and an agent/, /only the structured summary/])
    expect(SUMMARY_SYSTEM_PROMPT).toMatch(rule)
  expect(SUMMARY_SYSTEM_PROMPT).toMatch(/not continue the conversation/)
  expect(SUMMARY_SYSTEM_PROMPT).toMatch(/not answer any question/)
})

test("the first prompt asks for a checkpoint from which another model can continue", () => {
  expect(FIRST_SUMMARY_PROMPT).toMatch(/conversation to summarize.*structured checkpoint.*another model can go on/s)
})

test("an update keeps what the summary says, moves what is finished to Done, and keeps paths, names and errors exactly", () => {
  for (const rule of [
    /keep everything that the summary says/,
    /move items from In Progress to Done/,
    /bring Next Steps up to date/,
    /keep file paths, function names and error messages exactly/,
  ])
    expect(UPDATE_SUMMARY_PROMPT).toMatch(rule)
})

test("a prompt is the conversation, the previous summary if there is one, the instructions, and the caller's instructions last", () => {
  expect(summaryPrompt({ conversation: "C" })).toBe(`<conversation>\nC\n</conversation>\n\n${FIRST_SUMMARY_PROMPT}`)
  expect(summaryPrompt({ conversation: "C", previousSummary: "P", instructions: "I" })).toBe(
    `<conversation>\nC\n</conversation>\n\n<previous-summary>\nP\n</previous-summary>\n\n${UPDATE_SUMMARY_PROMPT}\n\nI`,
  )
  expect(turnPrefixPrompt({ conversation: "C", instructions: "I" })).toBe(
    `<conversation>\nC\n</conversation>\n\n${TURN_PREFIX_PROMPT}\n\nI`,
  )
  expect(branchSummaryPrompt({ conversation: "C", instructions: "I" })).toBe(
    `<conversation>\nC\n</conversation>\n\n${BRANCH_SUMMARY_PROMPT}\n\nI`,
  )
})

test("a turn's beginning has its own short form, with the previous summary as background if no other prompt has it", () => {
  expect(headingsOf(TURN_PREFIX_PROMPT)).toEqual(["## Original Request", "## Early Progress", "## Context for Suffix"])
  expect(TURN_PREFIX_PROMPT).toContain("EXACTLY")
  const prompt = turnPrefixPrompt({ conversation: "C", previousSummary: "P" })
  expect(prompt).toContain("</conversation>\n\n<previous-summary>\nP\n</previous-summary>\n\n")
  expect(prompt).toMatch(/stays as it is.*do not repeat it/s)
  expect(prompt.endsWith(TURN_PREFIX_PROMPT)).toBe(true)
})

test("a branch's summary has the same form without critical context", () => {
  expect(headingsOf(BRANCH_SUMMARY_PROMPT)).toEqual(SUMMARY_HEADINGS.slice(0, -1))
  expect(BRANCH_SUMMARY_PROMPT).toContain("EXACTLY")
})

test("missing headings of a summary are named", () => {
  expect(missingHeadings(SUMMARY_HEADINGS.join("\n  text\n"))).toEqual([])
  expect(missingHeadings("## Goal \r\n### Done")).toEqual(
    SUMMARY_HEADINGS.filter((heading) => heading !== "## Goal" && heading !== "### Done"),
  )
  expect(missingHeadings("")).toEqual(SUMMARY_HEADINGS)
})

function headingsOf(prompt: string): string[] {
  return prompt.split("\n").filter((line) => line.startsWith("#"))
}

/** The text below a heading. */
function sectionOf(prompt: string, heading: string): string {
  return prompt.split(`${heading}\n`)[1] ?? ""
}
