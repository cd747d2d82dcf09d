/** GitHub Copilot CLI: `session-state/<id>/events.jsonl`, with the events of subagents. */
import { join } from "node:path"
import { copilot } from "@sessions/formats/copilot"
import type { Agent } from "./agent.ts"
import { sessionFiles } from "./session-files.ts"

export const copilotAgent: Agent = {
  format: copilot,
  sessions: ({ env, home }) =>
    sessionFiles(join(env["COPILOT_HOME"] || join(home, ".copilot"), "session-state"), (path) =>
      /^[^/]+\/events\.jsonl$/.test(path),
    ),
}
