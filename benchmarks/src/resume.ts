/**
 * Opening and the context of a session of 200 MB in several parts, compacted (a live context of 100 KB), and the last 50 messages
 * of one that never was. Bytes and lines that came out of the storage are counted.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createSessions } from "@sessions/core"
import type { Sessions, SessionStorage } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { turn } from "./data.ts"
import { timed } from "./report.ts"
import type { Result, Scenario } from "./report.ts"

const ROUNDS = 20

export function resumeScenarios(quick: boolean): readonly Scenario[] {
  const bytes = quick ? 20e6 : 200e6
  return [
    { id: "resume.compacted", run: () => measure("resume.compacted", bytes, true) },
    { id: "resume.last50", run: () => measure("resume.last50", bytes, false) },
  ]
}

async function measure(id: string, bytes: number, compacted: boolean): Promise<Result> {
  const root = mkdtempSync(join(tmpdir(), "sessions-bench-"))
  try {
    const session = await fill(root, bytes, compacted)
    const times: number[] = []
    let work = {}
    for (let round = 0; round < ROUNDS; round++) {
      const counted = countReads(createFileStorage({ root, maxSessionBytes: 4e9 }))
      const sessions = createSessions({ storage: counted.storage })
      const start = process.hrtime.bigint()
      const found = await resume(sessions, session, compacted)
      times.push(Number(process.hrtime.bigint() - start) / 1e6)
      work = { ...counted.counts, messages: found }
      await sessions.close()
    }
    return { ...timed(id, "ms", times), work }
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
}

async function resume(sessions: Sessions, id: string, compacted: boolean): Promise<number> {
  const session = await sessions.open(id)
  const { messages } = compacted ? await session.context() : await session.messages({ limit: 50 })
  return messages.length
}

async function fill(root: string, bytes: number, compacted: boolean): Promise<string> {
  const sessions = createSessions({ storage: createFileStorage({ root, maxSessionBytes: 4e9 }) })
  const session = await sessions.create()
  const { id } = session
  for (let i = 0; (await session.parts()).bytes < bytes; i += 500) {
    await session.append(Array.from({ length: 500 }, (_, k) => turn(i + k)).flat())
  }
  if (compacted) await session.compact({ summarize: async () => "## Goal\nKeep going.", keepRecentTokens: 25_000 })
  await sessions.close()
  return id
}

/** The storage, with what its reads give counted. */
function countReads(storage: SessionStorage): { storage: SessionStorage; counts: { lines: number; bytes: number } } {
  const counts = { lines: 0, bytes: 0 }
  const read: SessionStorage["read"] = async function* (...args) {
    for await (const chunk of storage.read(...args)) {
      counts.lines += chunk.lines.length
      for (const line of chunk.lines) counts.bytes += Buffer.byteLength(line) + 1
      yield chunk
    }
  }
  const counting = new Proxy(storage, {
    get: (target, key) => {
      if (key === "read") return read
      const value: unknown = Reflect.get(target, key)
      return typeof value === "function" ? (value as (...args: unknown[]) => unknown).bind(target) : value
    },
  })
  return { storage: counting, counts }
}
