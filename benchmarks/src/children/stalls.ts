/** The longest stretch of a call in which this process does nothing else, for each call that reads or writes a whole session. */
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createSessions, type Session, type Sessions } from "@sessions/core"
import type { Head } from "@sessions/core/storage"
import {
  copySession,
  exportSession,
  forkSession,
  importSession,
  sessionBranches,
  sessionTree,
  verifySession,
} from "@sessions/core/transfer"
import { createStorage } from "../files/storage.ts"

export interface Stalls {
  /** Milliseconds by the name of the call. */
  readonly longest: Readonly<Record<string, number>>
}

const [root = "", session = ""] = process.argv.slice(2)
const scratch = mkdtempSync(join(tmpdir(), "sessions-stalls-"))
process.once("exit", () => rmSync(scratch, { recursive: true, force: true }))

const open = (folder: string): Sessions =>
  createSessions({ storage: createStorage({ root: folder, maxSessionBytes: 4e9 }) })
const exported = join(scratch, "session.jsonl")

/** In this order: the export is imported. */
const CALLS: Readonly<Record<string, (sessions: Sessions) => Promise<unknown>>> = {
  list: async (sessions) => sessions.list(),
  open: async (sessions) => sessions.open(session),
  messages: async (sessions) => (await sessions.open(session)).messages(),
  context: async (sessions) => (await sessions.open(session)).context(),
  tree: async (sessions) => sessionTree(await sessions.open(session)),
  branches: async (sessions) => sessionBranches(await sessions.open(session)),
  entries: async (sessions) => drain((await sessions.open(session)).entries()),
  // Of an id that the log does not have.
  entry: async (sessions) => (await sessions.open(session)).entry("nobody"),
  append: async (sessions) => repeat(await sessions.open(session)),
  export: async (sessions) =>
    drain(exportSession(sessions, session), (text) => writeFileSync(exported, text, { flag: "a" })),
  verify: async (sessions) => verifySession(sessions, session),
  import: async (sessions) => importSession(sessions, () => createReadStream(exported), { id: "imported" }),
  // The log has no information: it is read for its counts and its open branches.
  info: async (sessions) => sessions.info("bare"),
  fork: async (sessions) => forkSession(sessions, session, { id: "forked" }),
  copy: async (sessions) =>
    copySession(sessions, session, createStorage({ root: join(scratch, "copies"), maxSessionBytes: 4e9 })),
}

const setup = open(root)
await copyBare(setup)
await setup.close()
const longest: Record<string, number> = {}
for (const [name, call] of Object.entries(CALLS)) {
  const sessions = open(root)
  try {
    longest[name] = await longestStretch(() => call(sessions))
  } finally {
    await sessions.close()
  }
}
const cleanup = open(root)
for (const id of ["bare", "imported", "forked"]) await cleanup.delete(id)
await cleanup.close()
console.log(JSON.stringify({ longest } satisfies Stalls))

/** Of CPU time, so that other programs of the machine do not count: between two turns of the event loop. */
async function longestStretch(call: () => Promise<unknown>): Promise<number> {
  let longest = 0
  let before = cpu()
  let isOver = false
  const watch = (): void => {
    const now = cpu()
    longest = Math.max(longest, now - before)
    before = now
    if (!isOver) setImmediate(watch)
  }
  setImmediate(watch)
  await call()
  isOver = true
  await new Promise((resolve) => setImmediate(resolve))
  return longest
}

/** Milliseconds of this thread alone: garbage collection and file access run in others too. */
function cpu(): number {
  const { threadCpuUsage } = process as unknown as { threadCpuUsage?: typeof process.cpuUsage }
  if (threadCpuUsage === undefined) throw new Error("This runtime does not count the CPU time of a thread. Use Node.")
  const { user, system } = threadCpuUsage()
  return (user + system) / 1_000
}

async function drain<T>(source: AsyncIterable<T>, take: (item: T) => void = () => undefined): Promise<void> {
  for await (const item of source) take(item)
}

/** An id without a time is looked for in the whole log. */
async function repeat(session: Session): Promise<unknown> {
  const entry = { id: "none", type: "acme:note" } as const
  return session.append(entry, { repeats: "log" })
}

/** A copy of the log without information. */
async function copyBare({ storage }: Sessions): Promise<void> {
  let head: Head | undefined
  for await (const { lines } of storage.read(session)) head = await storage.append("bare", lines, { expect: head ?? 0 })
}
