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
    file: join(folder, folderNameOf(cwd), `${id}.jsonl`),
    resume: `cd ${shellWord(cwd)} && claude --resume ${id}`,
  }),
}

/** A longer name is cut, and gets a hash of the folder. */
const MAX_NAME = 200

function folderNameOf(cwd: string): string {
  const name = cwd.replaceAll(/[^a-zA-Z0-9]/g, "-")
  return name.length <= MAX_NAME ? name : `${name.slice(0, MAX_NAME)}-${hashOf(cwd)}`
}

/** djb2 over UTF-16 units, of which the agent takes 32 bits, in base 36. */
function hashOf(text: string): string {
  let hash = 0
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0
  return Math.abs(hash).toString(36)
}
