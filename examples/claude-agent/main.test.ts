import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { expect, test } from "vitest"
import { FLAGS } from "../../.config/program.ts"

const program = fileURLToPath(new URL("main.ts", import.meta.url))

test("a session that was moved in is listed, read and searched without its local copy", async () => {
  const { NODE_OPTIONS: _, ...env } = process.env
  const o = { env: { ...env, NODE_NO_WARNINGS: "1", NO_COLOR: "1" } }
  const output = await new Promise<string>((resolve, reject) => {
    execFile(process.execPath, [...FLAGS, program], o, (error, stdout, stderr) => {
      if (error === null && stderr === "") resolve(stdout)
      else reject(new Error(`${stdout}\n${stderr}`))
    })
  })
  expect(output.trim().split("\n")).toEqual([
    "local sessions: 0",
    "in the store: The port",
    '  user: "Which port does the service use?"',
    '  assistant: [{"type":"text","text":"Port 8080."}]',
    "found: assistant: Port 8080.",
  ])
})
