/** opencode: sessions in one database, which only the agent itself writes. It imports a session with a command of its own. */
import { existsSync } from "node:fs"
import { open } from "node:fs/promises"
import { isAbsolute, join } from "node:path"
import { opencode, opencodeDocument, opencodeIdOf, opencodeSessions } from "@sessions/formats/opencode"
import { type Connection, connectReadOnly } from "@sessions/sqlite/driver"
import { type Agent, type AgentSystem, type FoundSession, shellWord, type Target } from "./agent.ts"

export const opencodeAgent: Agent = {
  format: opencode,
  async sessions(system) {
    const database = databaseOf(system)
    return existsSync(database) ? sessionsOfDatabase(database) : []
  },
}

/** Rejects with an error of SQLite if the database is not opencode's. */
export function sessionsOfDatabase(database: string): readonly FoundSession[] {
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
}

/** Whether a file begins as a SQLite database does: https://www.sqlite.org/fileformat.html, section 1.3. */
export async function isDatabase(file: string): Promise<boolean> {
  const handle = await open(file).catch(() => undefined)
  if (handle === undefined) return false
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(SQLITE.length), 0, SQLITE.length, 0)
    return buffer.toString("latin1", 0, bytesRead) === SQLITE
  } catch {
    // A folder, which another error names.
    return false
  } finally {
    await handle.close()
  }
}

const SQLITE = "SQLite format 3\0"

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
