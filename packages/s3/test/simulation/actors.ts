/** Those who use the session: they write, read, collect, delete and replace, each on a machine of its own. */
import type { Head } from "@sessions/core/storage"
import { hasCode } from "@sessions/core/storage"
import type { Clock } from "./clock.ts"
import { SESSION } from "./designs.ts"
import type { Simulated } from "./designs.ts"
import type { Dice } from "../../../core/test/dice.ts"

/** One append, and what its caller was told. */
export interface MadeAppend {
  readonly lines: readonly string[]
  readonly expect: 0 | Head
  outcome?: { readonly head: Head } | { readonly code: string; readonly sent: boolean }
}

export interface MadeRead {
  readonly lines: readonly string[]
  /** Lines that the log had, of each identity, when the read began. */
  readonly committed: ReadonlyMap<string, number>
  /** The log that stood there all the time; undefined where it was another one at the end. */
  readonly log: string | undefined
}

export interface Records {
  readonly appends: MadeAppend[]
  readonly reads: MadeRead[]
  readonly problems: string[]
}

/** What an actor needs to know of the world to judge it. */
export interface View {
  readonly lengths: () => ReadonlyMap<string, number>
  readonly current: () => string | undefined
}

export interface Actor {
  step(): Promise<void>
}

/** Codes that a caller must expect in such weather; anything else is a problem. */
const EXPECTED = new Set(["conflict", "indeterminate", "unavailable", "aborted"])

export function createWriter(
  storage: Simulated,
  name: string,
  dice: Dice,
  clock: Clock,
  records: Records,
  o: { readonly deletes: boolean },
): Actor & { append(): Promise<MadeAppend> } {
  let head: Head | undefined
  let count = 0
  let again: MadeAppend | undefined

  async function look(): Promise<void> {
    const found = await tell(records, () => storage.head(SESSION))
    head = found === undefined ? undefined : { next: found.next, log: found.log }
  }

  async function append(): Promise<MadeAppend> {
    const lines = Array.from({ length: 1 + dice.below(4) }, () => {
      const length = dice.chance(0.05) ? 1_200 : dice.below(150)
      return JSON.stringify({ by: name, n: count++, text: "x".repeat(length) })
    })
    // A caller that was not told how it ended may send the same once more.
    const repeated = again !== undefined && dice.chance(0.5) ? again : undefined
    const made: MadeAppend = repeated ?? { lines, expect: head ?? 0 }
    if (repeated === undefined) records.appends.push(made)
    again = undefined
    const controller = new AbortController()
    if (dice.chance(0.05)) clock.at(dice.below(100), () => controller.abort())
    try {
      head = await storage.append(SESSION, made.lines, { expect: made.expect, signal: controller.signal })
      made.outcome = { head }
    } catch (error) {
      const { code = String(error), sent = false } = error as { code?: string; sent?: boolean }
      if (!EXPECTED.has(code)) records.problems.push(`an append gave ${String(error)}`)
      // What was once unknown stays so, whatever is said of sending it again.
      const before = made.outcome !== undefined && "code" in made.outcome ? made.outcome : undefined
      const unknown = code === "indeterminate" || before?.code === "indeterminate"
      made.outcome = { code: unknown ? "indeterminate" : code, sent: sent || before?.sent === true }
      if (code === "indeterminate") again = made
      await look()
    }
    return made
  }

  return {
    append,
    async step() {
      if (dice.chance(0.1)) await look()
      const what = o.deletes ? dice.next() : 1
      if (what < 0.03) {
        await tell(records, () => storage.delete(SESSION))
        await look()
      } else if (what < 0.06 && head !== undefined) {
        const expect = head
        const lines = Array.from({ length: 1 + dice.below(20) }, () => JSON.stringify({ by: name, replaced: count++ }))
        const made = await tell(records, async () => storage.replace?.(SESSION, chunks(lines), { expect }))
        if (made === undefined) await look()
        else head = made
      } else await append()
      await new Promise<void>((resolve) => void clock.at(dice.below(100), resolve))
    },
  }
}

export function createReader(storage: Simulated, dice: Dice, clock: Clock, records: Records, view: View): Actor {
  return {
    async step() {
      const all = new Map(view.lengths())
      const before = view.current()
      const lines: string[] = []
      // As a session is opened: what is read below a head is the log that the head told of.
      const head = dice.chance(0.5) ? await tell(records, () => storage.head(SESSION)) : undefined
      if (head !== undefined && dice.chance(0.3)) {
        await new Promise<void>((resolve) => void clock.at(dice.below(4_000), resolve))
      }
      const committed = head === undefined ? all : new Map([[head.log, head.next]])
      const range = head === undefined ? undefined : { from: 0, to: head.next }
      const done = await tell(records, async () => {
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

export function createCollector(storage: Simulated, dice: Dice, clock: Clock, records: Records): Actor {
  return {
    async step() {
      await tell(records, () => storage.collect(SESSION))
      await new Promise<void>((resolve) => void clock.at(dice.below(500), resolve))
    },
  }
}

/** The result; undefined, and noted where nobody expects it, where it was refused. */
async function tell<T>(records: Records, call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call()
  } catch (error) {
    if (![...EXPECTED].some((code) => hasCode(error, code))) records.problems.push(`a call gave ${String(error)}`)
    return undefined
  }
}

async function* chunks(lines: readonly string[]): AsyncGenerator<{ from: number; lines: readonly string[] }> {
  yield { from: 0, lines }
}
