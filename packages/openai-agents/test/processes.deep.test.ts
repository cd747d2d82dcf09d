/** Processes that share one session: at once, one after the other, and killed. */
import { expect, test } from "vitest"
import { historiesAfter } from "./calls.ts"
import { IN_FOLDERS } from "./folder-storages.ts"
import { killAfter, killBetweenCalls, numbered, read, RUNS, start, turnsOf } from "./killed.ts"

test.each(IN_FOLDERS)(
  "two processes that run at once leave one history with all turns of both, on %s",
  async (storage) => {
    const started = ["a", "b"].map((name) => start(RUNS, storage, "turns", name, 25))
    await Promise.all(started.map(({ ended }) => ended))
    expect(started.map(({ done }) => done())).toEqual([25, 25])
    const turns = turnsOf(await read(storage))
    expect(turns).toHaveLength(50)
    for (const name of ["a", "b"]) expect(turns.filter((turn) => turn.startsWith(name))).toEqual(numbered(name, 25))
  },
)

test.each(IN_FOLDERS)(
  "a process that is killed while it runs beside another one loses no turn that has ended, and leaves none in part, on %s",
  async (storage) => {
    const other = start(RUNS, storage, "turns", "other", 60)
    const expected = new Map<string, number>()
    for (let round = 0; round < 4; round++) {
      const name = `k${round}-`
      const started = start(RUNS, storage, "turns", name, 1_000_000)
      await killAfter(round * 5, started)
      expected.set(name, started.done())
    }
    await other.ended
    expect(other.done()).toBe(60)
    const turns = turnsOf(await read(storage))
    expect(turns.filter((turn) => turn.startsWith("other"))).toEqual(numbered("other", 60))
    for (const [name, count] of expected) {
      const found = turns.filter((turn) => turn.startsWith(name))
      // The turn in which it was killed may be there.
      expect(found).toEqual(numbered(name, Math.max(count, found.length)))
      expect(found.length).toBeLessThanOrEqual(count + 1)
    }
  },
)

test.each(IN_FOLDERS)(
  "a process that is killed between any calls, rewrites too, leaves the history of the last one or of that which ran, on %s",
  async (storage) => {
    const histories = await historiesAfter(1_000)
    let next = 0
    for (let round = 0; round < 5; round++) next = await killBetweenCalls(storage, histories, next, round * 4 + 1)
    expect(next).toBeGreaterThanOrEqual(1 + 5 + 9 + 13 + 17)
  },
)

test.each(IN_FOLDERS)(
  "a run that waits for approval is resumed after its process was killed, on %s",
  async (storage) => {
    const asking = start(RUNS, storage, "ask")
    await killAfter(1, asking)
    const resuming = start(RUNS, storage, "resume")
    resuming.child.stdin?.end(asking.output())
    await resuming.ended
    expect(resuming.output()).toBe("In France.\n")
    expect((await read(storage)).map(({ type, role }) => role ?? type)).toEqual([
      "user",
      "function_call",
      "function_call_result",
      "assistant",
    ])
  },
)
