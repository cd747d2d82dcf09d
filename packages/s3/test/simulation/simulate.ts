/** One simulated run: several processes use one session over a faulty store, then without faults; then the oracle checks it. */
import { createDice, type Dice } from "../../../core/test/dice.ts"
import { createFakeStore } from "../fake-store.ts"
import {
  type BucketView,
  createCollector,
  createReader,
  createWriter,
  type RecordedAppend,
  type Records,
} from "./actors.ts"
import { type Clock, createClock } from "./clock.ts"
import { type Design, SESSION, type Simulated } from "./designs.ts"
import { createFaultyStore, LATEST, type Network } from "./faulty-store.ts"
import { ObservedBucket } from "./observed-bucket.ts"
import { findViolations } from "./oracle.ts"
import { type Process, startProcess, withoutFaults } from "./process.ts"
import { SimulatedBucket } from "./simulated-bucket.ts"

export interface Outcome {
  readonly acknowledged: number
  readonly indeterminate: number
  readonly violations: readonly string[]
}

export async function simulate(design: Design, seed: number): Promise<Outcome> {
  const dice = createDice(seed)
  const clock = createClock()
  const observed = design.tails ? new ObservedBucket(`tails/${SESSION}`, `segments/${SESSION}/`, clock) : undefined
  const bucket = observed ?? new SimulatedBucket(clock)
  const network: Network = { faultRate: dice.pick([0, 0.02, 0.1, 0.25, 0.5]), late: 0 }
  const records: Records = { appends: [], reads: [], problems: [] }
  const jumps = { clockJumps: dice.chance(0.3) }
  const start = (): Process<Simulated> =>
    startProcess(
      (store, time) => design.open(store, time),
      createFaultyStore(bucket, clock, dice, network),
      clock.machine(dice, dice.below(1_000_000) - 500_000),
      dice,
      jumps,
    )
  const open = (): Simulated => start().storage
  const o = { deleteRate: design.tails ? dice.pick([0, 0, 0.03, 0.2]) : 0, deathRate: dice.pick([0, 0, 0.1, 0.3]) }
  const writers = Array.from({ length: 2 + dice.below(3) }, (_, n) =>
    createMortalWriter(start, `w${n}`, dice, clock, records, o),
  )
  const view: BucketView = {
    lengths: () => new Map([...(observed?.logs ?? [])].map(([log, lines]) => [log, lines.length])),
    current: () => observed?.current?.log,
  }
  const others = [createReader(open(), dice, clock, records, view), createCollector(open(), dice, clock, records, o)]
  const endOutage = dice.chance(0.3) ? outage(clock, dice, network) : (): void => undefined
  const steps = 4 + dice.below(12)
  let running = 0
  for (const actor of [...writers, ...others]) {
    running++
    void repeat(actor, steps).then(
      () => running--,
      (error: unknown) => {
        records.problems.push(`an actor failed: ${String(error)}`)
        running--
      },
    )
  }
  if (!(await clock.until(() => running === 0))) records.problems.push(`${running} actors never finish`)
  endOutage()
  network.faultRate = 0
  if (o.deleteRate > 0 && dice.chance(0.7))
    await advanceUntilSettled(clock, () => leaveDeleted(open(), clock, dice, jumps))
  // The last appends also have to hold while late requests still arrive.
  if (dice.chance(0.5)) await clock.until(() => network.late === 0)
  const last = await appendWithoutFaults(
    writers,
    clock,
    records,
    (log) => observed === undefined || log === observed.current?.log,
  )
  await clock.until(() => network.late === 0)
  const storage = design.open(createFakeStore(bucket), clock.machine(dice, 0))
  const violations = await advanceUntilSettled(clock, () => findViolations(storage, records, last, observed))
  const acknowledged = records.appends.filter(({ outcome }) => outcome !== undefined && "head" in outcome).length
  const indeterminate = records.appends.filter(
    ({ outcome }) => outcome !== undefined && "code" in outcome && outcome.code === "indeterminate",
  ).length
  return { acknowledged, indeterminate, violations }
}

/** A writer whose process sometimes dies in the middle of a step. Another one takes its place, without what the first remembered. */
function createMortalWriter(
  start: () => Process<Simulated>,
  name: string,
  dice: Dice,
  clock: Clock,
  records: Records,
  o: { readonly deleteRate: number; readonly deathRate: number },
): ReturnType<typeof createWriter> {
  let life = 0
  const begin = (): { own: Records; writer: ReturnType<typeof createWriter>; kill: () => void } => {
    const own: Records = { ...records, appends: [] }
    const { storage, kill } = start()
    return { own, writer: createWriter(storage, `${name}.${life++}`, dice, clock, own, o), kill }
  }
  let living = begin()
  const record = (): void => void records.appends.push(...living.own.appends.splice(0))
  return {
    async append() {
      const appended = await living.writer.append()
      record()
      return appended
    },
    async step() {
      if (!dice.chance(o.deathRate)) {
        await living.writer.step()
        return record()
      }
      void living.writer.step()
      await new Promise<void>((resolve) => void clock.at(dice.below(300), resolve))
      living.kill()
      // Its outcome is known to no process any more.
      for (const append of living.own.appends) append.outcome ??= { code: "indeterminate", sent: true }
      record()
      living = begin()
    },
  }
}

/** The session stays deleted for hours, while late requests arrive and tombstones are collected. */
async function leaveDeleted(
  storage: Simulated,
  clock: Clock,
  dice: Dice,
  jumps: { readonly clockJumps: boolean },
): Promise<void> {
  await withoutFaults(jumps, () => storage.delete(SESSION))
  for (let n = 0; n < 5; n++) {
    await new Promise<void>((resolve) => void clock.at(dice.below(n < 3 ? 3_000 : LATEST), resolve))
    await withoutFaults(jumps, () => storage.collect())
  }
}

/** For a while almost every request fails. The returned function ends this for good. */
function outage(clock: Clock, dice: Dice, network: Network): () => void {
  const { faultRate } = network
  const cancelBegin = clock.at(dice.below(3_000), () => (network.faultRate = 0.97))
  const cancelEnd = clock.at(3_000 + dice.below(12_000), () => (network.faultRate = faultRate))
  return () => {
    cancelBegin()
    cancelEnd()
  }
}

async function repeat(actor: { step(): Promise<void> }, times: number): Promise<void> {
  for (let n = 0; n < times; n++) await actor.step()
}

/**
 * No fault has lasting effects: without faults each writer, alone, can append within a few tries. Its first try may repeat an
 * append with an unknown outcome and be acknowledged for a log that has ended since; the next one goes to the current log.
 */
async function appendWithoutFaults(
  writers: readonly { append(): Promise<RecordedAppend> }[],
  clock: Clock,
  records: Records,
  isCurrent: (log: string) => boolean,
): Promise<readonly RecordedAppend[]> {
  const last: RecordedAppend[] = []
  for (const writer of writers) {
    for (let tries = 0; ; tries++) {
      const record = await advanceUntilSettled(clock, () => writer.append())
      if (record.outcome !== undefined && "head" in record.outcome && isCurrent(record.outcome.head.log)) {
        last.push(record)
        break
      }
      if (tries < 20) continue
      records.problems.push(`a writer cannot append any more: ${JSON.stringify(record.outcome)}`)
      break
    }
  }
  return last
}

async function advanceUntilSettled<T>(clock: Clock, call: () => Promise<T>): Promise<T> {
  let settled = false
  const end = (): void => void (settled = true)
  const promise = call()
  promise.then(end, end)
  if (!(await clock.until(() => settled))) throw new Error("A call never settles.")
  return promise
}
