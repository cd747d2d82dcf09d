/** A SQLite library that injects faults, for the conformance suite. */
import type { SqliteDatabase, SqliteStatement } from "@sessions/sqlite"
import { openDatabase } from "../src/driver/library.ts"

/** How many of the next write transactions fail, by fault. */
export interface Faults {
  busy?: number
  full?: number
  /** The COMMIT fails before it is executed, or after. */
  lostBefore?: number
  lostAfter?: number
  /** Lines cannot be removed. */
  removal?: number
}

/** Opens files with `open` and the faults injected. Every statement fails once the process is dead. */
export function withFaults(
  faults: Faults,
  process: { readonly dead: boolean },
  open: (path: string) => SqliteDatabase = openDatabase,
): (path: string) => SqliteDatabase {
  return (path) => {
    const database = open(path)
    const fail = (fault: keyof Faults, code: number, message: string): void => {
      if ((faults[fault] ?? 0) === 0) return
      faults[fault] = (faults[fault] ?? 0) - 1
      // Node and Deno report the code in `errcode`, Bun in `errno`.
      throw Object.assign(new Error(message), { errcode: code, errno: code })
    }
    let writesLines = false
    const before = (sql: string): void => {
      if (process.dead) throw new Error("the process is dead")
      if (sql.startsWith("BEGIN")) {
        writesLines = false
        fail("busy", 5, "database is locked")
      }
      if (sql.startsWith("INSERT INTO batch")) {
        writesLines = true
        fail("full", 13, "database or disk is full")
      }
      if (sql.startsWith("DELETE FROM batch")) fail("removal", 10, "disk I/O error")
      if (sql === "COMMIT" && writesLines) fail("lostBefore", 10, "disk I/O error")
    }
    const after = (sql: string): void => {
      if (sql === "COMMIT" && writesLines) fail("lostAfter", 10, "disk I/O error")
    }
    return {
      exec(sql) {
        before(sql)
        database.exec(sql)
      },
      prepare(sql) {
        const statement = database.prepare(sql)
        const faulty: SqliteStatement = {
          get(...values) {
            before(sql)
            return statement.get(...values)
          },
          all(...values) {
            before(sql)
            return statement.all(...values)
          },
          iterate(...values) {
            before(sql)
            return statement.iterate(...values)
          },
          run(...values) {
            before(sql)
            const result = statement.run(...values)
            after(sql)
            return result
          },
          finalize: () => statement.finalize?.(),
        }
        return faulty
      },
      close: () => database.close(),
    }
  }
}
