/** One message of 2 KB at a time, awaited, and 64 in flight, beside a loop that stringifies, writes and stats an open file. */
import { closeSync, fstatSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createSessions } from "@sessions/core"
import type { Session } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { message } from "./data.ts"
import { timed } from "./report.ts"
import type { Result, Scenario } from "./report.ts"

const ROUNDS = 7

export function appendScenarios(quick: boolean): readonly Scenario[] {
  const count = quick ? 2_000 : 10_000
  return [
    { id: "append.os.awaited", run: () => compare("append.os.awaited", count, 1) },
    { id: "append.os.pipelined", run: () => compare("append.os.pipelined", count, 64) },
  ]
}

/** Rounds of ours and raw take turns, so that a machine that drifts drifts under both. */
async function compare(id: string, count: number, inFlight: number): Promise<Result> {
  const root = mkdtempSync(join(tmpdir(), "sessions-bench-"))
  const ours: number[] = []
  const raw: number[] = []
  try {
    const sessions = createSessions({ storage: createFileStorage({ root: join(root, "store"), maxSessionBytes: 4e9 }) })
    for (let round = 0; round <= ROUNDS; round++) {
      const session = await sessions.create()
      const our = await microseconds(count, () => appendAll(session, count, inFlight))
      const { messageCount } = await session.info()
      if (messageCount !== count) throw new Error(`${messageCount} of ${count} messages are in the log`)
      await sessions.delete(session.id)
      const loop = await microseconds(count, async () => writeAll(join(root, `raw-${round}`), count))
      // The first round warms up.
      if (round > 0) {
        ours.push(our)
        raw.push(loop)
      }
    }
    await sessions.close()
  } finally {
    rmSync(root, { recursive: true, force: true })
  }
  return timed(id, "µs/message", ours, raw)
}

async function microseconds(count: number, work: () => Promise<void>): Promise<number> {
  const start = process.hrtime.bigint()
  await work()
  return Number(process.hrtime.bigint() - start) / 1_000 / count
}

async function appendAll(session: Session, count: number, inFlight: number): Promise<void> {
  for (let i = 0; i < count; i += inFlight) {
    if (inFlight === 1) await session.append(message(i))
    else
      await Promise.all(Array.from({ length: Math.min(inFlight, count - i) }, (_, k) => session.append(message(i + k))))
  }
}

function writeAll(path: string, count: number): void {
  const fd = openSync(path, "a")
  const fixed = { id: "01J00000000000000000000000", parentId: "01J00000000000000000000000" }
  for (let i = 0; i < count; i++) {
    const { type, ...payload } = message(i)
    writeSync(fd, `${JSON.stringify({ type, ...fixed, seq: i, timestamp: new Date().toISOString(), ...payload })}\n`)
    fstatSync(fd)
  }
  closeSync(fd)
}
