/** Curves: the distribution of append times, appends by batch size, and opening by the length of the history. */
import { closeSync, fstatSync, openSync, writeSync } from "node:fs"
import { join } from "node:path"
import { createSessions } from "@sessions/core"
import { inNewProcess } from "../child.ts"
import type { ResumeTimes } from "../children/resume.ts"
import { lineOf, message } from "../data.ts"
import { withFolder } from "../folder.ts"
import { median, type Result, type Scenario, timed } from "../report.ts"
import { inTurns, milliseconds, type Pair, verify } from "../rounds.ts"
import { type LogOptions, storedLog } from "./logs.ts"
import { createStorage } from "./storage.ts"

type Point = readonly [number, number]

/** The quantiles of append times that the curve shows. */
const SHARES = [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.995, 0.999, 0.9999]
const BATCHES = [1, 4, 16, 64, 256, 1_024]

export function curveScenarios(quick: boolean): readonly Scenario[] {
  const sizes = quick ? [2e6, 20e6] : [2e6, 20e6, 60e6, 200e6]
  return [
    { id: "append.latency", run: () => withFolder((root) => latency(root, quick ? 3_000 : 20_000)) },
    { id: "append.batch", run: () => withFolder((root) => batches(root, quick ? 4_096 : 16_384)) },
    { id: "resume.history", run: () => history(sizes, quick ? 3 : 7) },
  ]
}

async function latency(root: string, count: number): Promise<Result> {
  const sessions = createSessions({ storage: createStorage({ root: join(root, "store"), maxSessionBytes: 4e9 }) })
  const session = await sessions.create()
  const fd = openSync(join(root, "raw"), "a")
  const ours: number[] = []
  const raw: number[] = []
  // The first tenth warms up.
  for (let i = -count / 10; i < count; i++) {
    const own = await milliseconds(() => session.append(message(i + count)))
    const other = await milliseconds(() => {
      writeSync(fd, lineOf(i + count))
      fstatSync(fd)
    })
    if (i < 0) continue
    ours.push(own * 1_000)
    raw.push(other * 1_000)
  }
  closeSync(fd)
  await sessions.close()
  const result = timed("append.latency", "µs", { ours, raw })
  const work = { p99: quantile(ours, 0.99), p999: quantile(ours, 0.999) }
  return { ...result, work, series: { ours: distribution(ours), "write + fstat": distribution(raw) } }
}

async function batches(root: string, count: number): Promise<Result> {
  const ours: Point[] = []
  const raw: Point[] = []
  const sessions = createSessions({ storage: createStorage({ root: join(root, "store"), maxSessionBytes: 4e9 }) })
  const perSecond = (ms: number): number => (count / ms) * 1_000
  let pair: Pair = { ours: [], raw: [] }
  for (const size of BATCHES) {
    pair = await inTurns(
      {
        async ours() {
          const session = await sessions.create()
          const time = await milliseconds(async () => {
            for (let i = 0; i < count; i += size) await session.append(batch(i, size, message))
          })
          verify((await session.info()).messageCount === count, "not all messages are in the log")
          await sessions.delete(session.id)
          return time
        },
        raw: (round) =>
          milliseconds(() => {
            const fd = openSync(join(root, `raw-${size}-${round}`), "a")
            for (let i = 0; i < count; i += size) {
              writeSync(fd, batch(i, size, lineOf).join(""))
              fstatSync(fd)
            }
            closeSync(fd)
          }),
      },
      5,
    )
    ours.push([size, perSecond(median(pair.ours))])
    raw.push([size, perSecond(median(pair.raw))])
  }
  await sessions.close()
  // The value is that of the largest batch.
  const { value, spread, ...rest } = timed("append.batch", "messages/s", pair)
  return {
    ...rest,
    value: perSecond(value),
    spread: [perSecond(spread[1]), perSecond(spread[0])],
    raw: perSecond(median(pair.raw)),
    series: { ours, "one write a batch": raw },
  }
}

async function history(sizes: readonly number[], processes: number): Promise<Result> {
  const context: Point[] = []
  const last50: Point[] = []
  let longest: readonly number[] = []
  for (const bytes of sizes) {
    const compacted = await resumes({ bytes, compacted: true }, "context", processes)
    const plain = await resumes({ bytes, compacted: false }, "last50", processes)
    context.push([bytes / 1e6, median(compacted)])
    last50.push([bytes / 1e6, median(plain)])
    longest = compacted
  }
  // The value is that of the longest compacted history.
  const series = { "compacted: context": context, "not compacted: last 50": last50 }
  return { ...timed("resume.history", "ms", { ours: longest, raw: [] }), series }
}

async function resumes(log: LogOptions, how: string, processes: number): Promise<readonly number[]> {
  const { root, session } = await storedLog(log)
  const times: number[] = []
  for (let process = 0; process <= processes; process++) {
    const { ms } = await inNewProcess<ResumeTimes>("resume", [root, session, how])
    // The first one fills the cache of the operating system.
    if (process > 0) times.push(ms)
  }
  return times
}

function batch<T>(from: number, size: number, make: (index: number) => T): T[] {
  return Array.from({ length: size }, (_, k) => make(from + k))
}

function distribution(times: readonly number[]): Point[] {
  return SHARES.map((share) => [share, quantile(times, share)])
}

function quantile(times: readonly number[], share: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0
}
