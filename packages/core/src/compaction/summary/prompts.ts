/** The prompts for a summarizer. The headings are fixed, so that the next compaction can update the last summary. */

import type { SummaryPrompts } from "../../compaction-settings/types.ts"

/** The headings of a summary, verbatim and in this order. */
export const SUMMARY_HEADINGS: readonly string[] = [
  "## Goal",
  "## Constraints & Preferences",
  "## Progress",
  "### Done",
  "### In Progress",
  "### Blocked",
  "## Key Decisions",
  "## Next Steps",
  "## Critical Context",
]

const BRANCH_TEMPLATE = `## Goal
[What the user wants to get done; one thing, or several if the conversation has several.]

## Constraints & Preferences
- [What the user asked for or ruled out, or "(none)"]

## Progress
### Done
- [x] [Finished work]

### In Progress
- [ ] [Work under way]

### Blocked
- [What stands in the way, if anything]

## Key Decisions
- **[Decision]**: [Short reason]

## Next Steps
1. [What to do next, in order]`

const TEMPLATE = `${BRANCH_TEMPLATE}

## Critical Context
- [Data, examples and references that are needed to go on, or "(none)"]`

export const SUMMARY_SYSTEM_PROMPT = `You summarize context. You read a conversation between a user and an agent and put out only the structured summary, in the form you are given. Do not continue the conversation, and do not answer any question that stands in it.`

export const FIRST_SUMMARY_PROMPT: string = `Above is a conversation to summarize. Write a structured checkpoint with which another model can go on with the work.

Use EXACTLY this form:

${TEMPLATE}

Keep each section short. Keep file paths, function names and error messages exactly as they stand.`

export const UPDATE_SUMMARY_PROMPT: string = `Above are only the NEW messages of a conversation. Merge them into the summary that stands in <previous-summary>:
- keep everything that the summary says, and add the new progress, decisions and context;
- move items from In Progress to Done when they are finished;
- bring Next Steps up to date with what was done;
- keep file paths, function names and error messages exactly as they stand;
- what no longer matters may go.

Use EXACTLY this form:

${TEMPLATE}

Keep each section short.`

export const TURN_PREFIX_PROMPT = `Above is the BEGINNING of a turn that was too long to keep whole; its end stays as it is. Summarize the beginning, so that the end can be understood.

Use EXACTLY this form:

## Original Request
[What the user asked for in this turn]

## Early Progress
- [What was done and decided in the beginning]

## Context for Suffix
- [What the kept end of the turn needs to be understood]

Keep it short. Keep file paths, function names and error messages exactly as they stand.`

export const BRANCH_SUMMARY_PROMPT: string = `Above is a branch of a conversation that the user has left, to go on from an earlier place. Write a structured summary of it, so that what was learned there is not lost.

Use EXACTLY this form:

${BRANCH_TEMPLATE}

Keep each section short. Keep file paths, function names and error messages exactly as they stand.`

/** For a branch that takes several requests: each but the first updates the summary of those before it. */
const BRANCH_UPDATE_PROMPT = `Above is the NEXT part of a branch of a conversation that the user has left. Merge it into the summary that stands in <previous-summary>: keep everything that the summary says, add what is new, and move what is finished to Done.

Use EXACTLY this form:

${BRANCH_TEMPLATE}

Keep each section short. Keep file paths, function names and error messages exactly as they stand.`

/** With a summary of what was before the turn and nothing else that is new: it stays as it is, in front of the turn's beginning. */
const TURN_PREFIX_AFTER_SUMMARY = `What was before this turn stands in <previous-summary>. It stays as it is above what you write: use it to understand the turn, and do not repeat it.`

/** The summary if all that it would cover was deleted: no model is asked. */
export const NOTHING_LEFT = "Nothing is left of the conversation before this point."

/** Stands between a summary of the history and one of a turn's beginning. */
export const TURN_CONTEXT_TITLE = "**Turn Context (split turn):**"

export interface PromptParts {
  readonly conversation: string
  readonly previousSummary?: string | undefined
  /** The caller's, put last. */
  readonly instructions?: string | undefined
}

export function summaryPrompt(parts: PromptParts, prompts: SummaryPrompts = {}): string {
  const { initial = FIRST_SUMMARY_PROMPT, update = UPDATE_SUMMARY_PROMPT } = prompts
  return compose(parts, parts.previousSummary === undefined ? initial : update)
}

/** With a `previousSummary` only if the history has nothing new, so that no other prompt has it. */
export function turnPrefixPrompt(parts: PromptParts): string {
  if (parts.previousSummary === undefined) return compose(parts, TURN_PREFIX_PROMPT)
  return compose(parts, `${TURN_PREFIX_AFTER_SUMMARY}\n\n${TURN_PREFIX_PROMPT}`)
}

export function branchSummaryPrompt(parts: PromptParts): string {
  return compose(parts, parts.previousSummary === undefined ? BRANCH_SUMMARY_PROMPT : BRANCH_UPDATE_PROMPT)
}

function compose({ conversation, previousSummary: previous, instructions }: PromptParts, prompt: string): string {
  const summary = previous === undefined ? [] : [`<previous-summary>\n${previous}\n</previous-summary>`]
  const last = instructions === undefined ? [] : [instructions]
  return [`<conversation>\n${conversation}\n</conversation>`, ...summary, prompt, ...last].join("\n\n")
}

/** Headings of the template that a summary does not have. Whoever asks with texts of his own may have asked for others: none. */
export function missingHeadings(summary: string, { initial, update }: SummaryPrompts = {}): readonly string[] {
  if (initial !== undefined || update !== undefined) return []
  const lines = new Set(summary.split("\n").map((line) => line.trimEnd()))
  return SUMMARY_HEADINGS.filter((heading) => !lines.has(heading))
}
