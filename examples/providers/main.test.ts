import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { FLAGS } from "../../.config/program.ts"

const program = fileURLToPath(new URL("main.ts", import.meta.url))

test("the loop of each provider asks, runs the tool, asks again, and leaves all of it in the log", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "providers-"))
  const { NODE_OPTIONS: _, ...env } = process.env
  const o = { cwd, env: { ...env, NODE_NO_WARNINGS: "1", NO_COLOR: "1" } }
  const output = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, [...FLAGS, program], o, (error, stdout, stderr) => {
      if (error === null && stderr === "") resolve(stdout)
      else reject(new Error(`${stdout}\n${stderr}`))
    })
  })
  const names = ["openai-chat", "openai-responses", "anthropic", "gemini", "ai-sdk"]
  expect(output.trim().split("\n")).toEqual([
    ...names.map(() => "It is sunny in Paris."),
    ...names.map((name) => `${name}: user, assistant, toolResult, assistant`),
  ])
  await rm(cwd, { recursive: true })
})
