/** One round: clients call one session of a new location, some are killed and followed by others, and the checker judges what they saw. */
import { createDice } from "../../../packages/core/test/dice.ts"
import { check } from "./checker/check.ts"
import { type History, isFailed, type Operation } from "./checker/history.ts"
import type { Defect } from "./client/planted.ts"
import { createRecording } from "./recording.ts"
import type { Place, PlanOf, Store } from "./stores/store.ts"

export interface RoundOptions {
  readonly seed: number
  /** Clients at one time, and the calls of each, those of its successors after a kill included. */
  readonly clients: number
  readonly operations: number
  /** How many times each client is killed. */
  readonly kills: number
  readonly faults: boolean
  /** The session is deleted, created again, and its log replaced. */
  readonly resets: boolean
  readonly defect?: Defect
}

export interface Round {
  readonly history: History
  readonly violations: readonly string[]
  readonly counts: Counts
}

/** Calls by their outcome. */
export interface Counts {
  readonly operations: number
  readonly acknowledged: number
  readonly conflicts: number
  readonly indeterminate: number
  readonly otherErrors: number
  readonly unanswered: number
  readonly resets: number
  readonly kills: number
  /** Of the server. */
  readonly crashes: number
}

const SESSION = "linear"
const LANES = 2
const LINE_BYTES = 400
/** Within the time of a call. */
const LONGEST_KILL_MS = 4

export async function runRound(store: Store, o: RoundOptions): Promise<Round> {
  const recording = createRecording()
  const place = await store.open(o.seed, o.faults)
  let kills = 0
  let callsOfAll = 0
  let crashing: Promise<void> | undefined
  await Promise.all(Array.from({ length: o.clients }, (_, client) => runClients(client)))
  await crashing
  await place.settle()
  const stored = await place.readStored(planOf("reader", o, 0))
  await place.remove()
  const history = { atomicBatch: store.atomicBatch, ...stored, operations: recording.operations }
  return {
    history,
    violations: check(history),
    counts: countsOf(recording.operations, kills, crashing === undefined ? 0 : 1),
  }

  /** One client after the other, until all calls are made. */
  async function runClients(client: number): Promise<void> {
    const random = createDice(o.seed * 31 + client)
    let left = o.operations
    for (let life = 0; left > 0; life++) {
      const killAt =
        life < o.kills ? 1 + random.below(Math.ceil(o.operations / (o.kills + 1))) : Number.POSITIVE_INFINITY
      left -= await runOne(
        place,
        planOf(`c${client}-${life}`, { ...o, seed: random.below(2 ** 31) }, left),
        killAt,
        random,
      )
    }
  }

  /** Returns the number of calls that it began. */
  async function runOne(
    place: Place,
    plan: PlanOf,
    killAt: number,
    random: ReturnType<typeof createDice>,
  ): Promise<number> {
    let begun = 0
    const client = place.start(plan, recording, () => {
      begun++
      // In the middle of the round.
      if (++callsOfAll === Math.ceil((o.clients * o.operations) / 2)) crashing = place.crash?.()
      if (begun !== killAt) return
      kills++
      setTimeout(() => client.kill(), random.next() * LONGEST_KILL_MS)
    })
    await client.ended
    return begun
  }
}

function planOf(name: string, { seed, resets, defect }: RoundOptions, operations: number): PlanOf {
  const fixed = { session: SESSION, lanes: LANES, lineBytes: LINE_BYTES }
  return { name, seed, operations, resets, ...fixed, ...(defect !== undefined && operations > 0 && { defect }) }
}

function countsOf(operations: readonly Operation[], kills: number, crashes: number): Counts {
  const codes = operations.flatMap(({ answer }) => (isFailed(answer) ? [answer.code] : []))
  const count = (wanted: string): number => codes.filter((code) => code === wanted).length
  const [conflicts, indeterminate] = [count("conflict"), count("indeterminate")]
  const appends = operations.filter(
    ({ kind, answer }) => kind === "append" && answer !== undefined && !isFailed(answer),
  )
  return {
    operations: operations.length,
    acknowledged: appends.length,
    conflicts,
    indeterminate,
    otherErrors: codes.length - conflicts - indeterminate,
    unanswered: operations.filter(({ answer }) => answer === undefined).length,
    resets: operations.filter(({ kind, answer }) => isReset(kind) && answer !== undefined && !isFailed(answer)).length,
    kills,
    crashes,
  }
}

function isReset(kind: Operation["kind"]): boolean {
  return kind === "delete" || kind === "replace"
}
