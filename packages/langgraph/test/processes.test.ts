/** Several processes on one thread in files: puts at once, trimming, and kills. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { SessionsSaver } from "@sessions/langgraph"
import { expect, test } from "vitest"
import { newFolder } from "./folders.ts"
import { lastMessages, listed, put, startOf } from "./threads.ts"
import { FLAGS } from "../../../.config/program.ts"

const PROGRAM = fileURLToPath(new URL("putter-process.ts", import.meta.url))

interface Putter {
  readonly child: ChildProcess
  /** How many numbers it has printed. */
  readonly stored: () => number
  /** How often it has begun to trim. */
  readonly trims: () => number
  readonly ended: Promise<unknown>
}

function start(root: string, name: string, count: number): Putter {
  const child = spawn(process.execPath, [...FLAGS, PROGRAM, root, name, String(count)], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  let text = ""
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
  const timesOf = (line: RegExp): number => [...text.matchAll(line)].length
  return { child, stored: () => timesOf(/^\d+\n/gm), trims: () => timesOf(/^trims\n/gm), ended: once(child, "close") }
}

async function withSaver<T>(root: string, use: (saver: SessionsSaver) => Promise<T>): Promise<T> {
  const sessions = createSessions({ storage: createFileStorage({ root }) })
  const saver = new SessionsSaver({ sessions })
  const result = await use(saver)
  await saver.close()
  await sessions.close()
  return result
}

test("of 3 processes that put into one thread at once and trim it, each has its newest checkpoints with their writes", async () => {
  const root = newFolder()
  const names = ["a", "b", "c"]
  const putters = names.map((name) => start(root, name, 120))
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
      const name = `k${round}`
      const putter = start(root, name, 1_000_000)
      // As soon as it is the moment, or a process that cannot start has ended.
      const isDue = (): boolean => putter.child.exitCode !== null || MOMENTS[moment]?.(putter, round) === true
      await expect.poll(isDue, { interval: 1 }).toBe(true)
      putter.child.kill("SIGKILL")
      await putter.ended
      expect(putter.child.signalCode).toBe("SIGKILL")
      await withSaver(root, async (saver) => {
        const all = await listed(saver, startOf("shared", name))
        const newest = all[0]?.checkpoint.channel_versions["messages"] as number
        expect(newest).toBeGreaterThanOrEqual(putter.stored() - 1)
        expect(newest).toBeLessThanOrEqual(putter.stored())
        expect(all.length).toBeGreaterThanOrEqual(Math.min(30, putter.stored()))
        for (const [at, { checkpoint, pendingWrites }] of all.entries()) {
          expect(checkpoint.channel_values).toEqual({ messages: lastMessages(newest - at) })
          const writes = [1, 2].map((task) => [`task-${task}`, "messages", newest - at])
          if (newest - at < putter.stored()) expect(pendingWrites).toEqual(writes)
        }
        const next = await put(saver, all[0]?.config ?? startOf("shared", name), { messages: ["after"] })
        expect((await saver.getTuple(startOf("shared", name)))?.config).toEqual(next)
      })
    }
  },
)
