/**
 * What the page of a long session waits for: its end, entries in its middle, words in its first line and in none, and its whole. A log in files,
 * of the size that is given in MB (default 200), with 390 messages a MB and a branch; each call opens it anew, as the server does.
 * Run: `node --conditions=source --import ./.tools/typescript.mjs packages/inspector/bench/main.ts [MB]`.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createSessions, type NewEntry } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { createInspector } from "../src/index.ts"

const TOKEN = "a-token-of-some-length"
const ROUNDS = 5
const MESSAGES_PER_MB = 390
const BATCH = 900

const megabytes = Number(process.argv[2] ?? 200)
const root = mkdtempSync(join(tmpdir(), "inspector-bench-"))
try {
  await measure()
} finally {
  rmSync(root, { recursive: true, force: true })
}

async function measure(): Promise<void> {
  const sessions = createSessions({ storage: createFileStorage({ root }) })
  const session = await sessions.create({ id: "long", title: "A long session" })
  const first = await session.append({ type: "message", message: { role: "user", content: "the firstword of all" } })
  const aside: NewEntry = { type: "message", message: { role: "user", content: "a branch" } }
  await session.append(aside, { at: first.ids[0] as string })
  await session.branch(first.ids[0] as string)
  for (let n = 0; n < megabytes * MESSAGES_PER_MB; n += BATCH)
    await session.append(Array.from({ length: BATCH }, (_, index) => message(n + index)))
  await session.close()
  const bytes = (await sessions.storage.head("long"))?.bytes ?? 0
  console.log(`${(bytes / 1e6).toFixed(0)} MB, ${megabytes * MESSAGES_PER_MB} messages`)
  const inspector = createInspector({ sessions, token: TOKEN })
  const middle = Array.from({ length: 60 }, (_, n) => Math.floor((megabytes * MESSAGES_PER_MB) / 2) + n).join(",")
  const calls = {
    "the end": "",
    "60 entries in the middle": `/entries?seqs=${middle}`,
    "a word in the first line": "/find?words=firstword",
    "a word in no line": "/find?words=nosuchword",
    "letters beyond ASCII in no line": `/find?words=${encodeURIComponent("häuser")}`,
    "the whole": "/whole",
  }
  for (const [name, path] of Object.entries(calls)) {
    const times: number[] = []
    let length = 0
    for (let round = 0; round < ROUNDS; round++) {
      const start = performance.now()
      const response = await inspector(
        new Request(`http://127.0.0.1/api/sessions/long${path}`, { headers: { authorization: `Bearer ${TOKEN}` } }),
      )
      const answer = await response.arrayBuffer()
      times.push(performance.now() - start)
      length = answer.byteLength
      if (response.status !== 200) throw new Error(`${name}: ${response.status}`)
    }
    times.sort((a, b) => a - b)
    const shown = [times[0], times[times.length >> 1], times.at(-1)].map((time) => (time ?? 0).toFixed(0))
    console.log(
      `${name.padEnd(32)} best ${shown[0]} ms, median ${shown[1]} ms, worst ${shown[2]} ms; ${(length / 1e3).toFixed(0)} kB`,
    )
  }
}

/** A question, an answer with a call, and its result, in turn. */
function message(n: number): NewEntry {
  const text = `${n} ${"The quick brown fox jumps over the lazy dog. ".repeat(20 + (n % 60))}`
  switch (n % 3) {
    case 0:
      return { type: "message", message: { role: "user", content: text } }
    case 1:
      return {
        type: "message",
        message: {
          role: "assistant",
          provider: "anthropic",
          model: "claude-opus-4-5",
          usage: { input: 1_000 + n, output: 100 },
          content: [
            { type: "text", text },
            { type: "toolCall", id: `call-${n}`, name: "read", arguments: { path: `src/file-${n}.ts` } },
          ],
        },
      }
    default:
      return {
        type: "message",
        message: { role: "toolResult", toolCallId: `call-${n - 1}`, toolName: "read", isError: false, content: text },
      }
  }
}
