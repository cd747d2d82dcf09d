/** The actions of simulated writers: appends in every form, turns, branches, refreshes, reads; sometimes a rewrite of the log under them. */
import { createMemoryStorage } from "@sessions/memory"
import type { NewEntry } from "../src/format/new-entry.ts"
import type { Session } from "../src/session/types.ts"
import type { AppendOptions } from "../src/write/types.ts"
import type { Chunk } from "../src/storage/contract.ts"
import type { Dice } from "./dice.ts"
import type { Scheduler } from "./scheduler.ts"
import type { MadeAppend, SimulatedWriter, World } from "./simulation.ts"
import { assistant, note, storedLines, user } from "./writers.ts"
import { sessionTree } from "@sessions/core/transfer"

export interface Actions {
  /** Calls that have not ended. */
  readonly running: number
  /** Starts an action of some writer without awaiting it. */
  act(): void
  /** Aborts one of the appends that can be aborted. */
  abort(): void
  /** Replaces the log by the same lines under a new identity. */
  rewrite(): Promise<void>
  /** Appends and records the outcome; rejects as the append does. */
  record(writer: number, session: Session, entries: readonly NewEntry[], o: AppendOptions): Promise<void>
}

export function createActions(world: World, dice: Dice, scheduler: Scheduler): Actions {
  const controllers: AbortController[] = []
  const rewrites = dice.chance(0.2)
  let made = 0
  let running = 0

  const run = (what: string, promise: Promise<unknown>): void => {
    running++
    void outcomeOf(promise).then((outcome) => {
      running--
      if (!EXPECTED.has(outcome)) world.problems.push(`${what}: ${String(outcome)}`)
    })
  }

  const entry = (): NewEntry => {
    const id = `e${made++}`
    const text = dice.chance(0.1) ? "long ".repeat(20) : `text ${id}`
    const kind = dice.below(5)
    if (kind === 0) return note(text, id)
    if (kind === 1) return { type: "title_change", title: id, source: "user", id }
    return kind === 2 ? assistant(text, id) : user(text, id)
  }

  const append = (writer: number, session: Session): Promise<void> => {
    const entries = Array.from({ length: dice.pick([1, 1, 1, 2, 3]) }, entry)
    if (world.repeats && world.appends.length > 0 && dice.chance(0.1)) {
      const repeated = dice.pick(dice.pick(world.appends).entries)
      entries[0] = dice.chance(0.7) ? repeated : user("other content", repeated.id)
    }
    const o: { -readonly [K in keyof AppendOptions]: AppendOptions[K] } = {}
    if (dice.chance(0.1)) {
      const controller = new AbortController()
      controllers.push(controller)
      o.signal = controller.signal
    }
    if (dice.chance(0.2)) o.onConflict = dice.pick(["fail", "rebase"])
    const own = world.appends.filter((call) => call.writer === writer && isDurable(call))
    if (world.branching && o.onConflict !== "rebase" && own.length > 0 && dice.chance(0.1))
      o.at = dice.pick(dice.pick(own).ids)
    return record(writer, session, entries, o)
  }

  const record: Actions["record"] = async (writer, session, entries, o) => {
    const call: MadeAppend = { writer, entries, ids: entries.map(({ id }) => id as string) }
    world.appends.push(call)
    try {
      call.outcome = { result: await session.append(entries, o) }
    } catch (error) {
      const { code, sent } = error as { code?: unknown; sent?: unknown }
      call.outcome = { code: code ?? error, sent: sent === true }
      throw error
    }
  }

  const turn = (writer: number, session: Session): Promise<void> =>
    session.turn(async (inner) => {
      for (let n = 1 + dice.below(3); n > 0; n--) {
        const appended = append(writer, inner)
        if (dice.chance(0.7)) await appended
        else appended.catch(() => undefined)
        if (dice.chance(0.3)) await scheduler.pause()
      }
    })

  /** To an entry of the path, or to the end of a branch that was reported; or settles such a branch. */
  const branch = async (writer: number, { session, reported, foreign }: SimulatedWriter): Promise<void> => {
    let tree = await sessionTree(session)
    while (tree.leafId !== session.leafId) tree = await sessionTree(session)
    const { path } = tree
    const tips = session.diagnostics.flatMap((diagnostic) => diagnostic.tips ?? []).map(({ id }) => id)
    const place = dice.below(4)
    const target = tips.length > 0 && place < 2 ? dice.pick(tips) : path.length === 0 ? null : dice.pick(path)
    const known = new Set([...path, ...reported])
    const { leafId } = session
    const appended =
      target === null
        ? session.resetLeaf()
        : tips.length > 0 && place === 0
          ? session.settle([target])
          : session.branch(target)
    // After hooks, or a read of an older part, it also knows what was reported, read and appended meanwhile.
    const isPlaced = session.leafId !== leafId
    const { ids } = await appended
    if (!isPlaced) for (const id of [...reported, ...foreign, ...ownIds(world, writer)]) known.add(id)
    world.branches.set(ids[0] as string, writer)
    world.leaving.set(ids[0] as string, known)
  }

  return {
    get running() {
      return running
    },
    act() {
      const writer = dice.below(world.writers.length)
      const simulated = world.writers[writer] as SimulatedWriter
      const { session } = simulated
      const kind = dice.below(20)
      if (kind < 12) run("append", append(writer, session))
      else if (kind < 15) run("turn", turn(writer, session))
      else if (kind < 17 && world.branching) run("branch", branch(writer, simulated))
      else if (kind < 18) run("flush", session.flush())
      else if (kind < 19) run("refresh", session.refresh())
      else run("context", session.context())
    },
    abort: () => controllers.shift()?.abort(),
    async rewrite() {
      // A session without an entry of its own does not recognize a rewritten log.
      if (rewrites && world.writers.every((_, writer) => hasWritten(world, writer))) await rewriteLog(world)
    },
    record,
  }
}

/** "done", or the code of the error. */
export function outcomeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => "done",
    (error: unknown) => (error as { code?: unknown }).code ?? error,
  )
}

/** The error codes that a failing storage, other writers and repeated ids may cause. */
const EXPECTED: ReadonlySet<unknown> = new Set([
  "done",
  "unavailable",
  "corrupt",
  "quota",
  "conflict",
  "exists",
  "indeterminate",
  "aborted",
  "not_found",
])

function hasWritten({ appends }: World, writer: number): boolean {
  return appends.some((call) => call.writer === writer && isDurable(call))
}

function ownIds({ appends }: World, writer: number): readonly string[] {
  return appends.filter((call) => call.writer === writer).flatMap(({ ids }) => ids)
}

function isDurable({ outcome }: MadeAppend): boolean {
  return outcome !== undefined && "result" in outcome
}

async function rewriteLog({ location }: World): Promise<void> {
  const storage = createMemoryStorage({ location })
  const { next, log } = (await storage.head("s")) ?? { next: 0, log: "" }
  const lines = await storedLines(storage)
  const chunks = async function* (): AsyncGenerator<Chunk> {
    yield { from: 0, lines }
  }
  await storage.replace?.("s", chunks(), { expect: { next, log } })
}
