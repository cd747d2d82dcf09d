/** Claude Code: `projects/<folder>/<id>.jsonl`, subagents in `<id>/subagents`. The agent replaces all but letters and digits of a folder by `-`. */
import { join } from "node:path"
import { claudeCode } from "@sessions/formats/claude-code"
import { type Agent, shellWord } from "./agent.ts"

export const claudeCodeAgent: Agent = {
  format: claudeCode,
  folder: ({ env, home }) => join(env["CLAUDE_CONFIG_DIR"] || join(home, ".claude"), "projects"),
  isSession: (path) => /^[^/]+\/[^/]+\.jsonl$/.test(path) && !/\/agent-[^/]*$/.test(path),
  subagents: (file) => join(file.replace(/\.jsonl$/, ""), "subagents"),
  place: ({ folder, id, cwd }) => ({
    file: join(folder, cwd.replaceAll(/[^a-zA-Z0-9]/g, "-"), `${id}.jsonl`),
    resume: `cd ${shellWord(cwd)} && claude --resume ${id}`,
  }),
}
