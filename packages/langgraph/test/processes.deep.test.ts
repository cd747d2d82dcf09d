/** Several processes on one thread in files: puts at once, trimming, and kills. */
import { expect, test } from "vitest"
import { newFolder } from "./folders.ts"
import { killPutter, type Putter, startPutter, withSaver } from "./putters.ts"
import { lastMessages, listed, startOf } from "./threads.ts"

test("of 3 processes that put into one thread at once and trim it, each has its newest checkpoints with their writes", async () => {
  const root = newFolder()
  const names = ["a", "b", "c"]
  const putters = names.map((name) => startPutter(root, name, 120))
  await Promise.all(putters.map(({ ended }) => ended))
  expect(putters.map(({ stored }) => stored())).toEqual([120, 120, 120])
  await withSaver(root, async (saver) => {
    for (const name of names) {
      const all = await listed(saver, startOf("shared", name))
      expect(all.length).toBeGreaterThanOrEqual(30)
      for (const [at, { checkpoint, pendingWrites }] of all.entries()) {
        const n = 119 - at
        expect(checkpoint.channel_values).toEqual({ messages: lastMessages(n) })
        expect(pendingWrites).toEqual([1, 2].map((task) => [`task-${task}`, "messages", n]))
      }
    }
  })
})

/** When a process is killed, by the round. */
const MOMENTS: Readonly<Record<string, (putter: Putter, round: number) => boolean>> = {
  puts: ({ stored }, round) => stored() > round * 17,
  trims: ({ trims }, round) => trims() > round % 2,
}

test.each(Object.keys(MOMENTS))(
  "a process that is killed while it %s loses nothing that was stored and doubles nothing, and the next one goes on",
  async (moment) => {
    const root = newFolder()
    for (let round = 0; round < 5; round++) {
      const stored = await killPutter(root, `k${round}`, (putter) => MOMENTS[moment]?.(putter, round) === true)
      expect(stored).toBeGreaterThan(0)
    }
  },
)
