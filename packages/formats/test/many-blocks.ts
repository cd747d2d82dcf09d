/** A file of Claude Code with a long answer. */
import { times } from "../../core/test/growth-of.ts"
import { claudeCode } from "../src/claude-code/index.ts"
import { recordsOf, written } from "./laws.ts"
import { say, sessionWith } from "./odd-sessions.ts"

/** How many lines the file of an answer of so many blocks has. */
export async function linesOfAnswer(blocks: number): Promise<number> {
  const content = times(blocks, () => ({ type: "text" as const, text: "a" }))
  const session = await sessionWith(say("user", "q"), { type: "message", message: { role: "assistant", content } })
  return recordsOf(await written(claudeCode, session)).length
}
