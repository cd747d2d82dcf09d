/**
 * The CPU time of the store on files, compared with the same lines in a file of their own: `load` of 10,000 lines with reading and parsing the
 * file, and eager appends, one line a call, with one `appendFile` a line. The median of several rounds; a ratio above 1 is faster.
 */
import { appendFileSync, mkdtempSync, rmSync } from "node:fs"
import { appendFile, readFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { createClaudeStore, type ClaudeStore } from "@sessions/claude-agent"
import { MAIN, message } from "../test/lines.ts"

const LINES = 10_000
const EAGER = 3_000
const ROUNDS = 5

/** Of 0.4 to 5.2 KB, 2.8 KB on average. */
const lines = Array.from({ length: LINES }, (_, n) => message(n + 1, "All tests pass. ".repeat((n * 7919) % 300)))
const folder = mkdtempSync(join(tmpdir(), "sessions-claude-bench-"))
const file = join(folder, "whole.jsonl")
appendFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""))

const times = { parse: [] as number[], load: [] as number[], local: [] as number[], eager: [] as number[] }
for (let round = 0; round < ROUNDS; round++) {
  const root = join(folder, `s${round}`)
  await withStore(root, (store) => store.append(MAIN, lines))
  times.parse.push(
    await cpu(async () => {
      const parsed: unknown[] = []
      for (const line of (await readFile(file, "utf8")).split("\n")) if (line !== "") parsed.push(JSON.parse(line))
      return parsed
    }),
  )
  times.load.push(await cpu(() => withStore(root, (store) => store.load(MAIN))))
  const some = lines.slice(0, EAGER)
  times.local.push(
    await cpu(async () => {
      for (const line of some) await appendFile(join(folder, `local${round}.jsonl`), `${JSON.stringify(line)}\n`)
    }),
  )
  times.eager.push(
    await cpu(() =>
      withStore(join(folder, `e${round}`), async (store) => {
        for (const line of some) await store.append(MAIN, [line])
      }),
    ),
  )
}
rmSync(folder, { recursive: true })
print(`load of ${LINES} lines`, "raw parse", times.load, times.parse)
print(`${EAGER} eager appends`, "local appends", times.eager, times.local)

async function withStore<T>(root: string, run: (store: ClaudeStore) => Promise<T>): Promise<T> {
  const sessions = createSessions({ storage: createFileStorage({ root }) })
  const store = createClaudeStore({ sessions })
  const result = await run(store)
  await store.close()
  await sessions.close()
  return result
}

/** Milliseconds. */
async function cpu(run: () => Promise<unknown>): Promise<number> {
  globalThis.gc?.()
  const before = process.cpuUsage()
  await run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

function print(what: string, than: string, ours: readonly number[], raw: readonly number[]): void {
  const [one, other] = [median(ours), median(raw)]
  console.log(`${what}: ${one.toFixed(0)} ms of CPU, ${than} ${other.toFixed(0)} ms, ratio ${(other / one).toFixed(2)}`)
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}
