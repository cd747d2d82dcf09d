/** Processes that share one session: at once, one after the other, and killed. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { createSessions } from "@sessions/core"
import { type AgentSession, createAgentSession } from "@sessions/openai-agents"
import { afterEach, beforeEach, expect, test } from "vitest"
import { call, historiesAfter, isRepeatable } from "./calls.ts"
import { IN_FOLDERS, openInFolder } from "./folder-storages.ts"
import { FLAGS } from "../../../.config/program.ts"

const RUNS = fileURLToPath(new URL("runs-process.ts", import.meta.url))
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

function start(program: string, storage: Storage, ...args: readonly (string | number)[]): Started {
  const child = spawn(process.execPath, [...FLAGS, program, storage, folder, ...args.map(String)], {
    stdio: ["pipe", "pipe", "inherit"],
  })
  let text = ""
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => (text += chunk))
  return { child, output: () => text, done: () => text.split("\n").length - 1, ended: once(child, "close") }
}

/** Kills it when it has done this much, or as soon as a process that cannot start has ended. */
async function killAfter(count: number, { child, done, ended }: Started): Promise<void> {
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

function read(storage: Storage): Promise<Item[]> {
  return withSession(storage, async (session) => (await session.getItems()) as Item[])
}

/** The names of the turns; each must be whole. */
function turnsOf(items: readonly Item[]): readonly string[] {
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

function numbered(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, n) => `${name}${n}`)
}

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
    for (let round = 0; round < 5; round++) {
      const started = start(CALLS, storage, next)
      await killAfter(round * 4 + 1, started)
      const called = next + started.done()
      const items = await read(storage)
      const isApplied = JSON.stringify(items) !== JSON.stringify(histories[called])
      expect(items).toEqual(histories[isApplied ? called + 1 : called])
      next = called + (isApplied ? 1 : 0)
      // A transaction that may have been applied is repeated.
      if (isRepeatable(called)) {
        await withSession(storage, (session) => call(session, called))
        next = called + 1
        expect(await read(storage)).toEqual(histories[next])
      }
    }
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
