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

const PROGRAM = fileURLToPath(new URL("putter-process.ts", import.meta.url))
const FLAGS =
  "Deno" in globalThis ? ["run", "-A", "--no-lock", "--cached-only", "--conditions=source"] : ["--conditions=source"]

interface Putter {
  readonly child: ChildProcess
  /** The numbers that it has printed. */
  readonly stored: () => number
  readonly ended: Promise<unknown>
}

function start(root: string, name: string, count: number): Putter {
  const child = spawn(process.execPath, [...FLAGS, PROGRAM, root, name, String(count)], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  let text = ""
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
  return { child, stored: () => text.split("\n").length - 1, ended: once(child, "close") }
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

test("a process that is killed while it puts loses nothing that was stored and doubles nothing, and the next one goes on", async () => {
  const root = newFolder()
  for (let round = 0; round < 5; round++) {
    const name = `k${round}`
    const putter = start(root, name, 1_000_000)
    // At another moment in each round, or as soon as a process that cannot start has ended.
    const isDue = (): boolean => putter.child.exitCode !== null || putter.stored() > round * 17
    await expect.poll(isDue, { interval: 1 }).toBe(true)
    putter.child.kill("SIGKILL")
    await putter.ended
    expect(putter.child.signalCode).toBe("SIGKILL")
    await withSaver(root, async (saver) => {
      const all = await listed(saver, startOf("shared", name))
      const newest = all[0]?.checkpoint.channel_versions["messages"] as number
      expect(newest).toBeGreaterThanOrEqual(putter.stored() - 1)
      expect(newest).toBeLessThanOrEqual(putter.stored())
      for (const [at, { checkpoint, pendingWrites }] of all.entries()) {
        expect(checkpoint.channel_values).toEqual({ messages: lastMessages(newest - at) })
        const writes = [1, 2].map((task) => [`task-${task}`, "messages", newest - at])
        if (newest - at < putter.stored()) expect(pendingWrites).toEqual(writes)
      }
      const next = await put(saver, all[0]?.config ?? startOf("shared", name), { messages: ["after"] })
      expect((await saver.getTuple(startOf("shared", name)))?.config).toEqual(next)
    })
  }
})
