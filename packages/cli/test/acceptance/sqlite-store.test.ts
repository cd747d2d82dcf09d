import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"
import { log } from "./logs.ts"
import { createWorkspace, refusal } from "./workspace.ts"

const STORE = ["--store", "sqlite:./sessions.db"]

test("a session can be copied to a SQLite file, listed, verified, exported and copied back, byte for byte", async () => {
  const { cli, file, cwd, log: stored } = createWorkspace()
  await cli("import", file("in.jsonl", log("a")), "--id", "a")
  expect(await cli("copy", "a", "--to", "sqlite:./sessions.db")).toMatchObject({
    exit: 0,
    stdout: expect.stringContaining(`copied a to sqlite:${join(cwd, "sessions.db")}`) as string,
  })
  expect((await cli("list", ...STORE)).stdout).toMatch(/^ID .*\na /)
  expect((await cli("verify", "--all", ...STORE)).stdout).toMatch(/1 session, 0 damaged\n$/)
  expect((await cli("export", "a", ...STORE)).stdout).toBe(stored("a").toString())
  await cli("rm", "a", "--yes")
  expect(await cli("copy", "a", "--to", ".sessions", ...STORE)).toMatchObject({ exit: 0 })
  expect(stored("a").toString()).toBe((await cli("export", "a", ...STORE)).stdout)
})

test("a file that is no database is refused, and stays as it is", async () => {
  const { cli, cwd } = createWorkspace()
  writeFileSync(join(cwd, "sessions.db"), "notes ".repeat(1000))
  const result = await cli("list", ...STORE)
  expect(refusal(1)(result)).toBeUndefined()
  expect(result.stderr).toContain("no SQLite database")
})
