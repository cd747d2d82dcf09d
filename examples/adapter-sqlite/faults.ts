/** A SQLite driver that injects faults, for the conformance suite. */
import { type Driver, openDriver } from "./src/driver.ts"

/** How many of the next write transactions fail, by fault. */
export interface Faults {
  busy?: number
  full?: number
  /** The COMMIT fails before it is executed, or after. */
  lostBefore?: number
  lostAfter?: number
}

/** Opens the SQLite of the runtime with the faults injected. Every statement fails once the process is dead. */
export function withFaults(faults: Faults, process: { readonly dead: boolean }): (path: string) => Promise<Driver> {
  return async (path) => {
    const driver = await openDriver(path)
    const fail = (fault: keyof Faults, code: number, message: string): void => {
      if ((faults[fault] ?? 0) === 0) return
      faults[fault] = (faults[fault] ?? 0) - 1
      // Node and Deno report the code in `errcode`, Bun in `errno`.
      throw Object.assign(new Error(message), { errcode: code, errno: code })
    }
    const before = (sql: string): void => {
      if (process.dead) throw new Error("the process is dead")
      if (sql.startsWith("BEGIN")) fail("busy", 5, "database is locked")
      if (sql.startsWith("INSERT INTO lines")) fail("full", 13, "database or disk is full")
      if (sql === "COMMIT") fail("lostBefore", 10, "disk I/O error")
    }
    const after = (sql: string): void => {
      if (sql === "COMMIT") fail("lostAfter", 10, "disk I/O error")
    }
    return {
      exec(sql) {
        before(sql)
        driver.exec(sql)
        after(sql)
      },
      prepare<Row>(sql: string) {
        const statement = driver.prepare<Row>(sql)
        return {
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
            return statement.run(...values)
          },
        }
      },
      close: () => driver.close(),
    }
  }
}
