import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterEach, beforeEach, expect, test } from "vitest"
import { FLAGS } from "../../.config/program.ts"

const program = fileURLToPath(new URL("main.ts", import.meta.url))

let cwd = ""
beforeEach(async () => {
  cwd = await mkdtemp(join(tmpdir(), "agent-memory-"))
})
afterEach(() => rm(cwd, { recursive: true, force: true }))

function start(): Promise<string> {
  const { NODE_OPTIONS: _, ...env } = process.env
  const o = { cwd, env: { ...env, NODE_NO_WARNINGS: "1" } }
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [...FLAGS, program], o, (error, stdout, stderr) => {
      if (error === null && stderr === "") resolve(stdout)
      else reject(new Error(`${stdout}\n${stderr}`))
    })
  })
}

test("the second session knows what the first was told, both are found, and the edit is taken back and redone", async () => {
  const readme = await readFile(new URL("README.md", import.meta.url), "utf8")
  const [, shown] = /^```text\n([^]*?)^```$/m.exec(readme) ?? []
  expect(await start()).toBe(shown)
  expect(await readFile(join(cwd, "memory", "style.md"), "utf8")).toMatch(
    /^- \[preference\] Wants greetings in capitals /m,
  )
})
