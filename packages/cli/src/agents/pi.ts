/** pi: `sessions/<folder>/<time>_<id>.jsonl`. Core reads its files, so it is only a target. */
import { join } from "node:path"
import { pi, piPathOf } from "@sessions/formats/pi"
import { shellWord, type Target } from "./agent.ts"

export const piTarget: Target = {
  format: pi,
  folder: ({ env, home }) => env["PI_CODING_AGENT_DIR"] || join(home, ".pi", "agent"),
  place: ({ folder, id, cwd, createdAt }) => ({
    file: join(folder, piPathOf(id, cwd, createdAt)),
    resume: `cd ${shellWord(cwd)} && pi --session ${id}`,
  }),
}
