/** One round: stores a damaged log, or damages what is stored of a log, calls everything, and compares what came of it. */
import { createSessions } from "@sessions/core"
import { piLogs } from "@sessions/core/migrations"
import type { Chunk, Head, SessionStorage } from "@sessions/core/storage"
import { createDice, type Dice } from "../../../packages/core/test/dice.ts"
import { importingCall, readingCalls, writingCalls } from "../../../packages/core/test/every-call.ts"
import { oneOfEach } from "../../../packages/core/test/one-of-each.ts"
import { indexedDbStore, sqliteStore } from "./databases.ts"
import { damageFields, damageOrder, damageStored, type Json, toLines } from "./mutate.ts"
import { postgresStore } from "./postgres.ts"
import { bucketStore, type Extent, fileStore, memoryStore, type Steps, type Store, type Stored } from "./stores.ts"

/** Steps of I/O that a round may take for each line; a round without a defect takes less than a fifth of it. */
const STEPS_PER_LINE = 300
/** The smaller of the stores take no longer line. */
const MOST_LINE_BYTES = 7_900

export interface Outcome {
  readonly name: string
  readonly findings: readonly string[]
  /** Of the steps that are allowed, the share that was taken. */
  readonly steps: number
}

/** Those that need no server. */
const STORES: readonly (() => Store)[] = [
  bucketStore,
  () => fileStore(8_000),
  () => fileStore(60_000),
  () => fileStore(1e6),
  indexedDbStore,
  sqliteStore,
]

/** Stores that a run may be limited to. */
const BY_NAME: Readonly<Record<string, () => Store>> = { postgres: postgresStore }

export async function fuzz(seed: number, only?: string): Promise<Outcome> {
  const dice = createDice(seed)
  const version = dice.pick([4, 4, 4, 3, 2, 1] as const)
  const isStoredDamaged = dice.chance(0.4)
  const any = !isStoredDamaged && dice.chance(0.7) ? memoryStore : dice.pick(STORES)
  const store = (only === undefined ? any : (BY_NAME[only] as () => Store))()
  try {
    const [header, ...entries] = damageFields(
      log(version, dice),
      dice.pick(isStoredDamaged ? [0, 0, 0.03] : SHARES),
      dice,
    )
    const records = [header as Json, ...entries]
    const lines = (!isStoredDamaged && dice.chance(0.4) ? damageOrder(records, dice) : toLines(records)).filter(
      (line) => Buffer.byteLength(line) < MOST_LINE_BYTES,
    )
    return await fuzzStored({ store, lines, dice, version, isStoredDamaged })
  } finally {
    await store.remove()
  }
}

/** Of the records, those with a wrong value. */
const SHARES: readonly number[] = [0.03, 0.2, 0.6]

/** With several entries of each type, and sometimes so long that the index of a part has several lines. */
function log(version: 1 | 2 | 3 | 4, dice: Dice): readonly Json[] {
  const [header, ...entries] = oneOfEach(version)
  const times = dice.pick([1, 1, 3, 12])
  const all = Array.from({ length: times }, (_, time) => entries.map((entry) => shifted(entry, time * entries.length)))
  const said = all[0]?.find(({ type }) => type === "message") as Json
  const long = dice.chance(0.1) ? 150 : 0
  const fillers = Array.from({ length: long }, (_, n) =>
    shifted({ ...said, filler: "y".repeat(7_000) }, times * entries.length + n),
  )
  return [header as Json, ...all.flat(), ...fillers]
}

/** The same entry so many lines later, with references to the entries that are as many lines later. */
function shifted(entry: object, by: number): Json {
  const text = JSON.stringify(entry)
    .replace(/"01K8ZQ4Y9G0000000000000(\d{3})"/g, (_, n) => `"01K8ZQ4Y9G${String(Number(n) + by).padStart(16, "0")}"`)
    .replace(/"(seq|\w+Seq)":(\d+)/g, (_, name: string, seq) => `"${name}":${Number(seq) + by}`)
  const moved = JSON.parse(text) as Json
  return moved["parentId"] === null && by > 0
    ? { ...moved, parentId: `01K8ZQ4Y9G${String(by).padStart(16, "0")}` }
    : moved
}

