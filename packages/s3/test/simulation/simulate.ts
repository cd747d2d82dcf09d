/** One run: a session, its users, bad weather, and then calm. */
import { FakeBucket } from "../fake-bucket.ts"
import { createFakeStore } from "../fake-store.ts"
import type { MadeAppend, Records, View } from "./actors.ts"
import { createCollector, createReader, createWriter } from "./actors.ts"
import type { Clock } from "./clock.ts"
import { createClock } from "./clock.ts"
import type { Design } from "./designs.ts"
import { SESSION } from "./designs.ts"
import type { Dice } from "../../../core/test/dice.ts"
import { createDice } from "../../../core/test/dice.ts"
import { brokenRules } from "./oracle.ts"
import type { Weather } from "./faulty-store.ts"
import { createStormyStore } from "./faulty-store.ts"
import { WitnessedBucket } from "./observed-bucket.ts"

export interface Outcome {
  readonly acknowledged: number
  readonly indeterminate: number
  readonly violations: readonly string[]
}

export async function simulate(design: Design, seed: number): Promise<Outcome> {
  const dice = createDice(seed)
  const clock = createClock()
  const options = { now: () => 1_700_000_000_000 + clock.now(), pageSize: 3 }
  const witness = design.tails ? new WitnessedBucket(`tails/${SESSION}`, `segments/${SESSION}/`, options) : undefined
  const bucket = witness ?? new FakeBucket(options)
  const weather: Weather = { risk: dice.pick([0, 0.02, 0.1, 0.25, 0.5]), late: 0 }
  const records: Records = { appends: [], reads: [], problems: [] }
  const open = (): ReturnType<Design["open"]> =>
    design.open(createStormyStore(bucket, clock, dice, weather), clock.machine(dice, dice.below(1_000_000) - 500_000))
  const deletes = design.tails && dice.chance(0.3)
  const writers = Array.from({ length: 2 + dice.below(3) }, (_, n) =>
    createWriter(open(), `w${n}`, dice, clock, records, { deletes }),
  )
  const view: View = {
    lengths: () => new Map([...(witness?.logs ?? [])].map(([log, lines]) => [log, lines.length])),
    current: () => witness?.current?.log,
  }
  const others = [createReader(open(), dice, clock, records, view), createCollector(open(), dice, clock, records)]
  if (dice.chance(0.3)) outage(clock, dice, weather)
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
  if (!(await clock.until(() => running === 0))) records.problems.push(`${running} actors wait for ever`)
  weather.risk = 0
  await clock.until(() => weather.late === 0)
  const last = await calm(writers, clock, records, (log) => witness === undefined || log === witness.current?.log)
  const storage = design.open(createFakeStore(bucket), clock.machine(dice, 0))
  const violations = await finish(clock, () => brokenRules(storage, records, last, witness))
  const acknowledged = records.appends.filter(({ outcome }) => outcome !== undefined && "head" in outcome).length
  const indeterminate = records.appends.filter(
    ({ outcome }) => outcome !== undefined && "code" in outcome && outcome.code === "indeterminate",
  ).length
  return { acknowledged, indeterminate, violations }
}

/** For a while nothing reaches the store, or nothing comes back. */
function outage(clock: Clock, dice: Dice, weather: Weather): void {
  const { risk } = weather
  clock.at(dice.below(3_000), () => (weather.risk = 0.97))
  clock.at(3_000 + dice.below(12_000), () => (weather.risk = risk))
}

async function repeat(actor: { step(): Promise<void> }, times: number): Promise<void> {
  for (let n = 0; n < times; n++) await actor.step()
}

/**
 * Nothing latches: in good weather everybody who is alone can append at once, or after one look. One who sends again what nobody
 * could tell of is told that it was written, also where its log has ended since; the next append is to the log that is there.
 */
async function calm(
  writers: readonly { append(): Promise<MadeAppend> }[],
  clock: Clock,
  records: Records,
  isThere: (log: string) => boolean,
): Promise<readonly MadeAppend[]> {
  const last: MadeAppend[] = []
  for (const writer of writers) {
    for (let tries = 0; ; tries++) {
      const made = await finish(clock, () => writer.append())
      if (made.outcome !== undefined && "head" in made.outcome && isThere(made.outcome.head.log)) {
        last.push(made)
        break
      }
      if (tries < 20) continue
      records.problems.push(`a writer cannot append any more: ${JSON.stringify(made.outcome)}`)
      break
    }
  }
  return last
}

async function finish<T>(clock: Clock, call: () => Promise<T>): Promise<T> {
  let ended = false
  const end = (): void => void (ended = true)
  const promise = call()
  promise.then(end, end)
  if (!(await clock.until(() => ended))) throw new Error("A call waits for ever.")
  return promise
}
