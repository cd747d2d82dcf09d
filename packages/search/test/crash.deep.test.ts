/** Processes that are killed while they bring an index up to date, beside others that use it. */
import { spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { expect, onTestFinished, test } from "vitest"
import { createSearch } from "../src/index.ts"
import { createSqliteIndex } from "../src/sqlite/index.ts"
import { say } from "./helpers.ts"
import { FLAGS } from "../../../.config/program.ts"

const ROUNDS = 4

test("processes that are killed while they build the index leave one that another process completes", async () => {
  const base = mkdtempSync(join(tmpdir(), "sessions-search-crash-"))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const [root, folder] = [join(base, "store"), join(base, "search")]
  const storage = createFileStorage({ root })
  const sessions = createSessions({ storage })
  let count = 0
  for (let id = 0; id < 30; id++) {
    const session = await sessions.create()
    for (let at = 0; at < 5; at++, count++) await say(session, `word ${"filler ".repeat(200)} ${count}`)
    await session.close()
  }
  const script = fileURLToPath(new URL("crash-process.ts", import.meta.url))
  const { NODE_OPTIONS: _, ...env } = process.env
  for (let round = 0; round < ROUNDS; round++) {
    const child = spawn(process.execPath, [...FLAGS, script, root, folder], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    })
    await new Promise((resolve, reject) => {
      child.stdout.once("data", resolve)
      child.once("exit", reject)
    })
    const search = createSearch({ storage, index: createSqliteIndex({ folder }) })
    // In some rounds both build it at once; in others it is killed first.
    const isBeside = round % 2 === 0
    if (!isBeside) await new Promise((resolve) => setTimeout(resolve, round * 60))
    const kill = new Promise((resolve) => child.once("exit", resolve))
    if (!isBeside) child.kill("SIGKILL")
    for (let at = 0; at < 3; at++) {
      const found: string[] = []
      let cursor: string | undefined
      do {
        const page = await search.search("word", { limit: 200, ...(cursor === undefined ? {} : { cursor }) })
        found.push(...page.hits.map(({ entryId }) => entryId))
        cursor = page.next
      } while (cursor !== undefined)
      expect(new Set(found).size).toBe(found.length)
      // The other process may have removed the index between two pages, never within one.
      if (!isBeside) expect(found).toHaveLength(count)
      else expect((await search.search(`filler ${count - 1}`)).hits).toHaveLength(1)
    }
    if (isBeside) child.kill("SIGKILL")
    await kill
    await search.close()
  }
  await sessions.close()
})
