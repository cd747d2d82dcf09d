import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { FLAGS } from "../../.config/program.ts"

const program = fileURLToPath(new URL("main.ts", import.meta.url))

test("a graph goes on in another repository, its fork keeps the first branch, and a thread that is moved in goes on", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "langgraph-"))
  const { NODE_OPTIONS: _, ...env } = process.env
  const o = { cwd, env: { ...env, NODE_NO_WARNINGS: "1", NO_COLOR: "1" } }
  const output = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, [...FLAGS, program], o, (error, stdout, stderr) => {
      if (error === null && stderr === "") resolve(stdout)
      else reject(new Error(`${stdout}\n${stderr}`))
    })
  })
  expect(output.trim().split("\n")).toEqual([
    "waits: Book a hotel in Paris?",
    "plan Paris, booked in Paris",
    "plan Paris, not booked",
    "states of both branches: 6",
    "moved: 3 checkpoints",
    "plan Rome, booked in Rome",
  ])
  await rm(cwd, { recursive: true })
})
