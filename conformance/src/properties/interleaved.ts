/** The interleaved property: several writers and readers on one session, in orders that fast-check chooses. */
import { hasStorageCode, type Head, type SessionStorage } from "@sessions/core/storage"
import * as fc from "fast-check"
import { check, equalLines } from "../helpers/assert.ts"
import { create, readLines } from "../helpers/lines.ts"
import type { Subject } from "../subject.ts"
import { withTimeout } from "../helpers/timeout.ts"

/** One step of a writer: append to the head it knows, get the head and append, or read the log. */
type Step = "append" | "look and append" | "read"

interface Batch {
  readonly lines: readonly string[]
  readonly expect: Head
  outcome: "acknowledged" | "refused" | "unknown"
  /** The `next` of the returned head, if the batch was acknowledged. */
  next?: number
}

const SESSION = "shared"
const FIRST = ['{"header":true}']

/**
 * Holds if each acknowledged batch is in the log once, contiguous and at the position of its head; no refused batch is in the log;
 * every `conflict` was justified; and every read is a prefix of the log with all that was acknowledged before the read.
 */
export function interleaved<L>(
  subject: Subject<L>,
  { timeLimit }: { readonly timeLimit: number },
): fc.IAsyncProperty<[fc.Scheduler, readonly (readonly Step[])[]]> {
  const step = fc.constantFrom<Step>("append", "look and append", "look and append", "read")
  const scripts = fc.array(fc.array(step, { minLength: 1, maxLength: 8 }), { minLength: 2, maxLength: 4 })
  return fc.asyncProperty(fc.scheduler(), scripts, (scheduler, all) =>
    withTimeout(timeLimit, () => runSteps(subject, scheduler, all)),
  )
}

async function runSteps<L>(
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
    const runWriter = async (storage: SessionStorage, steps: readonly Step[], who: number): Promise<void> => {
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
    await scheduler.waitFor(Promise.all(scripts.map((steps, who) => runWriter(storages[who] ?? first, steps, who))))
    const log = await readLines(first, SESSION)
    const head = await first.head(SESSION)
    check(head?.next === log.length, "head().next at the end", `${log.length}, the number of lines`, head)
    checkLog(log, batches)
    for (const { lines, atLeast } of reads) {
      equalLines(lines, log.slice(0, lines.length), "a concurrent read, compared with the log at the end")
      check(lines.length >= atLeast, "a read", `at least the ${atLeast} lines acknowledged before it`, lines.length)
    }
  } finally {
    for (const storage of new Set(storages)) await storage[Symbol.asyncDispose]()
    await subject.removeLocation?.(location)
  }
}

/** Returns the head that the writer knows after its append. */
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
    if (!hasStorageCode(error, "indeterminate")) batch.outcome = "refused"
    if (batch.outcome === "refused" && !hasStorageCode(error, "conflict")) throw error
    return expect
  }
}

function checkLog(log: readonly string[], batches: readonly Batch[]): void {
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
  const refused = log.filter((line) => !expected.has(line))
  check(refused.length === 0, "the log at the end", "no line of a refused batch", refused)
  check(new Set(log).size === log.length, "the log at the end", "every line once", log)
}
