/** Codex: `sessions/YYYY/MM/DD/rollout-<time>-<id>.jsonl`, older ones `.jsonl.zst`. A session of a subagent is a rollout like any other, and names its parent. */
import { join } from "node:path"
import { codex, codexPathOf } from "@sessions/formats/codex"
import { type Agent, shellWord } from "./agent.ts"

export const codexAgent: Agent = {
  format: codex,
  folder: ({ env, home }) => env["CODEX_HOME"] || join(home, ".codex"),
  isSession: (path) => /^(?:archived_)?sessions\/(?:.*\/)?rollout-[^/]*\.jsonl(?:\.zst)?$/.test(path),
  place: ({ folder, id, cwd, createdAt }) => ({
    file: join(folder, codexPathOf(id, createdAt)),
    resume: `cd ${shellWord(cwd)} && codex resume ${id}`,
  }),
}
