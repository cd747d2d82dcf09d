/** Appends prepared lines of 200 bytes through the `append` of the memory storage, 64 in flight. */
import type { Head } from "@sessions/core/storage"
import { createMemoryStorage } from "@sessions/memory"
import { type Result, type Scenario, timed } from "./report.ts"
import { milliseconds, ROUNDS, verify } from "./rounds.ts"

const IN_FLIGHT = 64

export function memoryScenarios(quick: boolean): readonly Scenario[] {
  return [{ id: "memory.append", run: () => append(quick ? 64_000 : 320_000) }]
}

/** One session for each append in flight, since an append needs the head before it. */
async function append(count: number): Promise<Result> {
  const line = JSON.stringify({ type: "message", text: "x".repeat(170) })
  const each = count / IN_FLIGHT
  const times: number[] = []
  for (let round = 0; round <= ROUNDS; round++) {
    const storage = createMemoryStorage()
    const appender = async (_: unknown, n: number): Promise<void> => {
      let head: Head = await storage.append(`s${n}`, [line], { expect: 0 })
      for (let i = 1; i < each; i++) head = await storage.append(`s${n}`, [line], { expect: head })
    }
    const ms = await milliseconds(() => Promise.all(Array.from({ length: IN_FLIGHT }, appender)))
    verify((await storage.head("s0"))?.next === each, "not every line is in its log")
    if (round > 0) times.push(ms)
  }
  const { value, spread, ...rest } = timed("memory.append", "lines/s", { ours: times, raw: [] })
  const rate = (ms: number): number => (count / ms) * 1_000
  return { ...rest, value: rate(value), spread: [rate(spread[1]), rate(spread[0])] }
}
