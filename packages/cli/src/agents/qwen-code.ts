/** Qwen Code: `projects/<folder>/chats/<id>.jsonl`, archived ones in `chats/archive`, subagents in `projects/<folder>/subagents/<id>`. */
import { basename, dirname, join } from "node:path"
import { qwenCode } from "@sessions/formats/qwen-code"
import type { Agent } from "./agent.ts"
import { sessionFiles } from "./session-files.ts"

export const qwenCodeAgent: Agent = {
  format: qwenCode,
  sessions: ({ env, home }) =>
    sessionFiles(join(env["QWEN_RUNTIME_DIR"] || join(home, ".qwen"), "projects"), (path) =>
      /^[^/]+\/chats\/(?:archive\/)?[^/]+\.jsonl$/.test(path),
    ),
  subagents: (file) => join(projectOf(dirname(file)), "subagents", basename(file, ".jsonl")),
}

function projectOf(folder: string): string {
  return dirname(basename(folder) === "archive" ? dirname(folder) : folder)
}
