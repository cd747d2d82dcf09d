import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { FLAGS } from "../../.config/program.ts"

const program = fileURLToPath(new URL("main.ts", import.meta.url))

test("a run that waits for approval goes on in another repository, and the next run has its items", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "openai-agents-"))
  const { NODE_OPTIONS: _, ...env } = process.env
  const o = { cwd, env: { ...env, NODE_NO_WARNINGS: "1", NO_COLOR: "1" } }
  const output = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, [...FLAGS, program], o, (error, stdout, stderr) => {
      if (error === null && stderr === "") resolve(stdout)
      else reject(new Error(`${stdout}\n${stderr}`))
    })
  })
  expect(output.trim().split("\n")).toEqual([
    'waits for approval: book {"city":"Paris"}',
    "answer: Your hotel in Paris is booked.",
    "answer: In Paris.",
    "  user",
    "  function_call",
    "  function_call_result",
    "  assistant",
    "  user",
    "  assistant",
    "chat of ada: trip-1, Book a hotel in Paris.",
  ])
  await rm(cwd, { recursive: true })
})
