/**
 * Writers on one session, a failing storage, and a scheduler that randomly chooses which pending call continues. Nothing in it
 * depends on time, so that a seed always gives the same run.
 */
import type { NewEntry } from "../src/format/new-entry.ts"
import { createMemoryLocation, type MemoryLocation } from "@sessions/memory"
import type { Diagnostic } from "../src/format/diagnostics.ts"
import type { Session } from "../src/session/types.ts"
import type { AppendResult, ConflictPolicy } from "../src/write/types.ts"
import type { BlobStore } from "../src/storage/contract.ts"
import { createActions, outcomeOf } from "./actions.ts"
import type { Call, Fault } from "@sessions/conformance/faults"
import { createDice, type Dice } from "./dice.ts"
import { createScheduler, type Scheduler } from "./scheduler.ts"
import { assistant, createWriter, type Writer } from "./writers.ts"

/** One call of `append`, alone or in a turn. */
export interface MadeAppend {
  /** Index of its writer. */
  readonly writer: number
  readonly entries: readonly NewEntry[]
  readonly ids: readonly string[]
  outcome?: { readonly result: AppendResult } | { readonly code: unknown; readonly sent: boolean }
}

export interface SimulatedWriter extends Writer {
  readonly session: Session
  /** Ids reported as removed from memory. */
  readonly rolledBack: Set<string>
  /** Ids of the open tips that it was told of. */
  readonly reported: Set<string>
  /** Ids of the entries of other writers that it has read. */
  readonly foreign: Set<string>
}

export interface World {
  readonly location: MemoryLocation
  readonly writers: SimulatedWriter[]
  /** In the order of the calls. */
  readonly appends: MadeAppend[]
  /** The writer of each `leaf` entry. */
  readonly branches: Map<string, number>
  /** The ids that each `leaf` entry may settle: those that its writer knew. */
  readonly leaving: Map<string, ReadonlySet<string>>
  /** Whether writers branch on purpose. */
  readonly branching: boolean
  /** Whether appends are repeated, by their own writer and by others. */
  readonly repeats: boolean
  /** Failures during the run: a promise that hangs, an unexpected error. */
  readonly problems: string[]
}

/** The scheduler also ends each backoff; set while a simulation runs. */
export const clock: { pause: () => Promise<void> } = { pause: async () => undefined }

export async function simulate(seed: number, steps: number): Promise<World> {
  const dice = createDice(seed)
  const scheduler = createScheduler(dice)
  clock.pause = scheduler.pause
  const world: World = {
    location: createMemoryLocation(),
    writers: [],
    appends: [],
    branches: new Map(),
    leaving: new Map(),
    branching: dice.chance(0.8),
    repeats: dice.chance(0.5),
    problems: [],
  }
  const weather = createWeather(dice)
  const settle = createSettlement(world, dice, scheduler, weather)
  await settle.first()
  const actions = createActions(world, dice, scheduler)
  weather.stormy = true
  for (let step = 0; step < steps; step++) {
    if (dice.chance(0.2)) actions.act()
    if (dice.chance(0.02)) actions.abort()
    if (dice.chance(0.02)) await actions.rewrite()
    if (dice.chance(0.05)) await scheduler.finish(dice.pick(world.writers).storage.deliver())
    if (dice.chance(0.05)) await settle.others()
    await scheduler.step()
  }
  weather.stormy = false
  if (!(await scheduler.until(() => actions.running === 0))) world.problems.push(`${actions.running} promises hang`)
  await calm(world, scheduler, actions)
  clock.pause = async () => undefined
  scheduler.free()
  return world
}

