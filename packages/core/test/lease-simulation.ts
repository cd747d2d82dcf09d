/**
 * Histories of turns with leases: processes run turns on one session, on a storage that loses answers and delivers writes late, and each is
 * killed, or stands still for a while, at a random step. Time is that of the simulation, and jumps. A history is judged by its log, by
 * what each turn has read, and by who took the lease when.
 */
import { createFaultyStorage, type Fault, type FaultyStorage } from "@sessions/conformance/faults"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import type { Entry } from "../src/format/entry.ts"
import { hasCode } from "../src/format/errors.ts"
import { createSessions } from "../src/session/repository.ts"
import type { Session } from "../src/session/types.ts"
import type { DocStore } from "../src/storage/contract.ts"
import { StorageError } from "../src/storage/errors.ts"
import { createDice, type Dice } from "./dice.ts"
import { createScheduler, type Scheduler } from "./scheduler.ts"
import { assistant, note, reopened, storedEntries, user } from "./writers.ts"
import { sessionBranches } from "@sessions/core/transfer"

/** A rule that is taken out. */
export interface Variant {
  /** The clock of leases, as those that wait read it. */
  readonly now?: (ms: number) => number
  readonly docs?: (docs: DocStore) => DocStore
  /** What the code of leases gets in place of the live session. */
  readonly live?: (live: object) => object
  /** The function of a turn uses what it read before the turn. */
  readonly readsBefore?: true
}

const LEASE = 3_000

/** The clocks that the code of leases and the backoff use while a simulation runs. */
export const clock: {
  now: () => number
  sleep: (ms: number, signal: AbortSignal) => Promise<void>
  pause: () => Promise<void>
} = {
  now: () => 0,
  sleep: async () => undefined,
  pause: async () => undefined,
}

/** The variant of the running simulation. */
export let present: Variant = {}

/** What is wrong with a history; empty for none. */
export async function simulate(seed: number, variant: Variant = {}): Promise<readonly string[]> {
  // Loading code takes real time.
  await import("../src/session/features/seldom.ts")
  present = variant
  const world = new World(createDice(seed), variant)
  clock.now = () => variant.now?.(world.now) ?? world.now
  clock.sleep = (ms, signal) => world.sleep(ms, signal)
  clock.pause = () => world.scheduler.pause()
  await world.play()
  return world.wrong
}

interface Turn {
  readonly fence: number
  /** Ids of the messages that it has read before it wrote. */
  readonly read: readonly string[]
  readonly written: string[]
}

interface Process {
  readonly n: number
  isDead: boolean
  /** Its turns have ended. */
  isDone: boolean
  /** Until this time it does nothing. */
  stands: number
  steps: number
}

class World {
  now = 0
  readonly wrong: string[] = []
  readonly scheduler: Scheduler
  readonly #dice: Dice
  readonly #variant: Variant
  readonly #location: MemoryLocation = createMemoryLocation()
  readonly #timers = new Set<{ readonly at: number; readonly wake: () => void }>()
  readonly #turns: Turn[] = []
  /** Writes to the document that are on the way. */
  readonly #late: (() => void)[] = []
  readonly #storages: FaultyStorage[] = []
  /** Nothing fails, nobody is killed or stands still, and time passes slowly. */
  readonly #isCalm: boolean
  /** Time passes no longer, so nobody waits for it. */
  #isOver = false
  #document: string | undefined
  /** When the holder's last write reached the document. */
  #written = 0

  constructor(dice: Dice, variant: Variant) {
    this.#dice = dice
    this.#variant = variant
    this.scheduler = createScheduler(dice)
    this.#isCalm = dice.chance(0.25)
  }

