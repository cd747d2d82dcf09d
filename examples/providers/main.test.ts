import { execFile } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { expect, test } from "vitest"
import { FLAGS } from "../../.config/program.ts"

const program = fileURLToPath(new URL("main.ts", import.meta.url))

const NAMES = ["openai-chat", "openai-responses", "anthropic", "gemini", "ai-sdk"]

/** Sessions of an earlier day, each longer than the server takes. */
async function longSessions(cwd: string): Promise<void> {
  const sessions = createSessions({ storage: createFileStorage({ root: join(cwd, ".sessions") }) })
  for (const name of NAMES) {
    const session = await sessions.create({ id: `with-${name}` })
    for (const role of ["user", "assistant", "user", "assistant"] as const)
      await session.append({ type: "message", message: { role, content: `${role} `.repeat(1_200) } })
  }
  await sessions.close()
}

test("the loop of each provider asks, makes room after a refusal for the length, runs the tool, asks again, and leaves all of it in the log", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "providers-"))
  await longSessions(cwd)
  const { NODE_OPTIONS: _, ...env } = process.env
  const o = { cwd, env: { ...env, NODE_NO_WARNINGS: "1", NO_COLOR: "1" } }
  const output = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, [...FLAGS, program], o, (error, stdout, stderr) => {
      if (error === null) resolve(stdout)
      else reject(new Error(`${stdout}\n${stderr}`))
    })
  })
  const earlier = "user, assistant, user, assistant"
  expect(output.trim().split("\n")).toEqual([
    ...NAMES.map(() => "It is sunny in Paris."),
    ...NAMES.map((name) => `${name}: ${earlier}, user, assistant, toolResult, assistant`),
  ])
  for (const name of NAMES) {
    const log = await readFile(join(cwd, ".sessions", `with-${name}`, "session.jsonl"), "utf8")
    expect([name, log.includes('\n{"type":"context_refusal"')]).toEqual([name, true])
  }
  await rm(cwd, { recursive: true })
})
