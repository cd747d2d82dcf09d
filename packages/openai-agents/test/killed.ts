/** Processes that share one session in a folder, and are killed. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { createSessions } from "@sessions/core"
import { type AgentSession, createAgentSession } from "@sessions/openai-agents"
import { afterEach, beforeEach, expect } from "vitest"
import { call, isRepeatable } from "./calls.ts"
import { type IN_FOLDERS, openInFolder } from "./folder-storages.ts"
import { FLAGS } from "../../../.config/program.ts"

export const RUNS = fileURLToPath(new URL("runs-process.ts", import.meta.url))
const CALLS = fileURLToPath(new URL("calls-process.ts", import.meta.url))

type Item = Readonly<Record<string, unknown>>
type Storage = (typeof IN_FOLDERS)[number]

let folder = ""
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "openai-agents-"))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

interface Started {
  readonly child: ChildProcess
  readonly output: () => string
  /** The things that it has done. */
  readonly done: () => number
  readonly ended: Promise<unknown>
}

export function start(program: string, storage: Storage, ...args: readonly (string | number)[]): Started {
  const child = spawn(process.execPath, [...FLAGS, program, storage, folder, ...args.map(String)], {
    stdio: ["pipe", "pipe", "inherit"],
  })
  let text = ""
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
  return { child, output: () => text, done: () => text.split("\n").length - 1, ended: once(child, "close") }
}

/** Kills it when it has done this much, or as soon as a process that cannot start has ended. */
export async function killAfter(count: number, { child, done, ended }: Started): Promise<void> {
  await expect.poll(() => child.exitCode !== null || done() >= count, { interval: 1 }).toBe(true)
  child.kill("SIGKILL")
  await ended
  expect(child.signalCode).toBe("SIGKILL")
}

async function withSession<T>(storage: Storage, use: (session: AgentSession<object>) => Promise<T>): Promise<T> {
  const sessions = createSessions({ storage: openInFolder(storage, folder) })
  const result = await use(createAgentSession<object>({ sessions, sessionId: "shared" }))
  await sessions.close()
  return result
}

export function read(storage: Storage): Promise<Item[]> {
  return withSession(storage, async (session) => (await session.getItems()) as Item[])
}

/** The names of the turns; each must be whole. */
export function turnsOf(items: readonly Item[]): readonly string[] {
  const names: string[] = []
  for (let at = 0; at < items.length; at += 4) {
    const [question, asked, result, answer] = items.slice(at, at + 4)
    const name = String(question?.["content"])
    expect(asked).toMatchObject({ type: "function_call", callId: name })
    expect(result).toMatchObject({ type: "function_call_result", callId: name })
    expect(answer).toMatchObject({ role: "assistant", content: [{ text: `to ${name}` }] })
    names.push(name)
  }
  return names
}

export function numbered(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => `${name}${n}`)
}

/**
 * Kills a process that makes the calls from `first` on when it has made `count` of them. The history is that after the last of them, or
 * after the one that ran. Gives the number of the next call.
 */
export async function killBetweenCalls(
  storage: Storage,
  histories: readonly (readonly object[])[],
  first: number,
  count: number,
): Promise<number> {
  const started = start(CALLS, storage, first)
  await killAfter(count, started)
  const called = first + started.done()
  const items = await read(storage)
  const isApplied = JSON.stringify(items) !== JSON.stringify(histories[called])
  expect(items).toEqual(histories[isApplied ? called + 1 : called])
  let next = called + (isApplied ? 1 : 0)
  // A transaction that may have been applied is repeated.
  if (isRepeatable(called)) {
    await withSession(storage, (session) => call(session, called))
    next = called + 1
    expect(await read(storage)).toEqual(histories[next])
  }
  return next
}
