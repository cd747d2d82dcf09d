/**
 * The effect of a fence in the log, whoever says which turn may run: the turn appends its number before it reads its context, and from then on
 * appends of turns with a lower number are refused, also those that are on their way. Whoever learns late that it has lost its lease has
 * therefore written nothing into the turn of another one.
 */
import type { Entry } from "../format/entry.ts"
import { SessionError } from "../format/errors.ts"
import type { NewEntry } from "../format/new-entry.ts"
import { isObject } from "../format/shape.ts"
import type { CallOptions } from "../storage/contract.ts"
import { onAbort, rejectOnAbort, signalOf } from "../storage/signals.ts"
import type { AppendResult, TurnLease } from "../write/types.ts"
import { sleep } from "./lease-clock.ts"
import { type InformedSession, knownInfo } from "./read-entries.ts"
import { runTurn, turnAborted, type TurnSession, type TurnSteps } from "./turn.ts"

export interface FencedSession extends TurnSession, InformedSession {
  append(entries: readonly NewEntry[], o?: CallOptions): Promise<AppendResult>
}

/** Runs a turn behind its fence. The lock of the session's turns is held, and all that earlier holders got into the log is read. */
export async function runFenced<T>(
  live: FencedSession,
  turn: FencedTurn,
  steps: TurnSteps<T>,
  o: CallOptions,
): Promise<T> {
  live.turns.lease = turn
  const drain = (): Promise<void> => untilLost(turn, steps.drain())
  try {
    // Appends that an earlier turn has left would be refused, and the fence behind it.
    await rejectOnAbort(drain(), o.signal, turnAborted(live.id))
    const fence = live.append([{ type: "fence", fence: turn.fence }], signalOf(o))
    await turn.attempt(() => untilLost(turn, fence))
    return await runTurn(live, { ...stepsWithin(turn, steps), drain }, o)
  } finally {
    live.turns.lease = undefined
  }
}

/** Throws if the log has this fence already, or a higher one. */
export async function checkAbove(live: FencedSession, fence: number, o: CallOptions): Promise<void> {
  const highest = await highestFence(live, o)
  if (highest < fence) return
  const message = `The log of ${live.id} has the fence ${highest} already, so this turn with the fence ${fence} was not begun. Begin turns with greater numbers.`
  throw Object.assign(new SessionError("conflict", message, { session: live.id }), { fence: highest })
}

/** The highest number of a fence in the log, as far as this session knows the log; 0 if there is none. */
export async function highestFence(live: FencedSession, o: CallOptions): Promise<number> {
  const { fence = 0 } = await knownInfo(live, o)
  return fence
}

/** A request may stay open for ever: once the lease is lost, nobody waits for what has not ended by then. */
async function untilLost<T>(turn: FencedTurn, work: Promise<T>): Promise<T> {
  const { signal } = turn
  const ended = new AbortController()
  let off = (): void => undefined
  const fired = new Promise<void>((resolve) => {
    off = onAbort(signal, resolve)
    if (signal.aborted) resolve()
  })
  const lost = fired.then(async () => {
    await sleep(0, ended.signal)
    throw turn.error()
  })
  return Promise.race([work, lost]).finally(() => {
    off()
    ended.abort()
  })
}

/** The turn with a fence, as its appends use it. */
export class FencedTurn implements TurnLease {
  readonly fence: number
  isLost = false
  readonly #session: string
  readonly #lost = new AbortController()
  /** An append was refused because of the lease. */
  #hasRefused = false

  constructor(session: string, fence: number) {
    this.#session = session
    this.fence = fence
  }

  /** Fires when the lease is lost. */
  get signal(): AbortSignal {
    return this.#lost.signal
  }

  /** The error of a lost lease takes the place of any that is thrown after the loss. */
  async attempt<T>(act: () => Promise<T> | T): Promise<T> {
    try {
      return await act()
    } catch (error) {
      throw this.isLost ? this.error(error) : error
    }
  }

  /** Throws if an append was refused, even if the function did not look at that. */
  check(): void {
    if (this.#hasRefused) throw this.error()
  }

  error(cause?: unknown): SessionError {
    return leaseLostError(this.#session, cause)
  }

  admit<A extends { readonly inputs: readonly NewEntry[] }>(append: A): A {
    if (!this.isLost) return { ...append, inputs: append.inputs.map((entry) => withFence(entry, this.fence)) }
    this.#hasRefused = true
    throw this.error()
  }

  isEndedBy(foreign: readonly Entry[]): boolean {
    const isEnded = foreign.some((entry) => entry.type === "fence" && entry.fence >= this.fence)
    if (isEnded) this.lose()
    return isEnded
  }

  refuses(foreign: readonly Entry[]): boolean {
    const isEnded = this.isEndedBy(foreign)
    this.#hasRefused ||= isEnded
    return isEnded
  }

  lose(): void {
    if (this.isLost) return
    this.isLost = true
    this.#lost.abort(this.error())
  }
}

function stepsWithin<T>(turn: FencedTurn, { fn, between }: TurnSteps<T>): Omit<TurnSteps<T>, "drain"> {
  const { fence, signal } = turn
  return {
    fn: (context) => {
      if (turn.isLost) throw turn.error()
      return turn.attempt(() => fn({ ...context, fence, signal }))
    },
    between: async () => {
      turn.check()
      await between()
    },
  }
}

/** The start of a tool call has the number of its turn. These are not checked yet, so they may be any values. */
function withFence(entry: NewEntry, fence: number): NewEntry {
  return isObject(entry) && entry["type"] === "tool_start" && entry["fence"] === undefined ? { ...entry, fence } : entry
}

function leaseLostError(session: string, cause?: unknown): SessionError {
  const message = `This turn has lost the lease of ${session}: another turn runs, or the storage did not answer for a whole lease. What was appended before stays; nothing more of it is written.`
  return new SessionError("conflict", message, { session, leaseLost: true, ...(cause === undefined ? {} : { cause }) })
}
