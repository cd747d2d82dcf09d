/** Claude Code: `projects/<folder>/<id>.jsonl`, subagents in `<id>/subagents`. The agent replaces all but letters and digits of a folder by `-`. */
import { join } from "node:path"
import { claudeCode } from "@sessions/formats/claude-code"
import { type Agent, type AgentSystem, shellWord, type Target } from "./agent.ts"
import { sessionFiles } from "./session-files.ts"

export const claudeCodeAgent: Agent = {
  format: claudeCode,
  sessions: (system) =>
    sessionFiles(folderOf(system), (path, all) =>
      /\/subagents\//.test(path)
        ? isOrphan(path, all)
        : /^[^/]+\/[^/]+\.jsonl$/.test(path) && !/\/agent-[^/]*$/.test(path),
    ),
  subagents: (file) => join(file.replace(/\.jsonl$/, ""), "subagents"),
}

/** A subagent whose session is in no file, as one that worked in a worktree: nothing else brings it in. */
function isOrphan(path: string, all: ReadonlySet<string>): boolean {
  const [, session] = /^([^/]+\/[^/]+)\/subagents\/(?:.*\/)?agent-[^/]*\.jsonl$/.exec(path) ?? []
  return session !== undefined && !all.has(`${session}.jsonl`)
}

export const claudeCodeTarget: Target = {
  format: claudeCode,
  place: ({ id, cwd }, system) => ({
    file: join(folderOf(system), namedFolder(system) ?? folderNameOf(cwd), `${id}.jsonl`),
    resume: `cd ${shellWord(cwd)} && claude --resume ${id}`,
  }),
}

function folderOf({ env, home }: AgentSystem): string {
  return join(env["CLAUDE_CONFIG_DIR"] || join(home, ".claude"), "projects")
}

/** The agent takes this name for every folder, if its own folder is given as well, and if it is a safe name on every system. */
function namedFolder({ env }: AgentSystem): string | undefined {
  const { CLAUDE_CONFIG_DIR: given, CLAUDE_CODE_PROJECT_DIR_NAME: name = "" } = env
  return given && /^[\w-]{1,64}$/.test(name) && !DEVICE.test(name) ? name : undefined
}

/** Names of devices on Windows. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i

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
