import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { createIdleCompaction } from "../src/log/idle-compaction.ts"

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test("a session is compacted two seconds after its last append, if it has gained 32 rows", () => {
  const compacted: string[] = []
  const idle = createIdleCompaction(async (session) => compacted.push(session))
  for (let row = 1; row <= 32; row++) {
    idle.count("many")
    if (row < 32) idle.count("few")
    vi.advanceTimersByTime(1_999)
  }
  idle.count("read", 1_000)
  expect(compacted).toEqual([])
  vi.advanceTimersByTime(1)
  expect(compacted).toEqual(["many"])
  vi.advanceTimersByTime(10_000)
  expect(compacted).toEqual(["many", "read"])
  idle.count("many")
  vi.advanceTimersByTime(10_000)
  expect(compacted).toEqual(["many", "read"])
})

test("nothing is compacted after the storage is closed, and a compaction that fails disturbs no call", async () => {
  const compact = vi.fn<() => Promise<never>>(() => Promise.reject(new Error("no space")))
  const idle = createIdleCompaction(compact)
  idle.count("one", 40)
  await vi.advanceTimersByTimeAsync(2_000)
  expect(compact).toHaveBeenCalledTimes(1)
  idle.count("two", 40)
  idle.close()
  await vi.advanceTimersByTimeAsync(2_000)
  expect(compact).toHaveBeenCalledTimes(1)
})
