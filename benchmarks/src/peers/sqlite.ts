import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { Message } from "@sessions/core"
import { hello } from "./ours.ts"
import type { Peer } from "./peer.ts"

/** One table of messages in SQLite, WAL, `synchronous = NORMAL`: a transaction survives the process, not a power failure. */
export const sqlite: Peer = {
  name: "SQLite (WAL)",
  kind: "files",
  async open(folder, { messages, kept }) {
    const database = await databaseIn(folder)
    const insert = database.prepare("INSERT INTO entries VALUES (?, ?, ?)")
    database.exec("BEGIN")
    for (const [seq, message] of messages.entries()) insert.run("s", seq, JSON.stringify(message))
    database.exec("COMMIT")
    database.close()
    const first = kept === undefined ? 0 : messages.length - kept
    return async () => {
      const again = await databaseIn(folder)
      const rows = again.prepare("SELECT json FROM entries WHERE session = ? AND seq >= ? ORDER BY seq").all("s", first)
      const found = rows.map(({ json }) => JSON.parse(String(json)) as unknown).length
      again.close()
      return found
    }
  },
  async append(folder) {
    const insert = (await databaseIn(folder)).prepare("INSERT INTO entries VALUES (?, ?, ?)")
    let seq = 0
    return async (message: Message) => insert.run("s", seq++, JSON.stringify(message))
  },
  async list(folder, count) {
    const database = await databaseIn(folder)
    const insert = database.prepare("INSERT INTO entries VALUES (?, ?, ?)")
    for (let i = 0; i < count; i++) insert.run(`s${i}`, 0, JSON.stringify(hello(i)))
    const rows = "SELECT session, count(*) AS messages FROM entries GROUP BY session"
    return async () => database.prepare(rows).all().length
  },
}

interface Database {
  exec(sql: string): void
  prepare(sql: string): {
    run(...values: unknown[]): unknown
    all(...values: unknown[]): readonly Readonly<Record<string, unknown>>[]
  }
  close(): void
}

async function databaseIn(folder: string): Promise<Database> {
  mkdirSync(folder, { recursive: true })
  const name: string = "node:sqlite"
  const { DatabaseSync } = (await import(name)) as { DatabaseSync: new (path: string) => Database }
  const database = new DatabaseSync(join(folder, "sessions.db"))
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
  database.exec("CREATE TABLE IF NOT EXISTS entries (session TEXT, seq INTEGER, json TEXT, PRIMARY KEY (session, seq))")
  return database
}