interface Case {
  readonly store: Store
  readonly lines: readonly string[]
  readonly dice: Dice
  readonly version: number
  readonly isStoredDamaged: boolean
}

async function fuzzStored({ store, lines, dice, version, isStoredDamaged }: Case): Promise<Outcome> {
  const steps: Steps = { count: 0, most: 5_000 + STEPS_PER_LINE * lines.length }
  await write(store, lines, steps, dice)
  const putBack = isStoredDamaged ? await store.snapshot() : undefined
  const damaged = isStoredDamaged ? await damage(store, dice) : { what: "", extents: [] }
  const before = await store.read()
  const findings: string[] = []
  await withStorage(store, steps, async (storage) =>
    findings.push(...(await readStored(storage, lines, damaged.extents, dice))),
  )
  await withStorage(store, steps, async (storage) => {
    const sessions = createSessions({ storage, readers: [piLogs] })
    const { defects, exported } = await readingCalls(sessions, "s")
    findings.push(...defects, ...(await changesOf(store, before)))
    if (version === 4 && isCurrent(lines)) findings.push(...exportProblems(exported, lines, damaged.extents))
    findings.push(...(await writingCalls(sessions, "s")))
    await sessions.close()
  })
  const memory = createSessions({ storage: memoryStore().open(steps), readers: [piLogs] })
  findings.push(...(await importingCall(memory, `${lines.join("\n")}\n`)))
  const more = putBack === undefined ? [] : await damageAgain(store, putBack, lines, dice)
  const name = `version ${version} on ${store.name}${damaged.what}`
  return { name, findings: [...findings, ...more], steps: steps.count / steps.most }
}

interface Damaged {
  readonly what: string
  readonly extents: readonly Extent[]
}

/** Damages one or two of the things that are stored. */
async function damage(store: Store, dice: Dice): Promise<Damaged> {
  const whole = await store.read()
  const done: string[] = []
  const extents: Extent[] = []
  for (let times = dice.pick([1, 1, 2]); times > 0; times--) {
    const found = damageStored(await store.read(), (path) => store.isRow(path), dice)
    if (found === undefined) continue
    extents.push(store.extentOf(found.path, whole))
    await store.write(found.path, found.bytes)
    done.push(`, ${found.what}`)
  }
  return { what: done.join(""), extents }
}

/** Reads the same log with other damage, by the storage alone: what the sessions make of the lines takes many times as long. */
async function damageAgain(
  store: Store,
  putBack: () => Promise<void>,
  lines: readonly string[],
  dice: Dice,
): Promise<string[]> {
  const findings: string[] = []
  for (let times = 0; times < AGAIN && findings.length === 0; times++) {
    await putBack()
    const { what, extents } = await damage(store, dice)
    const steps: Steps = { count: 0, most: 5_000 + STEPS_PER_LINE * lines.length }
    await withStorage(store, steps, async (storage) => {
      for (const finding of await readStored(storage, lines, extents, dice)) findings.push(`then${what}: ${finding}`)
    })
  }
  return findings
}

const AGAIN = 10

async function withStorage(
  store: Store,
  steps: Steps,
  use: (storage: SessionStorage) => Promise<unknown>,
): Promise<void> {
  const storage = store.open(steps)
  try {
    await use(storage)
  } finally {
    await storage[Symbol.asyncDispose]()
  }
}

/** In a few batches, with documents and derived data, as programs leave it. */
async function write(store: Store, lines: readonly string[], steps: Steps, dice: Dice): Promise<void> {
  const batchBytes = dice.pick([7_950, 2_000])
  await withStorage(store, steps, async (storage) => {
    let head: Head | 0 = 0
    let batch: string[] = []
    for (const [at, line] of lines.entries()) {
      batch.push(line)
      if (at < lines.length - 1 && bytesOf(batch) + Buffer.byteLength(lines[at + 1] ?? "") < batchBytes) continue
      head = await storage.append("s", batch, { expect: head })
      batch = []
    }
    await storage.docs.put("sessions/s/notes", "A note.", { expect: null })
    const sessions = createSessions({ storage, readers: [piLogs] })
    // Information is stored beside the log; a log that is no session has none.
    if (dice.chance(0.5)) await sessions.info("s").catch(() => undefined)
    await sessions.close()
  })
}

