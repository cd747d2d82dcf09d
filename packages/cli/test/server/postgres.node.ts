/** `--store postgres://…`, which vitest cannot load: its resolver mixes the two module formats of the driver. */
import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { openStore } from "../../src/store/open.ts"

const SERVER = process.env["POSTGRES_TEST_SERVER"] ?? ""
const BIN = fileURLToPath(new URL("../../dist/bin.js", import.meta.url))

void test("a PostgreSQL store is an address, and no message shows its password", async () => {
  const urls = [
    "postgres://app:secret@db.example:5433/agents",
    "postgresql://app@db/agents?schema=prod&prefix=eu_&durability=os",
    "postgres:///agents?host=/run/postgresql",
  ]
  const stores = await Promise.all(urls.map((url) => openStore(url, "/project", { create: true })))
  assert.deepEqual(
    stores.map(({ description }) => description),
    [
      "postgres://db.example:5433/agents:sessions",
      "postgres://db/agents:prod.eu_",
      "postgres:///run/postgresql/agents:sessions",
    ],
  )
  assert.deepEqual(
    stores.map(({ capabilities }) => capabilities.durability),
    ["disk", "os", "disk"],
  )
  await assert.rejects(
    openStore("postgres:agents", "/project", { create: true }),
    /postgres: needs the address of a database/,
  )
  const away = await openStore("postgres://app:secret@127.0.0.1:1/agents", "/project", { create: true })
  await assert.rejects(away.head("a"), /^(?!.*secret).*ECONNREFUSED/)
})

void test("sessions are copied from files to PostgreSQL and back, listed, verified and exported", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sessions-cli-postgres-"))
  try {
    const sessions = createSessions({ storage: createFileStorage({ root: join(folder, "a") }) })
    for (const id of ["one", "two"]) {
      const session = await sessions.create({ id })
      await session.append({ type: "message", message: { role: "user", content: `hello ${id}` } })
      await session.close()
    }
    await sessions.close()
    const store = new URL(SERVER)
    store.searchParams.set("schema", `cli_${process.pid}`)
    const run = async (...args: string[]): Promise<string> =>
      (await promisify(execFile)(process.execPath, [BIN, ...args], { cwd: folder })).stdout
    await assert.rejects(run("--store", store.href, "list"), /has no tables of @sessions\/postgres/)
    for (const id of ["one", "two"]) await run("--store", "a", "copy", id, "--to", store.href)
    assert.match(await run("--store", store.href, "list"), /two[^]*one/)
    await run("--store", store.href, "verify", "--all")
    await run("--store", store.href, "copy", "one", "--to", "b")
    const logs = await Promise.all(["a", store.href, "b"].map((from) => run("--store", from, "export", "one")))
    assert.equal(new Set(logs).size, 1)
    for (const id of ["one", "two"]) await run("--store", store.href, "rm", id, "--yes")
  } finally {
    rmSync(folder, { recursive: true })
  }
})
