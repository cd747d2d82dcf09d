/** The test page: functions that the driver calls. */
import { run } from "@sessions/conformance"
import type { Head } from "@sessions/core/storage"
import { createIndexedDbStorage, type IndexedDbStorage } from "@sessions/idb"
import { deleteDB } from "idb"
import { indexedDb } from "../subject.ts"
import { type Callable, call } from "./calls.ts"
import { type Summary, summaryOf } from "./summary.ts"

export type WorkerKind = "Worker" | "SharedWorker" | "ServiceWorker"

export interface Race {
  /** Rounds without exactly one winner and conflicts for all others. */
  readonly wrong: readonly string[]
  /** The number of lines in the log afterwards. */
  readonly lines: number
  /** Lines that are not those of the winners in order. */
  readonly misplaced: number
}

export interface Filled {
  /** The code of the append that was refused. */
  readonly code: string | undefined
  readonly message: string
  readonly acknowledged: number
  /** The number of lines that the storage reads afterwards. */
  readonly found: number
}

/** The functions of the global `tests`. */
export interface PageTests {
  conformance(): Promise<Summary>
  /** Runs groups of the suite in a worker; a string is the reason why this engine has no such worker. */
  inWorker(kind: WorkerKind, only: readonly string[]): Promise<Summary | string>
  race(workers: number, rounds: number): Promise<Race>
  /** Opens the storage that {@link fill} uses, with two sessions: opening needs space itself. */
  begin(): Promise<void>
  /** Appends until the quota is exceeded, or the disk is full. */
  fill(): Promise<Filled>
  /** With a new storage: deletes the other session, appends once more, and returns the number of lines. */
  appendAfterDelete(): Promise<number>
}

/** What {@link PageTests.begin} opened. */
let full: { readonly storage: IndexedDbStorage; readonly head: Head } | undefined

const tests: PageTests = {
  async begin() {
    const storage = createIndexedDbStorage({ database: FULL })
    await storage.append("ballast", [noise(), noise(), noise(), noise()], { expect: 0 })
    full = { storage, head: await storage.append("a", ["first"], { expect: 0 }) }
  },

  async fill() {
    if (full === undefined) throw new Error("begin() comes first")
    const { storage } = full
    let { head } = full
    let refused: { code?: string; message: string } = { message: "no append was refused" }
    for (let n = 0; n < 100 && refused.code === undefined; n++) {
      try {
        head = await storage.append("a", [noise()], { expect: head })
      } catch (error) {
        refused = error as Error & { code: string }
      }
    }
    let found = 0
    for await (const { lines } of storage.read("a")) found += lines.length
    const { code, message } = refused
    return { code, message, acknowledged: head.next, found }
  },

  async appendAfterDelete() {
    const storage = createIndexedDbStorage({ database: FULL })
    await storage.delete("ballast")
    const head = await storage.head("a")
    await storage.append("a", ["after"], { expect: head ?? 0 })
    return linesOf("a")
  },

  conformance: async () => summaryOf(await run(indexedDb, { sizes: { limitBytes: 8_000_000 } })),

  async inWorker(kind, only) {
    const worker = await start(kind)
    return typeof worker === "string" ? worker : ((await call(worker, "conformance", only)) as Summary)
  },

  async race(count, rounds) {
    const database = `race-${Date.now()}`
    const storage = createIndexedDbStorage({ database })
    let head = await storage.append("a", ["start"], { expect: 0 })
    const workers = Array.from({ length: count }, () => new Worker("worker.js"))
    await Promise.all(workers.map((worker) => call(worker, "open", database, "a")))
    const wrong: string[] = []
    const winners = ["start"]
    for (let round = 0; round < rounds; round++) {
      const expect = head
      const lines = workers.map((_, index) => `{"round":${round},"by":${index}}`)
      const answers = await Promise.all(
        workers.map((worker, index) => call(worker, "append", "a", lines[index], expect)),
      )
      const won = answers.flatMap((answer, index) => (typeof answer === "object" ? [index] : []))
      const conflicts = answers.filter((answer) => answer === "conflict").length
      if (won.length !== 1 || conflicts !== count - 1) wrong.push(`${round}: ${JSON.stringify(answers)}`)
      winners.push(...won.map((index) => lines[index] ?? ""))
      head = (await storage.head("a")) ?? head
    }
    const found: string[] = []
    for await (const chunk of storage.read("a")) found.push(...chunk.lines)
    // WebKit's page process sometimes aborts if a worker is terminated while its storage is open.
    await Promise.all(workers.map((worker) => call(worker, "close")))
    for (const worker of workers) worker.terminate()
    await storage[Symbol.asyncDispose]()
    await deleteDB(database)
    return { wrong, lines: found.length, misplaced: found.filter((line, index) => line !== winners[index]).length }
  },
}

async function linesOf(session: string): Promise<number> {
  const storage = createIndexedDbStorage({ database: FULL })
  let count = 0
  for await (const { lines } of storage.read(session)) count += lines.length
  await storage[Symbol.asyncDispose]()
  return count
}

/** A line of 200 KB that does not compress. */
function noise(): string {
  return JSON.stringify(Array.from({ length: 20_000 }, () => Math.random().toString(36).slice(2, 12)).join(""))
}

const FULL = "full"

async function start(kind: WorkerKind): Promise<Callable | string> {
  if (kind === "Worker") return new Worker("worker.js")
  if (kind === "SharedWorker") {
    if (typeof SharedWorker === "undefined") return "this engine has no shared workers"
    return new SharedWorker("worker.js").port
  }
  const container = (navigator as Partial<Navigator>).serviceWorker
  if (container === undefined) return "this engine lets the page have no service worker"
  await container.register("worker.js")
  const { active } = await container.ready
  return active ?? "the service worker did not become active"
}

Object.assign(globalThis, { tests })
