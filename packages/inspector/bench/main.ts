/**
 * What the page of a long session waits for: its end, entries in its middle, words in its first line and in none, and its whole. A log in files,
 * of the size that is given in MB (default 200), with 390 messages a MB and a branch; each call opens it anew, as the server does.
 * Run: `node --conditions=@sessions/source --import ./.tools/typescript.mjs packages/inspector/bench/main.ts [MB]`.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInspector } from "../src/index.ts"
import { writeLongSession } from "./long-session.ts"

const TOKEN = "a-token-of-some-length"
const ROUNDS = 5

const megabytes = Number(process.argv[2] ?? 200)
const root = mkdtempSync(join(tmpdir(), "inspector-bench-"))
try {
  await measure()
} finally {
  rmSync(root, { recursive: true, force: true })
}

async function measure(): Promise<void> {
  const { sessions, messages } = await writeLongSession(root, megabytes)
  const inspector = createInspector({ sessions, token: TOKEN })
  const middle = Array.from({ length: 60 }, (_, n) => Math.floor(messages / 2) + n).join(",")
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
