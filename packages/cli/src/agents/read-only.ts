/** Agents whose sessions are only read. */
import { join } from "node:path"
import { copilot } from "@sessions/formats/copilot"
import { gemini } from "@sessions/formats/gemini"
import type { Agent } from "./agent.ts"

/** `session-state/<id>/events.jsonl`, with the events of subagents. */
export const copilotAgent: Agent = {
  format: copilot,
  folder: ({ env, home }) => join(env["COPILOT_HOME"] || join(home, ".copilot"), "session-state"),
  isSession: (path) => /^[^/]+\/events\.jsonl$/.test(path),
}

/** `tmp/<project>/chats/session-<time>-<id>.jsonl`, older ones `.json`. Sessions of subagents are in folders beside them. */
export const geminiAgent: Agent = {
  format: gemini,
  folder: ({ env, home }) => join(env["GEMINI_CLI_HOME"] || home, ".gemini", "tmp"),
  isSession: (path) => /^[^/]+\/chats\/session-[^/]+\.jsonl?$/.test(path),
}
