/**
 * A stand-in for the model call that summarizes. A real one sends `system` and `prompt` to a model and returns its answer. This one
 * takes the questions and the last answer from the prompt and puts them into the requested form.
 */
import type { Summarize } from "@sessions/core/compaction"

export const standInSummarizer: Summarize = async ({ prompt }) => {
  const asked = linesOf(prompt, "User")
  const answered = linesOf(prompt, "Assistant")
  return [
    "## Goal",
    asked[0] ?? "(no question)",
    "## Constraints & Preferences",
    "- (none)",
    "## Progress",
    "### Done",
    ...asked.slice(-5).map((line) => `- [x] ${line}`),
    "### In Progress",
    "### Blocked",
    "## Key Decisions",
    "## Next Steps",
    "## Critical Context",
    `- ${answered.at(-1) ?? "(none)"}`,
  ].join("\n")
}

/** The first line of each message of one role in the prompt. */
function linesOf(prompt: string, speaker: string): string[] {
  return Array.from(prompt.matchAll(new RegExp(`^\\[${speaker}\\]: (.*)$`, "gm")), ([, line = ""]) =>
    line.slice(0, 200),
  )
}
