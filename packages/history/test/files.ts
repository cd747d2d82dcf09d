/** Histories in files. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { PromptHistory } from "@sessions/history"
import { createSqliteHistory, type SqliteHistoryOptions } from "@sessions/history/sqlite"
import { connect, type Connection } from "@sessions/sqlite/driver"
import { onTestFinished } from "vitest"

/** A path in an empty folder that goes when the test ends. */
export function newPath(): string {
  const folder = mkdtempSync(join(tmpdir(), "sessions-history-test-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, "history.db")
}

/** Closed when the test ends. */
export function openAt(path: string, o: Omit<SqliteHistoryOptions, "path"> = {}): PromptHistory {
  const history = createSqliteHistory({ ...o, path })
  onTestFinished(() => history.close())
  return history
}

/** A connection of another program; closed when the test ends. */
export function connectTo(path: string): Connection {
  const db = connect(path)
  onTestFinished(() => db.close())
  return db
}
