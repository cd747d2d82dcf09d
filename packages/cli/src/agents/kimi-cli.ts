/** Kimi CLI: `sessions/<MD5 of the folder>/<id>/context.jsonl`, older ones `<id>.jsonl`; subagents in `<id>/subagents/<agent>`. */
import { basename, dirname, join } from "node:path"
import { kimiCli } from "@sessions/formats/kimi-cli"
import type { Agent } from "./agent.ts"
import { sessionFiles } from "./session-files.ts"

export const kimiCliAgent: Agent = {
  format: kimiCli,
  sessions: ({ env, home }) =>
    sessionFiles(join(env["KIMI_SHARE_DIR"] || join(home, ".kimi"), "sessions"), (path) =>
      /^[^/]+\/[^/]+(?:\/context)?\.jsonl$/.test(path),
    ),
  subagents: (file) => (basename(file) === "context.jsonl" ? join(dirname(file), "subagents") : file),
  isSubagent: (path) => /^[^/]+\/context\.jsonl$/.test(path),
}
