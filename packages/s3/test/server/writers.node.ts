import assert from "node:assert/strict"
import { execFile } from "node:child_process"
import { test } from "node:test"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { createSessions } from "@sessions/core"
import { BUCKET, makeBucket, newPrefix, openAt } from "./test-server.ts"

const WRITER = fileURLToPath(new URL("writer-process.ts", import.meta.url))

void test("8 processes append 500 entries each to one session, and each of the 4,000 entries is in the log once", async () => {
  await makeBucket()
  const prefix = newPrefix()
  const sessions = createSessions({ storage: openAt(prefix) })
  const { id } = await sessions.create()
  const started = performance.now()
  const run = async (n: number): Promise<string[]> => {
    const args = [WRITER, BUCKET, prefix, id, `w${n}`, "500", "64"]
    const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 10_000_000 })
    return JSON.parse(stdout) as string[]
  }
  const acknowledged = (await Promise.all(Array.from({ length: 8 }, (_, n) => run(n)))).flat()
  const seconds = ((performance.now() - started) / 1_000).toFixed(1)
  assert.equal(new Set(acknowledged).size, 4_000)

  const seen: string[] = []
  for await (const chunk of openAt(prefix).read(id)) {
    for (const line of chunk.lines) seen.push((JSON.parse(line) as { id: string }).id)
  }
  const entries = seen.slice(1)
  assert.equal(entries.length, 4_000)
  assert.deepEqual(new Set(entries), new Set(acknowledged))
  await sessions.close()
  console.info(`measured: 8 processes, 500 entries each: ${seconds} s`)
})
