/** Rows of an older state are put back in one transaction, as a tool does that restores a database in its place. */
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { expect, onTestFinished, test } from "vitest"
import { rounds } from "../../../.config/rounds.ts"
import { checkRestores, type Restorable } from "../../core/test/restores.ts"
import { openDatabase } from "../src/driver/library.ts"
import { openAt } from "./helpers.ts"

const TABLES = ["session", "batch"]

function makeStore(): Restorable {
  const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "sessions-sqlite-restores-"))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, "sessions.db")
  const change = (sql: string): void => {
    const db = openDatabase(path)
    db.exec("PRAGMA busy_timeout = 5000")
    db.exec(`ATTACH '${join(folder, "copies.db")}' AS copies; BEGIN IMMEDIATE; ${sql}; COMMIT`)
    db.close()
  }
  let copies = 0
  return {
    open: () => openAt(path),
    async backup() {
      const n = copies++
      change(TABLES.map((table) => `CREATE TABLE copies.${table}${n} AS SELECT * FROM main.${table}`).join(";"))
      return () =>
        change(
          TABLES.map((t) => `DELETE FROM main.${t}; INSERT INTO main.${t} SELECT * FROM copies.${t}${n}`).join(";"),
        )
    },
  }
}

test("after a restore no line is behind one that its writer has not seen, and every lost entry is named", async () => {
  const count = rounds(1_000)
  expect(await checkRestores(makeStore, count)).toBe(count)
})
