import assert from "node:assert/strict"
import { mkdtempSync, readdirSync, rmdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { register } from "@sessions/conformance"
import { createSqliteStorage } from "@sessions/sqlite"
import { relaxed } from "./subject.ts"

if (process.getBuiltinModule("node:sqlite") === undefined) {
  void test("on a Node without SQLite, each call is `unsupported`, says what to do, and makes no file", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sessions-sqlite-"))
    const storage = createSqliteStorage({ path: join(folder, "sessions.db") })
    const refusal = { code: "unsupported", message: /use Node 22\.13 or newer.*"better-sqlite3"/ }
    await assert.rejects(storage.head("a"), refusal)
    await assert.rejects(storage.append("a", ["{}"], { expect: 0 }), refusal)
    await storage[Symbol.asyncDispose]()
    assert.deepEqual(readdirSync(folder), [])
    rmdirSync(folder)
  })
} else {
  register(test, relaxed)
}
