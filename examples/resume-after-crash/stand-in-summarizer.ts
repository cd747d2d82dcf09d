/**
 * Takes the place of the model call that summarizes. A real one sends `system` and `prompt` to a model and gives back its answer;
 * this one picks what the user asked and what was answered last out of the prompt, in the form that the prompt asks for.
 */
import type { Summarize } from "@sessions/core"

export const standInSummarizer: Summarize = async ({ prompt }) => {
  const asked = linesOf(prompt, "User")
  const answered = linesOf(prompt, "Assistant")
  return [
    "## Goal",
    asked[0] ?? "(nothing was asked)",
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

/** The first line of everything that one side said, as the prompt writes it. */
function linesOf(prompt: string, speaker: string): string[] {
  return Array.from(prompt.matchAll(new RegExp(`^\\[${speaker}\\]: (.*)$`, "gm")), ([, line = ""]) =>
    line.slice(0, 200),
  )
}
