import { execFile } from "node:child_process"
import { readFileSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { FLAGS } from "../../.config/program.ts"

const program = fileURLToPath(new URL("main.ts", import.meta.url))

test("chats are moved in, resumed, stopped, and a tool is approved as the README shows it", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "ai-sdk-chat-"))
  const { NODE_OPTIONS: _, ...env } = process.env
  const o = { cwd, env: { ...env, NODE_NO_WARNINGS: "1", NO_COLOR: "1" } }
  const output = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, [...FLAGS, program], o, (error, stdout, stderr) => {
      if (error === null && stderr === "") resolve(stdout)
      else reject(new Error(`${stdout}\n${stderr}`))
    })
  })
  const readme = readFileSync(new URL("README.md", import.meta.url), "utf8")
  expect(output).toBe(/^```text\n([^]*?)^```$/m.exec(readme)?.[1])
  await rm(cwd, { recursive: true })
})
