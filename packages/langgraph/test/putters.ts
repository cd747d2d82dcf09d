/** Processes that put into one thread in files, and are killed. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { createSessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { SessionsSaver } from "@sessions/langgraph"
import { expect } from "vitest"
import { lastMessages, listed, put, startOf } from "./threads.ts"
import { FLAGS } from "../../../.config/program.ts"

const PROGRAM = fileURLToPath(new URL("putter-process.ts", import.meta.url))

export interface Putter {
  readonly child: ChildProcess
  /** How many numbers it has printed. */
  readonly stored: () => number
  /** How often it has begun to trim. */
  readonly trims: () => number
  readonly ended: Promise<unknown>
}

export function startPutter(root: string, name: string, count: number): Putter {
  const child = spawn(process.execPath, [...FLAGS, PROGRAM, root, name, String(count)], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  let text = ""
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
  const timesOf = (line: RegExp): number => [...text.matchAll(line)].length
  return { child, stored: () => timesOf(/^\d+\n/gm), trims: () => timesOf(/^trims\n/gm), ended: once(child, "close") }
}

export async function withSaver<T>(root: string, use: (saver: SessionsSaver) => Promise<T>): Promise<T> {
  const sessions = createSessions({ storage: createFileStorage({ root }) })
  const saver = new SessionsSaver({ sessions })
  const result = await use(saver)
  await saver.close()
  await sessions.close()
  return result
}

/**
 * Kills a process that puts into the namespace `name`, at its moment: it has lost and doubled nothing, and another process goes on. Gives how
 * many checkpoints the namespace has then.
 */
export async function killPutter(root: string, name: string, isMoment: (putter: Putter) => boolean): Promise<number> {
  const putter = startPutter(root, name, 1_000_000)
  // As soon as it is the moment, or a process that cannot start has ended.
  const isDue = (): boolean => putter.child.exitCode !== null || isMoment(putter)
  await expect.poll(isDue, { interval: 1 }).toBe(true)
  putter.child.kill("SIGKILL")
  await putter.ended
  expect(putter.child.signalCode).toBe("SIGKILL")
  return withSaver(root, async (saver) => {
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
    return (await listed(saver, startOf("shared", name))).length
  })
}
