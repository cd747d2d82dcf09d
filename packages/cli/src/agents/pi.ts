/** pi: `sessions/<folder>/<time>_<id>.jsonl`. Core reads its files, so it is only a target. */
import { join } from "node:path"
import { pi, piPathOf } from "@sessions/formats/pi"
import { shellWord, type Target } from "./agent.ts"

export const piTarget: Target = {
  format: pi,
  place: ({ id, cwd, createdAt }, { env, home }) => ({
    file: join(env["PI_CODING_AGENT_DIR"] || join(home, ".pi", "agent"), piPathOf(id, cwd, createdAt)),
    resume: `cd ${shellWord(cwd)} && pi --session ${id}`,
  }),
}