function bytesOf(lines: readonly string[]): number {
  return Buffer.byteLength(lines.join("\n")) + 2
}

/** The lines that a storage gives: no line outside of the damage is hidden, shifted or refused. */
async function readStored(
  storage: SessionStorage,
  lines: readonly string[],
  extents: readonly Extent[],
  dice: Dice,
): Promise<string[]> {
  const findings: string[] = []
  const isDamaged = (seq: number): boolean => extents.some(([from, to]) => seq >= from && seq < to)
  const isAnyDamaged = extents.some(([from, to]) => from < to)
  const check = (seq: number, line: string, how: string): void => {
    if (!isDamaged(seq) && lines[seq] !== line && findings.length < 3)
      findings.push(`${how}: line ${seq} is another one`)
  }
  const read = async (how: string, call: () => Promise<void>): Promise<boolean> => {
    try {
      await call()
      return true
    } catch (error) {
      if (typeof (error as { code?: unknown } | undefined)?.code !== "string") findings.push(`${how}: ${String(error)}`)
      else if (!isAnyDamaged) findings.push(`${how}: ${String(error)}, but no line was damaged`)
      return false
    }
  }

  /** Checks the lines, and that no line is between two chunks. Resolves to the line after the last one. */
  const linesUpTo = async (
    chunks: AsyncIterable<Chunk>,
    start: number | undefined,
    how: string,
    onChunk: (from: number) => unknown = () => undefined,
  ): Promise<number> => {
    let next = start
    for await (const { from, lines: some } of chunks) {
      if (from !== (next ?? from))
        findings.push(`${how}: a chunk begins with line ${from}, not ${next}, without an error`)
      onChunk(from)
      for (const [n, line] of some.entries()) check(from + n, line, how)
      next = from + some.length
    }
    return next ?? -1
  }

  await read("read", async () => {
    const end = await linesUpTo(storage.read("s"), 0, "read")
    const missing = lines.findIndex((_, seq) => seq >= end && !isDamaged(seq))
    if (missing >= 0) findings.push(`read: line ${missing} is missing, without an error`)
  })
  const maxBytes = dice.pick([3_000, 20_000, 100_000, 1_000_000])
  await read("windows", async () => {
    let before = (await storage.head("s"))?.next ?? 0
    if (!isAnyDamaged && before !== lines.length) findings.push(`head: ${before} lines, not ${lines.length}`)
    while (before > 0) {
      let first: number | undefined
      const chunks = storage.read("s", { before, maxBytes })
      const end = await linesUpTo(chunks, undefined, "windows", (from) => (first ??= from))
      if (end !== before || first === undefined || first >= before)
        return void findings.push(`windows: the lines before ${before} end with ${end}, without an error`)
      before = first
    }
  })
  return findings
}

function exportProblems(exported: string | undefined, lines: readonly string[], extents: readonly Extent[]): string[] {
  if (extents.some(([from, to]) => from < to)) return []
  const expected = `${lines.join("\n")}\n`
  if (exported === undefined) return ["export: failed, but no line was damaged"]
  return exported === expected
    ? []
    : [`export: differs from the stored lines (${exported.length} characters for ${expected.length})`]
}

/** A log of this version is exported as it is stored, any other one as its migration. */
function isCurrent([line = ""]: readonly string[]): boolean {
  return line.startsWith('{"type":"session","format":"@sessions","version":4,')
}

async function changesOf(store: Store, before: Stored): Promise<string[]> {
  const after = await store.read()
  return [...before.keys()]
    .filter(
      (path) =>
        store.kindOf(path) === "log" && !Buffer.from(before.get(path) ?? []).equals(after.get(path) ?? Buffer.alloc(0)),
    )
    .map((path) => `reading changed ${path}`)
}
