/** opencode: sessions in one database, which only the agent itself writes. It imports a session with a command of its own. */
import { existsSync } from "node:fs"
import { isAbsolute, join } from "node:path"
import { opencode, opencodeDocument, opencodeIdOf, opencodeSessions } from "@sessions/formats/opencode"
import { type Connection, connectReadOnly } from "@sessions/sqlite/driver"
import { type Agent, type AgentSystem, type FoundSession, shellWord, type Target } from "./agent.ts"

export const opencodeAgent: Agent = {
  format: opencode,
  async sessions(system) {
    const database = databaseOf(system)
    if (!existsSync(database)) return []
    const db = connectReadOnly(database)
    try {
      return opencodeSessions(db).map(
        ({ id, title, cwd, updatedAt, bytes, parentId }): FoundSession => ({
          file: `${database}#${id}`,
          bytes,
          modifiedAt: updatedAt ?? new Date(0).toISOString(),
          described: { id, ...(cwd === undefined ? {} : { cwd }), ...(title === undefined ? {} : { title }) },
          read: () => documentOf(database, id),
          isSubagent: parentId !== undefined,
        }),
      )
    } finally {
      db.close()
    }
  },
}

export const opencodeTarget: Target = {
  format: opencode,
  idOf: (uuid, createdAt) => opencodeIdOf({ id: uuid, timestamp: createdAt }),
  importer: ["opencode", "import"],
  place: ({ id, cwd }) => ({ file: `${id}.json`, resume: `cd ${shellWord(cwd)} && opencode --session ${id}` }),
}

function databaseOf({ env, home }: AgentSystem): string {
  const folder = join(env["XDG_DATA_HOME"] || join(home, ".local", "share"), "opencode")
  const given = env["OPENCODE_DB"] || "opencode.db"
  return isAbsolute(given) ? given : join(folder, given)
}

async function* documentOf(database: string, id: string): AsyncGenerator<string, void, undefined> {
  const db: Connection = connectReadOnly(database)
  try {
    yield* opencodeDocument(db, id)
  } finally {
    db.close()
  }
}
