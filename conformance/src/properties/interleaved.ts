import type { Head, SessionStorage } from "@sessions/core/storage"
import { hasCode } from "@sessions/core/storage"
import * as fc from "fast-check"
import { check, equalLines } from "../helpers/assert.ts"
import { create, readLines } from "../helpers/lines.ts"
import type { Subject } from "../subject.ts"
import { within } from "../helpers/timeout.ts"

/** What one of several does at its turn: append to the head it knows, or look first, or read the log. */
type Step = "append" | "look and append" | "read"

interface Batch {
  readonly lines: readonly string[]
  readonly expect: Head
  outcome: "acknowledged" | "refused" | "unknown"
  /** With "acknowledged". */
  next?: number
}

const SESSION = "shared"
const FIRST = ['{"header":true}']

/**
 * Several at once on one session, in orders that fast-check chooses: what was acknowledged is there once, where its head says, and
 * contiguous; what was refused is not; a conflict was one; readers see prefixes, with everything that was acknowledged before.
 */
export function interleaved<L>(
  subject: Subject<L>,
  { timeLimit }: { readonly timeLimit: number },
): fc.IAsyncProperty<[fc.Scheduler, readonly (readonly Step[])[]]> {
  const step = fc.constantFrom<Step>("append", "look and append", "look and append", "read")
  const scripts = fc.array(fc.array(step, { minLength: 1, maxLength: 8 }), { minLength: 2, maxLength: 4 })
  return fc.asyncProperty(fc.scheduler(), scripts, (scheduler, all) =>
    within(timeLimit, () => carryOut(subject, scheduler, all)),
  )
}

async function carryOut<L>(
  subject: Subject<L>,
  scheduler: fc.Scheduler,
  scripts: readonly (readonly Step[])[],
): Promise<void> {
  const location = await subject.makeLocation()
  const first = await subject.open(location)
  const storages = [first]
  try {
    const start = await create(first, SESSION, FIRST)
    while (storages.length < scripts.length) {
      storages.push(first.capabilities.writers === "instance" ? first : await subject.open(location))
    }
    const batches: Batch[] = []
    const reads: { readonly lines: readonly string[]; readonly atLeast: number }[] = []
    const act = async (storage: SessionStorage, steps: readonly Step[], who: number): Promise<void> => {
      let known = start
      for (const [n, step] of steps.entries()) {
        await scheduler.schedule(Promise.resolve(), `${who} ${step}`)
        if (step === "read") {
          const atLeast = Math.max(1, ...batches.map(({ next }) => next ?? 0))
          reads.push({ lines: await readLines(storage, SESSION), atLeast })
          continue
        }
        if (step === "look and append") known = (await storage.head(SESSION)) ?? known
        const lines = Array.from({ length: (n % 3) + 1 }, (_, line) => JSON.stringify({ who, n, line }))
        known = await append(storage, batches, lines, { next: known.next, log: known.log })
      }
    }
    await scheduler.waitFor(Promise.all(scripts.map((steps, who) => act(storages[who] ?? first, steps, who))))
    const log = await readLines(first, SESSION)
    const head = await first.head(SESSION)
    check(head?.next === log.length, "head().next at the end", `${log.length}, the number of lines`, head)
    judge(log, batches)
    for (const { lines, atLeast } of reads) {
      equalLines(lines, log.slice(0, lines.length), "a read under way, beside the log at the end")
      check(lines.length >= atLeast, "a read", `at least the ${atLeast} lines acknowledged before it`, lines.length)
    }
  } finally {
    for (const storage of new Set(storages)) await storage[Symbol.asyncDispose]()
    await subject.removeLocation?.(location)
  }
}

/** Gives the head that the writer knows afterwards. */
async function append(
  storage: SessionStorage,
  batches: Batch[],
  lines: readonly string[],
  expect: Head,
): Promise<Head> {
  const batch: Batch = { lines, expect, outcome: "unknown" }
  batches.push(batch)
  try {
    const head = await storage.append(SESSION, lines, { expect })
    batch.outcome = "acknowledged"
    batch.next = head.next
    return head
  } catch (error) {
    if (!hasCode(error, "indeterminate")) batch.outcome = "refused"
    if (batch.outcome === "refused" && !hasCode(error, "conflict")) throw error
    return expect
  }
}

function judge(log: readonly string[], batches: readonly Batch[]): void {
  const expected = new Set(FIRST)
  for (const { lines, expect, outcome, next } of batches) {
    const name = `the batch ${lines[0]}`
    if (outcome === "acknowledged") {
      check(next === expect.next + lines.length, `the head of ${name}`, `${expect.next + lines.length}`, next)
      equalLines(log.slice(expect.next, expect.next + lines.length), lines, `${name}, acknowledged`)
    }
    if (outcome !== "refused") for (const line of lines) expected.add(line)
    else
      check(log.length > expect.next, `the conflict of ${name}`, `a log longer than ${expect.next} lines`, log.length)
  }
  const strange = log.filter((line) => !expected.has(line))
  check(strange.length === 0, "the log at the end", "no line of a batch that was refused", strange)
  check(new Set(log).size === log.length, "the log at the end", "every line once", log)
}
