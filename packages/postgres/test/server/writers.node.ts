import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { createSessions } from "@sessions/core"
import { createPostgresStorage } from "@sessions/postgres"
import { createPool } from "./server.ts"

const WRITER = fileURLToPath(new URL("writer-process.ts", import.meta.url))

void test("8 processes append 500 entries each to one session: each is in the log once, in its writer's order", async () => {
  const pool = createPool()
  const schema = `writers_${process.pid}`
  const storage = createPostgresStorage({ client: pool, schema })
  const sessions = createSessions({ storage })
  const { id } = await sessions.create()
  const started = performance.now()
  const run = async (n: number): Promise<string[]> => {
    const args = [WRITER, schema, id, `w${n}`, "500", "64"]
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 10_000_000 })
    return stdout.trim().split("\n")
  }
  const acknowledged = (await Promise.all(Array.from({ length: 8 }, (_, n) => run(n)))).flat()
  const seconds = ((performance.now() - started) / 1_000).toFixed(1)

  const entries: { id: string; message: { content: { text: string }[] | string } }[] = []
  for await (const { lines } of storage.read(id, { from: 1 })) {
    for (const line of lines) entries.push(JSON.parse(line) as (typeof entries)[number])
  }
  assert.equal(entries.length, 4_000)
  assert.deepEqual(new Set(entries.map((entry) => entry.id)), new Set(acknowledged))
  for (let n = 0; n < 8; n++) {
    const own = entries.map(textOf).filter((text) => text.startsWith(`w${n} `))
    assert.deepEqual(
      own,
      Array.from({ length: 500 }, (_, i) => `w${n} ${i}`),
    )
  }
  await sessions.close()
  await pool.query(`DROP SCHEMA ${schema} CASCADE`)
  await pool.end()
  console.info(`measured: 8 processes, 500 entries each: ${seconds} s`)
})

function textOf({ message: { content } }: { message: { content: { text: string }[] | string } }): string {
  return typeof content === "string" ? content : (content[0]?.text ?? "")
}
