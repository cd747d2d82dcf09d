/** The memory of an import of a long session file of Claude Code, in a process of its own. */
import { spawn } from "node:child_process"
import { createWriteStream, mkdtempSync, rmSync } from "node:fs"
import { once } from "node:events"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, expect, test } from "vitest"
import { FLAGS } from "../../../.config/program.ts"

const MB = 1_000_000
const SESSION = "11111111-1111-4111-8111-111111111111"
const BIN = fileURLToPath(new URL("../dist/bin.js", import.meta.url))
/** Prints the most memory that the process had, in kilobytes. */
const REPORT = 'data:text/javascript,process.on("exit",()=>console.error(`maxRSS ${process.resourceUsage().maxRSS}`))'

const folder = mkdtempSync(join(tmpdir(), "import-memory-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A turn: a prompt, a call, its result, an answer, and a line that is an annotation. */
function turn(n: number): string {
  const uuid = (part: number): string => `00000000-0000-4000-8000-${String(n * 10 + part).padStart(12, "0")}`
  const timestamp = new Date(Date.UTC(2026, 0, 1) + n * 60_000).toISOString()
  const place = { sessionId: SESSION, cwd: "/work", version: "2.1.330", isSidechain: false, timestamp }
  const line = (part: number, type: string, message: object): object => {
    const parentUuid =
      part > 0 ? uuid(part - 1) : n === 0 ? null : `00000000-0000-4000-8000-${String(n * 10 - 7).padStart(12, "0")}`
    return { ...place, parentUuid, uuid: uuid(part), type, message }
  }
  const answer = (part: number, content: object): object =>
    line(part, "assistant", {
      id: `msg_${n}_${part}`,
      role: "assistant",
      model: "m",
      content: [content],
      usage: { input_tokens: 1, output_tokens: 1 },
    })
  const output = `line ${n} of a file that the agent reads\n`.repeat(110)
  const result = { type: "tool_result", tool_use_id: `toolu_${n}`, content: output }
  const lines = [
    line(0, "user", { role: "user", content: `question ${n}: ${"why is this so? ".repeat(20)}` }),
    answer(1, { type: "tool_use", id: `toolu_${n}`, name: "Read", input: { file_path: "/src/a.ts" } }),
    line(2, "user", { role: "user", content: [result] }),
    answer(3, { type: "text", text: `answer ${n}: ${"because of that. ".repeat(60)}` }),
    { type: "last-prompt", lastPrompt: `question ${n}`, leafUuid: uuid(3), sessionId: SESSION },
  ]
  return lines.map((one) => `${JSON.stringify(one)}\n`).join("")
}

async function fileOf(bytes: number): Promise<string> {
  const file = join(folder, `${bytes}.jsonl`)
  const stream = createWriteStream(file)
  for (let n = 0, written = 0; written < bytes; n++) {
    const text = turn(n)
    written += text.length
    if (!stream.write(text)) await once(stream, "drain")
  }
  stream.end()
  await once(stream, "finish")
  return file
}

/** The most memory that the command had, in bytes. */
async function memoryOf(file: string): Promise<number> {
  const store = join(folder, "store")
  const child = spawn(process.execPath, [...FLAGS, "--import", REPORT, BIN, "import", file, "--store", store])
  let stderr = ""
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text))
  child.stdout.resume()
  const [exit] = (await once(child, "close")) as [number]
  rmSync(store, { recursive: true, force: true })
  const found = /maxRSS (\d+)/.exec(stderr)?.[1]
  if (exit !== 0 || found === undefined) throw new Error(`exit ${exit}: ${stderr}`)
  return Number(found) * 1024
}

// Other engines count their memory in another way.
test.skipIf("Bun" in globalThis || "Deno" in globalThis)(
  "an import of 150 MB takes less than 200 MB of memory",
  { timeout: 300_000 },
  async () => {
    const most = await memoryOf(await fileOf(150 * MB))
    console.info(`${Math.round(most / MB)} MB`)
    expect(most).toBeLessThan(200 * MB)
  },
)
