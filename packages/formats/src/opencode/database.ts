/**
 * Reads sessions from the SQLite database in which opencode keeps them (`opencode.db` in `$XDG_DATA_HOME/opencode` or
 * `~/.local/share/opencode`), as the documents that `opencode export` writes. Only reads; the caller opens the database.
 */
import { SessionError } from "@sessions/core"
import { type Fields, fieldsOf, isObject, jsonOf, numberOf, stringOf, timestampOf } from "../base/values.ts"

/** What is used of a connection. That of `@sessions/sqlite/driver` is one, and so is a `Database` of Bun. */
export interface OpencodeDatabase {
  query(sql: string): { all(...values: string[]): unknown[] }
}

export interface OpencodeSession {
  readonly id: string
  readonly title?: string
  readonly cwd?: string
  /** ISO 8601. */
  readonly updatedAt?: string
  /** The id of the session whose tool made it. */
  readonly parentId?: string
  /** The size of its messages and their parts. */
  readonly bytes: number
}

/** The sessions of the database, the latest first. `not_a_session` if it has no table of them. */
export function opencodeSessions(db: OpencodeDatabase): readonly OpencodeSession[] {
  const sizes = new Map<unknown, number>()
  for (const table of ["message", "part"])
    for (const { id, bytes } of rowsOf(
      db,
      `SELECT session_id AS id, ${SIZE} AS bytes FROM ${table} GROUP BY session_id`,
    ))
      sizes.set(id, (sizes.get(id) ?? 0) + (numberOf(bytes) ?? 0))
  return rowsOf(db, "SELECT * FROM session ORDER BY time_updated DESC, id").flatMap((row) => {
    const { id, title, directory, time_updated: updated, parent_id: parent } = row
    const updatedAt = timestampOf(updated)
    if (typeof id !== "string") return []
    return [
      {
        id,
        ...(typeof title === "string" && title !== "" ? { title } : {}),
        ...(typeof directory === "string" ? { cwd: directory } : {}),
        ...(updatedAt === undefined ? {} : { updatedAt }),
        ...(typeof parent === "string" ? { parentId: parent } : {}),
        bytes: sizes.get(id) ?? 0,
      },
    ]
  })
}

/** In bytes: the length of a text is that in characters. */
const SIZE = "SUM(LENGTH(CAST(data AS BLOB)))"

/**
 * The document of a session in pieces, to import with `opencode`. Reads the database when the first piece is asked for, and at each call
 * again. `not_found` if it has no such session.
 */
export async function* opencodeDocument(db: OpencodeDatabase, id: string): AsyncGenerator<string, void, undefined> {
  const [session] = rowsOf(db, "SELECT * FROM session WHERE id = ?", id)
  if (session === undefined) {
    throw new SessionError("not_found", `The database of opencode has no session ${id}.`)
  }
  const parts = new Map<unknown, unknown[]>()
  const messages = rowsOf(db, "SELECT * FROM message WHERE session_id = ? ORDER BY time_created, id", id)
  for (const row of rowsOf(db, "SELECT * FROM part WHERE session_id = ? ORDER BY message_id, id", id)) {
    const part = dataOf(row, { id: row["id"], sessionID: id, messageID: row["message_id"] })
    const others = parts.get(row["message_id"])
    if (others === undefined) parts.set(row["message_id"], [part])
    else others.push(part)
  }
  yield `{"info":${jsonOf(infoOf(session))},"messages":[`
  for (const [i, row] of messages.entries()) {
    const info = dataOf(row, { id: row["id"], sessionID: id })
    yield `${i === 0 ? "\n" : ",\n"}${jsonOf({ info, parts: parts.get(row["id"]) ?? [] })}`
  }
  yield "\n]}\n"
}

function rowsOf(db: OpencodeDatabase, sql: string, ...values: string[]): readonly Fields[] {
  try {
    return db
      .query(sql)
      .all(...values)
      .map(fieldsOf)
  } catch (cause) {
    const message = "The file is no database of opencode: its sessions cannot be read."
    throw new SessionError("not_a_session", message, { cause })
  }
}

/** The column `data`; its text if it is no JSON object, which the importer keeps. */
function dataOf({ data }: Fields, ids: Fields): unknown {
  const value = jsonColumn(data)
  return isObject(value) ? { ...value, ...ids } : data
}

function jsonColumn(value: unknown): unknown {
  if (typeof value !== "string") return undefined
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/** The columns of a session under the names of the document. opencode leaves out those that are NULL. */
function infoOf(row: Fields): Fields {
  const own = (names: Readonly<Record<string, unknown>>): Fields =>
    Object.fromEntries(Object.entries(names).filter(([, value]) => value !== null && value !== undefined))
  const count = (name: string): number => numberOf(row[name]) ?? 0
  const hasSummary = ["additions", "deletions", "files"].some((name) => numberOf(row[`summary_${name}`]) !== undefined)
  const summary = {
    additions: count("summary_additions"),
    deletions: count("summary_deletions"),
    files: count("summary_files"),
    ...own({ diffs: jsonColumn(row["summary_diffs"]) }),
  }
  const url = stringOf(row["share_url"])
  return own({
    id: row["id"],
    slug: row["slug"],
    projectID: row["project_id"],
    workspaceID: row["workspace_id"],
    directory: row["directory"],
    path: row["path"],
    parentID: row["parent_id"],
    title: row["title"],
    agent: row["agent"],
    model: jsonColumn(row["model"]),
    version: row["version"],
    summary: hasSummary ? summary : undefined,
    cost: row["cost"],
    tokens: {
      input: count("tokens_input"),
      output: count("tokens_output"),
      reasoning: count("tokens_reasoning"),
      cache: { read: count("tokens_cache_read"), write: count("tokens_cache_write") },
    },
    share: url === undefined ? undefined : { url },
    metadata: jsonColumn(row["metadata"]),
    revert: jsonColumn(row["revert"]),
    permission: jsonColumn(row["permission"]),
    time: own({
      created: row["time_created"],
      updated: row["time_updated"],
      compacting: row["time_compacting"],
      archived: row["time_archived"],
    }),
  })
}
