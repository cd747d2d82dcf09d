/** Random schedules of calls whose requests meet random faults: nothing acknowledged is missing, nothing refused is there, no code is wrong. */
import type { SessionStorage } from "@sessions/core/storage"
import { showError } from "../helpers/show.ts"
import { TIME_LIMIT_MS } from "../helpers/timeout.ts"
import type { TestFunction } from "../runner/register.ts"
import type { Subject } from "../subject.ts"
import { createLedger, type LedgerCall } from "./ledger.ts"

export interface ScheduleOptions {
  /** Default: from the clock. The same seed makes the same schedules; the title of the test contains it. */
  readonly seed?: number
  /** Number of schedules. Default 100. */
  readonly runs?: number
  /** Calls in a schedule. Default 25. */
  readonly calls?: number
  /** How many schedules run at a time. Default 10. */
  readonly parallel?: number
  /** Milliseconds within which each call must end. Default 120,000. */
  readonly timeLimit?: number
  /** Called at the end of each test without a contradiction, with the number of requests that met a fault. */
  readonly onEnd?: (counts: { readonly runs: number; readonly faults: number }) => void
}

/** Of one test: a runner ends a test that takes long. */
const RUNS_A_TEST = 250

/** Registers tests that run the schedules, some hundred each, with the seed in their titles. */
export function registerSchedules<L>(test: TestFunction, subject: Subject<L>, options: ScheduleOptions = {}): void {
  const { seed = Date.now() % 1_000_000, runs = 100 } = options
  for (let from = 0; from < runs; from += RUNS_A_TEST) {
    const some = Math.min(RUNS_A_TEST, runs - from)
    test(`${subject.name}: ${some} schedules on a troubled network, seed ${seed + from}`, () =>
      runSchedules(subject, seed + from, some, options))
  }
}

async function runSchedules<L>(
  subject: Subject<L>,
  seed: number,
  runs: number,
  options: ScheduleOptions,
): Promise<void> {
  const wrong: string[] = []
  let faults = 0
  let next = 0
  const work = async (): Promise<void> => {
    for (let n = next++; n < runs; n = next++) {
      const found = await runSchedule(subject, seed + n, options)
      wrong.push(...found.wrong)
      faults += found.faults
    }
  }
  await Promise.all(Array.from({ length: Math.min(options.parallel ?? 10, runs) }, work))
  if (wrong.length > 0) throw new Error([`${wrong.length} contradictions:`, ...wrong.slice(0, 20)].join("\n"))
  options.onEnd?.({ runs, faults })
}

/** The ways in which what is stored contradicts what the calls of a seed were told, and how many requests met a fault. */
export async function runSchedule<L>(
  subject: Subject<L>,
  seed: number,
  { calls = 25, timeLimit = TIME_LIMIT_MS }: Pick<ScheduleOptions, "calls" | "timeLimit"> = {},
): Promise<{ readonly wrong: readonly string[]; readonly faults: number }> {
  const { network } = subject
  if (network === undefined) throw new TypeError(`The subject ${subject.name} has no network.`)
  const random = randomOf(seed)
  const location = await subject.makeLocation()
  const open: SessionStorage[] = []
  const wrong: string[] = []
  let faults = 0
  try {
    const direct = await subject.open(location)
    open.push(direct)
    const { storage, arrive = async () => undefined } = await network.open(location, () => {
      if (random() >= FAULT_RATE) return undefined
      faults++
      return network.names[below(network.names.length, random)]
    })
    open.push(storage)
    const ledger = createLedger(direct, storage, { timeLimit, wrong })
    for (let n = 0; n < calls; n++) {
      await (ledger.calls[below(ledger.calls.length, random)] as LedgerCall)(n)
      // What is late arrives between two calls, some time.
      if (random() < ARRIVAL_RATE) await arrive()
    }
    await arrive()
    await ledger.check()
  } catch (error) {
    wrong.push(`it ended with ${showError(error)}`)
  } finally {
    for (const storage of open) await storage[Symbol.asyncDispose]()
    await subject.removeLocation?.(location)
  }
  return { wrong: wrong.map((text) => `seed ${seed}, ${text}`), faults }
}

const FAULT_RATE = 0.5
const ARRIVAL_RATE = 0.3

/** mulberry32. */
function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}

function below(n: number, random: () => number): number {
  return Math.floor(random() * n)
}
