/**
 * Histories of one turn: processes run its calls and resume them at once, on a storage that loses answers, and each is killed, or held for a
 * while, at a random step. A bank outside has a line for each charge. A history is judged by what the bank and the log have at its end,
 * and by what readers were told on the way.
 */
import { createFaultyStorage, type Fault } from "@sessions/conformance/faults"
import { createSessions, hasCode, type Session } from "@sessions/core"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { createToolCalls, type Execution, type ToolCallsOptions } from "@sessions/tool-calls"
import { createDice, type Dice } from "../../core/test/dice.ts"
import { answer, call, question, TOOLS } from "./world.ts"

export interface Variant {
  /** Takes a rule out of what the package sees of its session. */
  readonly session?: (session: Session) => Session
  /** `onUnknown` says "not done" of every call. */
  readonly lies?: boolean
  /** The bank takes the key of a call only if it is given. */
  readonly key?: (execution: Execution) => string
}

interface Charge {
  readonly callId: string
  readonly key: string
  /** Of the process. */
  readonly by: number
}

const BLOCKS = ["a", "b", "c", "d"].map((id) => call(id, id === "c" ? "look" : "charge", { id }))

/** What is wrong with a history; empty for none. */
export async function simulate(seed: number, variant: Variant = {}): Promise<readonly string[]> {
  const world = new World(seed, variant)
  await world.play()
  return world.wrong
}

class World {
  readonly wrong: string[] = []
  readonly #dice: Dice
  readonly #variant: Variant
  readonly #location: MemoryLocation = createMemoryLocation()
  /** The charges that the bank has made: one for each key. */
  readonly #bank: Charge[] = []
  /** Processes that may still do something. */
  readonly #alive = new Set<number>()
  #stopped = false

  constructor(seed: number, variant: Variant) {
    this.#dice = createDice(seed)
    this.#variant = variant
  }

  async play(): Promise<void> {
    const dice = this.#dice
    const first = await this.#open(() => undefined)
    await first.append([question(), createToolCalls(first, { tools: TOOLS }).record])
    await first.append(answer(...BLOCKS))
    const stops = dice.chance(0.3)
    const running = [0, 1, 2].map((n) => this.#process(n, 5 + dice.below(60), n === 0 || dice.chance(0.5)))
    if (stops) running.push(this.#stop())
    running.push(this.#watch())
    await Promise.all(running)
    // One that is not killed ends what the others have left.
    await this.#process(3, Number.POSITIVE_INFINITY, false)
    await this.#judge()
  }

  /** Resolves when the process has ended or was killed. */
  #process(n: number, steps: number, runs: boolean): Promise<void> {
    const dice = this.#dice
    this.#alive.add(n)
    let left = steps
    return new Promise((resolve, reject) => {
      const step = async (): Promise<void> => {
        if (left-- <= 0) {
          if (this.#alive.delete(n)) resolve()
          await new Promise(() => undefined)
        }
        for (let pause = dice.chance(0.05) ? 20 : dice.below(3); pause > 0; pause--) await tick()
        // Another of its calls may have been at the last step meanwhile.
        if (!this.#alive.has(n)) await new Promise(() => undefined)
      }
      const work = async (): Promise<void> => {
        const session = await this.#open(step, n < 3)
        const execute = (execution: Execution): Promise<string> => this.#charge(n, execution, step)
        const calls = createToolCalls(this.#variant.session?.(session) ?? session, {
          tools: TOOLS,
          onUnknown: this.#lookUp(n),
        })
        const ran = (promise: Promise<unknown>): Promise<unknown> =>
          promise.catch((error: unknown) => {
            if (!hasCode(error, "conflict") && !hasCode(error, "indeterminate")) throw error
          })
        if (runs)
          await Promise.all(
            BLOCKS.map((block) => ran(calls.run(block, (o) => (block.name === "look" ? "seen" : execute(o))))),
          )
        else await ran(calls.resume({ charge: execute, look: () => "seen" }))
      }
      work().then(() => {
        this.#alive.delete(n)
        resolve()
      }, reject)
    })
  }

  async #charge(by: number, execution: Execution, step: () => Promise<void>): Promise<string> {
    await step()
    const key = this.#variant.key?.(execution) ?? execution.key
    const callId = String(execution.arguments["id"])
    // The bank recognizes a key that it has seen; whoever lies leaves it to that.
    if (this.#variant.lies !== true || this.#bank.every((charge) => charge.key !== key))
      this.#bank.push({ callId, key, by })
    await step()
    return "charged"
  }

  /** Looks in the bank. That a call was not made is certain only if nobody else is there who could make it. */
  #lookUp(n: number): NonNullable<ToolCallsOptions["onUnknown"]> {
    return ({ key }) => {
      if (this.#variant.lies === true) return "not done"
      if (this.#bank.some((charge) => charge.key === key)) return { output: "charged" }
      return this.#alive.size === 1 && this.#alive.has(n) ? "not done" : undefined
    }
  }

  async #stop(): Promise<void> {
    for (let n = this.#dice.below(60); n > 0; n--) await tick()
    const session = await this.#open(() => undefined)
    await session.append({ ...question("Stop."), id: "stop" })
    this.#stopped = true
  }

  /** A reader that comes anew. */
  async #watch(): Promise<void> {
    for (let look = 0; look < 4; look++) {
      for (let n = this.#dice.below(30); n > 0; n--) await tick()
      await this.#look()
    }
  }

  async #look(): Promise<Session> {
    const charged = new Set(this.#bank.map(({ callId }) => callId))
    const session = await this.#open(() => undefined)
    for (const { callId, state } of (await session.callStates())?.calls ?? [])
      if (state === "waiting" && charged.has(callId)) this.wrong.push(`${callId} was charged, and told as waiting`)
    return session
  }

  async #judge(): Promise<void> {
    const session = await this.#look()
    const seqs = new Map<string, number>()
    for await (const entry of session.entries()) seqs.set(entry.id, entry.seq)
    const states = (await session.callStates())?.calls ?? []
    for (const { id, name } of BLOCKS) {
      const charges = this.#bank.filter(({ callId }) => callId === id)
      if (charges.length > 1) this.wrong.push(`${id} was charged ${charges.length} times`)
      const state = states.find(({ callId }) => callId === id)
      const stop = seqs.get("stop") ?? Number.POSITIVE_INFINITY
      const start = state?.start === undefined ? -1 : (seqs.get(state.start) ?? -1)
      if (charges.length > 0 && start > stop) this.wrong.push(`${id} started behind the message that forbids it`)
      if (this.#stopped || this.#variant.lies === true) continue
      if (state?.state !== "done") this.wrong.push(`${id} is ${state?.state} in the end`)
      if (name === "charge" && charges.length === 0 && state?.state === "done")
        this.wrong.push(`${id} is done, and was not charged`)
    }
  }

  async #open(step: () => Promise<void> | void, faults = false): Promise<Session> {
    const decide = (): Fault | undefined =>
      faults && this.#dice.chance(0.08) ? this.#dice.pick(["response lost", "request lost"] as const) : undefined
    const storage = createFaultyStorage(createMemoryStorage({ location: this.#location }), {
      pause: async () => step(),
      decide: ({ operation }) => (operation === "append" ? decide() : undefined),
    })
    return createSessions({ storage }).openOrCreate("s")
  }
}

function tick(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, 0))
}
