import type { SqliteDatabase } from "../src/driver/index.ts"
import { openDatabase } from "../src/driver/library.ts"

/** Opens a file with a SQLite that has no FTS5, such as that of Node 22.13. */
export function openWithoutFullText(path: string): SqliteDatabase {
  const database = openDatabase(path)
  const unknown = (sql: string): string => sql.replaceAll("fts5", "no_such_module")
  return {
    exec: (sql) => database.exec(unknown(sql)),
    prepare: (sql) => database.prepare(unknown(sql)),
    close: () => database.close(),
  }
}
