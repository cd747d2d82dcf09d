/** Adds what a person says in a session to a history. */
import type { Entry, Session } from "@sessions/core"
import type { PromptHistory } from "./types.ts"

/**
 * Adds the user messages that this session appends from now on, once they are acknowledged, with the folder of the session. Messages that
 * are synthetic or summaries are left out, and so are those of other writers. Returns the function that stops it; closing the session
 * stops it too.
 */
export function recordPrompts(
  session: Pick<Session, "header" | "on">,
  history: Pick<PromptHistory, "add">,
): () => void {
  return session.on("appended", ({ entries }) => {
    for (const entry of entries) {
      const prompt = promptOf(entry)
      if (prompt === undefined) continue
      const { cwd } = session.header
      history.add(prompt, cwd === undefined ? {} : { cwd })
    }
  })
}

function promptOf(entry: Entry): string | undefined {
  if (entry.type !== "message") return undefined
  const { role, content, synthetic, summary } = entry.message
  if (role !== "user" || synthetic === true || summary === true || !Array.isArray(content)) return undefined
  return content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n")
}
