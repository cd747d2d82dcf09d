/** Trimming on one kind of storage, by two savers of which each has the thread open. */
import { createSessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { SessionsSaver } from "@sessions/langgraph"
import { expect, test } from "vitest"
import { listed, put, startOf, valuesOf } from "./threads.ts"

const KEEP = 5
const PUTS = 130

/** `open` returns a storage of a new place, and another one of the same place. */
export function trimmingTest(name: string, open: () => Promise<readonly [SessionStorage, SessionStorage]>): void {
  test(`a trimmed thread has its newest checkpoints, unchanged, for every saver that has it open, on ${name}`, async () => {
    const opened = (await open()).map((storage) => createSessions({ storage }))
    const savers = opened.map((sessions) => new SessionsSaver({ sessions, keep: KEEP }))
    const valuesAt = (n: number) => ({ n, bytes: new Uint8Array([n, 255]), same: "x".repeat(2_000) })
    let last = startOf("a/b ü")
    for (let n = 0; n < PUTS; n++) {
      // By the other saver for a while, so that both meet logs that the other one has replaced.
      const saver = savers[Math.floor(n / 20) % 2] as SessionsSaver
      last = await put(saver, last, valuesAt(n), {
        version: n,
        changed: n === 0 ? Object.keys(valuesAt(n)) : ["n", "bytes"],
      })
      await saver.putWrites(last, [["n", n]], "task")
    }
    for (const saver of savers) {
      expect(await valuesOf(saver, last)).toEqual(valuesAt(PUTS - 1))
      const all = await listed(saver, startOf("a/b ü"))
      expect(all.length).toBeGreaterThanOrEqual(KEEP)
      expect(all.length).toBeLessThanOrEqual(2 * KEEP + 51)
      for (const [at, { checkpoint, pendingWrites }] of all.entries()) {
        expect(checkpoint.channel_values).toEqual(valuesAt(PUTS - 1 - at))
        expect(pendingWrites).toEqual([["task", "n", PUTS - 1 - at]])
      }
    }
    for (const saver of savers) await saver.close()
    for (const sessions of opened) await sessions.close()
  })
}
