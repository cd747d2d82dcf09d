import { execFile } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { FLAGS } from "../../.config/program.ts"

const program = fileURLToPath(new URL("main.ts", import.meta.url))

test("chats are moved in once, an answer is resumed through another process, and stopped from there", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "ai-sdk-chat-"))
  const { NODE_OPTIONS: _, ...env } = process.env
  const o = { cwd, env: { ...env, NODE_NO_WARNINGS: "1", NO_COLOR: "1" } }
  const output = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, [...FLAGS, program], o, (error, stdout, stderr) => {
      if (error === null && stderr === "") resolve(stdout)
      else reject(new Error(`${stdout}\n${stderr}`))
    })
  })
  expect(output.trim().split("\n")).toEqual([
    "chats moved in: 1 and again: 0",
    "the page has got: It is warm ",
    "the page that reloads gets: It is warm in Rome.",
    "nothing to resume: null",
    "the page has got: It will be ",
    "the chat:",
    "  user: Where is Rome?",
    "  assistant: In Italy.",
    "  user: How warm is it?",
    "  assistant: It is warm in Rome.",
    "  user: And tomorrow?",
    "  assistant: It will be",
  ])
  await rm(cwd, { recursive: true })
})