/** After the faults all delayed writes arrive, every writer can append, and reads what the others appended. */
async function calm(world: World, scheduler: Scheduler, actions: ReturnType<typeof createActions>): Promise<void> {
  for (const { storage } of world.writers) while (storage.late > 0) await scheduler.finish(storage.deliver())
  for (const [number, { session }] of world.writers.entries()) {
    // A failure caused by another writer's turn also fails the appends queued behind it: those are resolved first.
    await scheduler.finish(session.flush())
    const last = actions.record(number, session, [assistant("last", `last${number}`)], { onConflict: "branch" })
    const outcome = await scheduler.finish(outcomeOf(last))
    if (outcome !== "done") world.problems.push(`writer ${number} latches: ${String(outcome)}`)
  }
  for (const { session } of world.writers) await scheduler.finish(session.flush())
  for (const { session } of world.writers) await scheduler.finish(session.refresh())
}

interface Weather {
  stormy: boolean
  /** How a call fails. */
  readonly decide: (call: Call) => Fault | undefined
}

const CODES: readonly Fault[] = ["unavailable", "unavailable", "quota", "conflict", "corrupt"]
const LOST: readonly Fault[] = ["request lost", "response lost", "response lost", "late", "late", "prefix"]

function createWeather(dice: Dice): Weather {
  const risk = dice.pick([0, 0.02, 0.1, 0.3])
  const weather: Weather = {
    stormy: false,
    decide({ operation }) {
      if (!weather.stormy || !dice.chance(risk)) return undefined
      if (operation !== "append") return dice.pick<Fault>(["unavailable", "unavailable", "corrupt"])
      return dice.pick(dice.chance(0.5) ? LOST : CODES)
    },
  }
  return weather
}

/** One to five writers on one session, which the first one creates. */
function createSettlement(
  world: World,
  dice: Dice,
  scheduler: Scheduler,
  weather: Weather,
): { readonly first: () => Promise<void>; readonly others: () => Promise<void> } {
  const most = dice.pick([1, 2, 2, 3, 3, 5])
  const options = {
    onConflict: dice.pick<ConflictPolicy>(["branch", "branch", "branch", "fail"]),
    hooks: dice.chance(0.2) ? [{ append: () => scheduler.pause() }] : [],
    blobs: { textUnits: 50 },
    faulty: {
      capabilities: { durability: dice.pick(["none", "disk"] as const), atomicBatch: "prefix" as const },
      decide: weather.decide,
      pause: () => scheduler.pause(),
      blobs: createNumberedBlobs(),
    },
  }
  const arrive = async (open: (writer: Writer) => Promise<Session>): Promise<void> => {
    const { stormy } = weather
    weather.stormy = false
    const writer = createWriter(world.location, options)
    const session = await scheduler.finish(open(writer))
    const rolledBack = new Set<string>()
    const reported = new Set<string>()
    const report = ({ tips = [] }: Diagnostic): void => tips.forEach(({ id }) => reported.add(id))
    session.diagnostics.forEach(report)
    session.on("diagnostic", report)
    const foreign = new Set<string>()
    session.on("foreign", ({ entries }) => entries.forEach(({ id }) => foreign.add(id)))
    session.on("rolled_back", ({ ids }) => ids.forEach((id) => rolledBack.add(id)))
    session.on("hook_failed", ({ hook, error }) => world.problems.push(`${hook} failed: ${String(error)}`))
    world.writers.push({ ...writer, session, rolledBack, reported, foreign })
    weather.stormy = stormy
  }
  const others = async (): Promise<void> => {
    while (world.writers.length < most && world.location.logs.has("s"))
      await arrive(({ sessions }) => sessions.open("s"))
  }
  return {
    async first() {
      await arrive(({ sessions }) => sessions.create({ id: "s" }))
      await others()
    },
    others,
  }
}

/** Named by a number: hashing takes real time, so that a seed would not always give the same run. */
function createNumberedBlobs(): BlobStore {
  const bytesByHash = new Map<string, Uint8Array>()
  return {
    put: async (bytes) => {
      const hash = String(bytesByHash.size).padStart(64, "0")
      bytesByHash.set(hash, bytes)
      return hash
    },
    get: async (hash) => bytesByHash.get(hash),
    has: async (hash) => bytesByHash.has(hash),
    delete: async (hash) => bytesByHash.delete(hash),
    async *list() {
      // There is no garbage collection here.
    },
  }
}