  async play(): Promise<void> {
    const dice = this.#dice
    const first = createSessions({ storage: createMemoryStorage({ location: this.#location }) })
    await (await first.create({ id: "s" })).append(user("before", "0"))
    const processes = Array.from({ length: this.#isCalm ? 2 : dice.pick([2, 2, 3]) }, (_, n): Process => {
      const steps = this.#isCalm || dice.chance(0.5) ? Number.POSITIVE_INFINITY : 4 + dice.below(60)
      return { n, isDead: false, isDone: false, stands: 0, steps }
    })
    for (const process of processes)
      void this.#run(process)
        .catch((error: unknown) => void this.wrong.push(`process ${process.n} failed: ${String(error)}`))
        .finally(() => (process.isDone = true))
    // One that is done may be killed while it gives its lease back.
    const running = (): readonly Process[] => processes.filter(({ isDead, isDone }) => !isDead && !isDone)
    for (let step = 0; running().length > 0; step++) {
      if (step > 20_000) return void this.wrong.push(`${running().length} processes hang`)
      await this.#step()
    }
    this.#isOver = true
    this.scheduler.free()
    for (const write of this.#late) write()
    for (const storage of this.#storages) while (storage.late > 0) await storage.deliver()
    await this.#judge()
  }

  /** Resolves after a time of the simulation. */
  sleep(ms: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const timer = { at: this.now + ms, wake: () => (this.#timers.delete(timer), resolve()) }
      this.#timers.add(timer)
      signal.addEventListener("abort", timer.wake)
      if (signal.aborted) timer.wake()
    })
  }

  async #step(): Promise<void> {
    const dice = this.#dice
    this.now += this.#isCalm ? 10 : dice.chance(0.02) ? dice.below(2 * LEASE) : dice.below(LEASE / 20)
    for (const timer of this.#timers) if (timer.at <= this.now) timer.wake()
    if (dice.chance(0.05)) this.#late.shift()?.()
    if (dice.chance(0.05)) void dice.pick(this.#storages)?.deliver()
    await this.scheduler.step()
  }

  /** A step of a process: here it may be killed, or stand still. */
  async #enter(process: Process): Promise<void> {
    const dice = this.#dice
    if (process.steps-- <= 0) process.isDead = true
    if (process.isDead) await new Promise(() => undefined)
    if (!this.#isCalm && dice.chance(0.02)) process.stands = this.now + dice.below(3 * LEASE)
    do await this.scheduler.pause()
    while (this.now < process.stands && !this.#isOver)
    if (process.isDead) await new Promise(() => undefined)
  }

  async #run(process: Process): Promise<void> {
    const dice = this.#dice
    const session = await this.#open(process)
    for (let turns = this.#isCalm ? 1 : 1 + dice.below(3); turns > 0; turns--) {
      try {
        await this.#turn(process, session)
      } catch (error) {
        if (this.#isCalm || !isExpected(error)) throw error
      }
    }
  }

  async #turn(process: Process, session: Session): Promise<void> {
    const dice = this.#dice
    const before = this.#variant.readsBefore ? await idsOf(session) : undefined
    await session.turn(
      async (inner, { fence = 0 }) => {
        const turn: Turn = { fence, read: before ?? (await idsOf(inner)), written: [] }
        this.#turns.push(turn)
        for (let n = 0; n < 1 + dice.below(4); n++) {
          for (let pause = this.#isCalm ? 30 : dice.below(6); pause > 0; pause--) await this.#enter(process)
          if (dice.chance(0.3)) await inner.refresh()
          const id = `${process.n}.${fence}.${n}`
          turn.written.push(id)
          await this.#append(inner, n, id)
        }
      },
      { lease: LEASE },
    )
  }

  async #append(session: Session, n: number, id: string): Promise<void> {
    const dice = this.#dice
    const entry = n === 0 ? user(id, id) : assistant(id, id)
    const entries = dice.chance(0.3) ? [note(id), entry] : [entry]
    const o = dice.pick([{}, {}, { onConflict: "rebase" }, { onConflict: "branch" }] as const)
    for (let tries = 0; ; tries++) {
      try {
        await session.append(entries, o)
        return
      } catch (error) {
        // As a program does that repeats an append whose outcome it does not know.
        if (!hasCode(error, "indeterminate") || tries === 3) throw error
      }
    }
  }

  async #open(process: Process): Promise<Session> {
    const dice = this.#dice
    const risk = this.#isCalm ? 0 : dice.pick([0, 0.03, 0.15])
    let isOpen = false
    const fault = (): Fault | undefined =>
      isOpen && dice.chance(risk)
        ? dice.pick(["response lost", "request lost", "late", "unavailable"] as const)
        : undefined
    const memory = createMemoryStorage({ location: this.#location })
    const docs = this.#docs(process, fault)
    const storage = createFaultyStorage(
      { ...memory, docs: this.#variant.docs?.(docs) ?? docs },
      {
        pause: () => this.#enter(process),
        decide: ({ operation }) =>
          operation === "append" ? fault() : isOpen && dice.chance(risk) ? "unavailable" : undefined,
      },
    )
    this.#storages.push(storage)
    // The time of day jumps, and nothing depends on it.
    const session = await createSessions({ storage, now: () => 1e12 + dice.below(1e9) }).open("s")
    isOpen = true
    return session
  }

  /** The version of a document is its text. */
  #docs(process: Process, fault: () => Fault | undefined): DocStore {
    const check = (expect: string | null): void => {
      if ((this.#document ?? null) !== expect) throw new StorageError("conflict", "It has another version.")
    }
    const change = async <T>(work: () => T): Promise<T> => {
      await this.#enter(process)
      const kind = fault()
      if (kind === "unavailable") throw new StorageError(kind, "Nobody answers.")
      if (kind === "late") this.#late.push(() => quietly(work))
      if (kind === "response lost") quietly(work)
      if (kind !== undefined) throw new StorageError("indeterminate", "The answer is lost.")
      const result = work()
      await this.#enter(process)
      return result
    }
    return {
      get: async () => {
        await this.#enter(process)
        const text = this.#document
        await this.#enter(process)
        return text === undefined ? undefined : { text, version: text }
      },
      put: (_, text, { expect }) =>
        change(() => {
          check(expect)
          this.#observe(text)
          this.#document = text
          return text
        }),
      delete: (_, { expect }) =>
        change(() => {
          check(expect)
          this.#document = undefined
        }),
      list: () => expectNoList(),
    }
  }

  /** A write to the document: nobody takes a lease that was renewed within its time. */
  #observe(text: string): void {
    const before = heldOf(this.#document)
    const after = heldOf(text)
    const isOther = before !== undefined && after !== undefined && before.by !== after.by
    if (isOther && this.now - this.#written < LEASE)
      this.wrong.push(`the lease was taken ${this.now - this.#written} ms after it was written`)
    if (after?.asked !== true) this.#written = this.now
  }

  async #judge(): Promise<void> {
    const session = await reopened(this.#location)
    const branches = await sessionBranches(session)
    if (branches.length !== 1) this.wrong.push(`the log has ${branches.length} branches`)
    let fence = 0
    const messages: { readonly id: string; readonly fence: number }[] = []
    for (const entry of await storedEntries(this.#location)) {
      if (entry.type === "fence") {
        const next = fenceOf(entry)
        if (next <= fence) this.wrong.push(`the fence ${next} is behind ${fence}`)
        fence = next
      }
      const turn = this.#turns.find(({ written }) => written.includes(entry.id))
      if (turn !== undefined && turn.fence !== fence)
        this.wrong.push(`${entry.id} of the turn ${turn.fence} was written in the turn ${fence}`)
      if (entry.type === "message") messages.push({ id: entry.id, fence: turn?.fence ?? 0 })
    }
    const shown = await idsOf(session)
    if (shown.join() !== messages.map(({ id }) => id).join()) this.wrong.push("the context has not all messages")
    for (const turn of this.#turns) {
      const begin = messages.findIndex(({ id }) => turn.written.includes(id))
      if (begin < 0) continue
      const before = messages.slice(0, begin).map(({ id }) => id)
      if (before.join() !== turn.read.join()) this.wrong.push(`the turn ${turn.fence} has not read what is before it`)
      const own = messages.filter(({ fence: of }) => of === turn.fence)
      if (messages[begin + own.length - 1]?.fence !== turn.fence) this.wrong.push(`the turn ${turn.fence} is mixed up`)
    }
    if (this.#isCalm && heldOf(this.#document) !== undefined) this.wrong.push("the lease has not ended")
  }
}

/** What a turn may reject with on a storage that fails, and what the storage itself says. */
function isExpected(error: unknown): boolean {
  return (["conflict", "indeterminate", "unavailable"] as const).some((code) => hasCode(error, code))
}

function quietly(work: () => unknown): void {
  try {
    work()
  } catch {
    // Its precondition no longer holds.
  }
}

function heldOf(text: string | undefined): { readonly by: string; readonly asked?: true } | undefined {
  return text === undefined ? undefined : (JSON.parse(text) as { held?: { by: string; asked?: true } }).held
}

function fenceOf(entry: Entry): number {
  return Number(entry["fence"])
}

async function idsOf(session: Session): Promise<readonly string[]> {
  return (await session.messages({ limit: 1_000 })).messages.map(({ entryId }) => entryId)
}

function expectNoList(): never {
  throw new Error("No documents are listed here.")
}
