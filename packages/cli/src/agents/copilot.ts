/** GitHub Copilot CLI: `session-state/<id>/events.jsonl`, with the events of subagents. */
import { join } from "node:path"
import { copilot, copilotPathOf } from "@sessions/formats/copilot"
import { type Agent, type AgentSystem, shellWord, type Target } from "./agent.ts"
import { sessionFiles } from "./session-files.ts"

export const copilotAgent: Agent = {
  format: copilot,
  sessions: (system) =>
    sessionFiles(join(folderOf(system), "session-state"), (path) => /^[^/]+\/events\.jsonl$/.test(path)),
}

export const copilotTarget: Target = {
  format: copilot,
  place: ({ id, cwd }, system) => ({
    file: join(folderOf(system), copilotPathOf(id)),
    resume: `cd ${shellWord(cwd)} && copilot --resume=${id}`,
  }),
}

function folderOf({ env, home }: AgentSystem): string {
  return env["COPILOT_HOME"] || join(home, ".copilot")
}
