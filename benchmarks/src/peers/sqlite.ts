import { mkdirSync } from "node:fs"
import { join } from "node:path"
import type { Message } from "@sessions/core"
import { listedSession } from "./conversation.ts"
import { type Peer, SUMMARY } from "./peer.ts"

/**
 * A table of messages and one of sessions in SQLite, WAL, `synchronous = NORMAL`: a transaction survives the process, not a power failure.
 * Each append updates the row of its session, which also holds the last compaction, so that a list reads no message.
 */
export const sqlite: Peer = {
  name: "SQLite (WAL)",
  kind: "files",
  async open(folder, conversation) {
    const { kept } = conversation
    const messages = conversation.messages()
    const database = await databaseIn(folder)
    const append = appender(database, "s")
    database.exec("BEGIN")
    for (const message of messages) append(message)
    if (kept !== undefined) {
      database
        .prepare("UPDATE sessions SET first_kept = ?, summary = ? WHERE id = 's'")
        .run(messages.length - kept, SUMMARY)
    }
    database.exec("COMMIT")
    database.close()
    return async () => {
      const again = await databaseIn(folder)
      const [row] = again.prepare("SELECT first_kept, summary FROM sessions WHERE id = ?").all("s")
      const rows = again
        .prepare("SELECT json FROM entries WHERE session = ? AND seq >= ? ORDER BY seq")
        .all("s", row?.["first_kept"] ?? 0)
      const found = rows.map(({ json }) => JSON.parse(String(json)) as unknown)
      if (typeof row?.["summary"] === "string") found.unshift({ role: "user", content: row["summary"] })
      return { messages: found.length, close: () => again.close() }
    }
  },
  async append(folder) {
    const database = await databaseIn(folder)
    const append = appender(database, "s")
    return async (message) => {
      database.exec("BEGIN")
      append(message)
      database.exec("COMMIT")
    }
  },
  async list(folder, count) {
    const database = await databaseIn(folder)
    for (let i = 0; i < count; i++) {
      const append = appender(database, `s${i}`)
      for (const message of listedSession(i)) append(message)
    }
    database.close()
    return async () => {
      const again = await databaseIn(folder)
      const rows = again.prepare(LIST).all()
      const [{ first_prompt, message_count } = {}] = rows as Readonly<Record<string, unknown>>[]
      return {
        rows: rows.length,
        firstPrompt: String(first_prompt),
        messageCount: Number(message_count),
        close: () => again.close(),
      }
    }
  },
}

const SCHEMA = `
CREATE TABLE IF NOT EXISTS entries (session TEXT, seq INTEGER, json TEXT, PRIMARY KEY (session, seq));
CREATE TABLE IF NOT EXISTS sessions (
  id TEXT PRIMARY KEY, created_at INTEGER, updated_at INTEGER, message_count INTEGER, first_prompt TEXT, first_kept INTEGER, summary TEXT
);
CREATE INDEX IF NOT EXISTS newest ON sessions (updated_at)`
const LIST = "SELECT id, created_at, updated_at, message_count, first_prompt FROM sessions ORDER BY updated_at DESC, id"

/** Inserts a message and updates its session. */
function appender(database: Database, session: string): (message: Message) => void {
  const insert = database.prepare("INSERT INTO entries VALUES (?, ?, ?)")
  const create = database.prepare("INSERT INTO sessions VALUES (?, ?, ?, 0, NULL, 0, NULL)")
  const count = database.prepare(
    "UPDATE sessions SET updated_at = ?, message_count = message_count + 1, first_prompt = coalesce(first_prompt, ?) WHERE id = ?",
  )
  // With Date.now() sessions of the same millisecond would have the same time.
  const now = (): number => performance.timeOrigin + performance.now()
  create.run(session, now(), now())
  let seq = 0
  return (message) => {
    insert.run(session, seq++, JSON.stringify(message))
    const [block] = message.role === "user" ? (message.content ?? []) : []
    count.run(now(), ((block as { text?: string } | undefined)?.text ?? "").slice(0, 200) || null, session)
  }
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
  database.exec(SCHEMA)
  return database
}
