/** opencode: sessions in one database, which only the agent itself writes. */
import { join } from "node:path"
import { opencode, opencodeIdOf } from "@sessions/formats/opencode"
import { shellWord, type Target } from "./agent.ts"

export const opencodeTarget: Target = {
  format: opencode,
  folder: ({ env, home }) => join(env["XDG_DATA_HOME"] || join(home, ".local", "share"), "opencode"),
  idOf: (uuid, createdAt) => opencodeIdOf({ id: uuid, timestamp: createdAt }),
  importer: ["opencode", "import"],
  place: ({ id, cwd }) => ({ file: `${id}.json`, resume: `cd ${shellWord(cwd)} && opencode --session ${id}` }),
}
