/**
 * `pnpm bench:langgraph`: a LangGraph thread of 5,000 checkpoints in files, beside LangGraph's SqliteSaver. The state is the last 100 messages
 * of 1 KB, and each checkpoint adds one. Prints the size of both threads, and what reading the latest checkpoint costs a saver that has not
 * read the thread before.
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createSessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { createFileStorage } from "@sessions/fs"
import { SessionsSaver } from "@sessions/langgraph"
import { importPeer, installPeers } from "./peers/install.ts"

const CHECKPOINTS = 5_000
const READS = 50

interface Saver {
  put(config: object, checkpoint: object, metadata: object, versions: object): Promise<object>
  getTuple(config: object): Promise<unknown>
}

const THREAD = { configurable: { thread_id: "thread", checkpoint_ns: "" } }
const folder = mkdtempSync(join(tmpdir(), "bench-langgraph-"))
try {
  const absent = installPeers()
  if (absent !== undefined) throw new Error(absent)
  const { SqliteSaver } = await importPeer<{ SqliteSaver: { fromConnString(path: string): Saver } }>(
    "@langchain/langgraph-checkpoint-sqlite",
  )
  let read = 0
  const sessions = createSessions({ storage: counted((bytes) => (read += bytes)) })
  const theirs = SqliteSaver.fromConnString(join(folder, "langgraph.db"))
  const ours = new SessionsSaver({ sessions }) as unknown as Saver
  const millis = [await fill(ours), await fill(theirs)]
  await sessions.close()

  const again = createSessions({ storage: counted((bytes) => (read += bytes)) })
  const times: number[] = []
  for (let n = 0; n < READS; n++) {
    const saver = new SessionsSaver({ sessions: again })
    read = 0
    const start = performance.now()
    await saver.getTuple(THREAD)
    times.push(performance.now() - start)
  }
  const own = sizeOf(join(folder, "sessions"))
  const other = sizeOf(join(folder, "langgraph.db"))
  console.log(`size: ours ${mb(own)}, SqliteSaver ${mb(other)}: ${(own / other).toFixed(3)}`)
  console.log(`put: ours ${millis[0]?.toFixed(2)} ms, SqliteSaver ${millis[1]?.toFixed(2)} ms`)
  const sorted = times.toSorted((a, b) => a - b)
  console.log(
    `latest checkpoint: ${(read / 1_000).toFixed(0)} KB read, first ${times[0]?.toFixed(1)} ms, median ${sorted[READS / 2]?.toFixed(1)} ms`,
  )
  await again.close()
} finally {
  rmSync(folder, { recursive: true })
}

/** The files, of which it is counted how much is read. */
function counted(add: (bytes: number) => void): SessionStorage {
  const files = createFileStorage({ root: join(folder, "sessions") })
  return {
    ...files,
    async *read(...args) {
      for await (const chunk of files.read(...args)) {
        for (const line of chunk.lines) add(Buffer.byteLength(line) + 1)
        yield chunk
      }
    },
  }
}

/** Milliseconds for a put. */
async function fill(saver: Saver): Promise<number> {
  const { emptyCheckpoint, uuid6 } = await import("@langchain/langgraph-checkpoint")
  const messages: object[] = []
  let last: object = THREAD
  const start = performance.now()
  for (let n = 0; n < CHECKPOINTS; n++) {
    messages.push({ role: n % 2 === 0 ? "user" : "assistant", content: wordsOf(n) })
    if (messages.length > 100) messages.shift()
    const channel_versions = { messages: n + 1 }
    const checkpoint = { ...emptyCheckpoint(), id: uuid6(n), channel_values: { messages }, channel_versions }
    last = await saver.put(last, checkpoint, { source: "loop", step: n, parents: {} }, channel_versions)
  }
  return (performance.now() - start) / CHECKPOINTS
}

/** 1 KB of text that no other message has. */
function wordsOf(n: number): string {
  let words = `message ${n}:`
  for (let word = 0; words.length < 1_000; word++) words += ` ${((n + 1) * 7919 * (word + 13)).toString(36)}`
  return words
}

function sizeOf(path: string): number {
  if (!statSync(path).isDirectory())
    return statSync(path).size + (statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0)
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}

function mb(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
