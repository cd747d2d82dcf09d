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
  expect((await start()).trim().split("\n")).toEqual([
    "remembered: Wants greetings in capitals",
    "first session: hello",
    "second session: GOOD MORNING",
    'typed: Now write "good morning" instead.',
    'typed: Write "hello" as a greeting. I want greetings in capitals.',
    expect.stringMatching(/^found in the first session: .*I want greetings in capitals\.$/),
    "tidied: MEMORY.md,style.md",
    "after the rewind: hello",
    "messages in the context: 0",
    "after its undo: GOOD MORNING",
  ])
  expect(await readFile(join(cwd, "memory", "style.md"), "utf8")).toMatch(
    /^- \[preference\] Wants greetings in capitals /m,
  )
})
