/** The simulated processes, each on a machine of its own: writers (which also delete and replace), a reader and a collector. */
import { hasStorageCode, type Head, type StorageErrorCode } from "@sessions/core/storage"
import type { Clock } from "./clock.ts"
import { LATEST } from "./faulty-store.ts"
import { SESSION, type Simulated } from "./designs.ts"
import type { Dice } from "../../../core/test/dice.ts"

/** One append, and its outcome for the caller. */
export interface RecordedAppend {
  readonly lines: readonly string[]
  readonly expect: 0 | Head
  outcome?: { readonly head: Head } | { readonly code: string; readonly sent: boolean }
}

export interface RecordedRead {
  readonly lines: readonly string[]
  /** Number of committed lines per log when the read began. */
  readonly committed: ReadonlyMap<string, number>
  /** The log during the read; undefined if it was replaced or deleted meanwhile. */
  readonly log: string | undefined
}

export interface Records {
  readonly appends: RecordedAppend[]
  readonly reads: RecordedRead[]
  readonly problems: string[]
}

/** The state of the bucket, which the reader's result is compared with. */
export interface BucketView {
  readonly lengths: () => ReadonlyMap<string, number>
  readonly current: () => string | undefined
}

export interface Actor {
  step(): Promise<void>
}

/** Codes that faults may cause; any other code is a violation. */
const EXPECTED: readonly StorageErrorCode[] = ["conflict", "indeterminate", "unavailable", "aborted"]

export function createWriter(
  storage: Simulated,
  name: string,
  dice: Dice,
  clock: Clock,
  records: Records,
  o: { readonly deleteRate: number },
): Actor & { append(): Promise<RecordedAppend> } {
  let head: Head | undefined
  let count = 0
  let unknown: RecordedAppend | undefined

  async function refreshHead(): Promise<void> {
    const found = await attempt(records, () => storage.head(SESSION))
    head = found === undefined ? undefined : { next: found.next, log: found.log }
  }

  async function append(): Promise<RecordedAppend> {
    const lines = Array.from({ length: 1 + dice.below(4) }, () => {
      const length = dice.chance(0.05) ? 1_200 : dice.below(150)
      return JSON.stringify({ by: name, n: count++, text: "x".repeat(length) })
    })
    // After an unknown outcome a caller may append the same lines again.
    const repeated = unknown !== undefined && dice.chance(0.5) ? unknown : undefined
    const record: RecordedAppend = repeated ?? { lines, expect: head ?? 0 }
    if (repeated === undefined) records.appends.push(record)
    unknown = undefined
    const controller = new AbortController()
    if (dice.chance(0.05)) clock.at(dice.below(100), () => controller.abort())
    try {
      head = await storage.append(SESSION, record.lines, { expect: record.expect, signal: controller.signal })
      record.outcome = { head }
    } catch (error) {
      const { code = String(error), sent = false } = error as { code?: string; sent?: boolean }
      if (!EXPECTED.some((one) => one === code)) records.problems.push(`an append rejected with ${String(error)}`)
      // An unknown outcome stays unknown, however a repetition ends.
      const before = record.outcome !== undefined && "code" in record.outcome ? record.outcome : undefined
      const isUnknown = code === "indeterminate" || before?.code === "indeterminate"
      record.outcome = { code: isUnknown ? "indeterminate" : code, sent: sent || before?.sent === true }
      if (code === "indeterminate") unknown = record
      await refreshHead()
    }
    return record
  }

  return {
    append,
    async step() {
      if (dice.chance(0.1)) await refreshHead()
      const roll = o.deleteRate > 0 ? dice.next() : 1
      if (roll < o.deleteRate) {
        await attempt(records, () => storage.delete(SESSION))
        await refreshHead()
      } else if (roll < 2 * o.deleteRate && head !== undefined) {
        const expect = head
        const lines = Array.from({ length: 1 + dice.below(20) }, () => JSON.stringify({ by: name, replaced: count++ }))
        const replaced = await attempt(records, async () => storage.replace?.(SESSION, chunks(lines), { expect }))
        if (replaced === undefined) await refreshHead()
        else head = replaced
      } else await append()
      await new Promise<void>((resolve) => void clock.at(dice.below(100), resolve))
    },
  }
}

export function createReader(storage: Simulated, dice: Dice, clock: Clock, records: Records, view: BucketView): Actor {
  return {
    async step() {
      const all = new Map(view.lengths())
      const before = view.current()
      const lines: string[] = []
      // Like opening a session: a read below a head shows the log that `head` saw.
      const head = dice.chance(0.5) ? await attempt(records, () => storage.head(SESSION)) : undefined
      if (head !== undefined && dice.chance(0.3)) {
        await new Promise<void>((resolve) => void clock.at(dice.below(4_000), resolve))
      }
      const committed = head === undefined ? all : new Map([[head.log, head.next]])
      const range = head === undefined ? undefined : { from: 0, to: head.next }
      const done = await attempt(records, async () => {
        for await (const chunk of storage.read(SESSION, range)) {
          if (chunk.from !== lines.length) records.problems.push(`a chunk starts at ${chunk.from}, not ${lines.length}`)
          lines.push(...chunk.lines)
          if (dice.chance(0.3)) await new Promise<void>((resolve) => void clock.at(dice.below(3_000), resolve))
        }
        return true
      })
      if (done === true) records.reads.push({ lines, committed, log: before === view.current() ? before : undefined })
      await new Promise<void>((resolve) => void clock.at(dice.below(300), resolve))
    },
  }
}

export function createCollector(
  storage: Simulated,
  dice: Dice,
  clock: Clock,
  records: Records,
  o: { readonly deleteRate: number },
): Actor {
  return {
    async step() {
      await attempt(records, () => storage.collect(dice.chance(o.deleteRate > 0 ? 0.5 : 0.9) ? SESSION : undefined))
      // Long enough for tombstones to be removed, while late requests still arrive.
      if (dice.chance(0.1)) await new Promise<void>((resolve) => void clock.at(dice.below(4 * LATEST), resolve))
      await new Promise<void>((resolve) => void clock.at(dice.below(500), resolve))
    },
  }
}

/** The result; undefined if the call was rejected. Records an unexpected error as a problem. */
async function attempt<T>(records: Records, call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call()
  } catch (error) {
    const isExpected = EXPECTED.some((code) => hasStorageCode(error, code))
    if (!isExpected) records.problems.push(`a call rejected with ${String(error)}`)
    return undefined
  }
}

async function* chunks(lines: readonly string[]): AsyncGenerator<{ from: number; lines: readonly string[] }> {
  yield { from: 0, lines }
}
