/**
 * The effect of a fence in the log, whoever says which turn may run: the turn appends its number before it reads its context, and from then on
 * appends of turns with a lower number are refused, also those that are on their way. Whoever learns late that it has lost its lease has
 * therefore written nothing into the turn of another one.
 */
import type { Entry } from "../format/entry.ts"
import { SessionError } from "../format/errors.ts"
import type { NewEntry } from "../format/new-entry.ts"
import { isObject } from "../format/shape.ts"
import type { EntryLog } from "../log/entry-log.ts"
import type { CallOptions } from "../storage/contract.ts"
import { signalOf } from "../storage/signals.ts"
import type { AppendResult, TurnLease } from "../write/types.ts"
import { runTurn, type TurnSession, type TurnSteps } from "./turn.ts"

export interface FencedSession extends TurnSession {
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
  try {
    // Appends that an earlier turn has left would be refused, and the fence behind it.
    await live.drain().catch(() => undefined)
    await turn.attempt(() => live.append([{ type: "fence", fence: turn.fence }], signalOf(o)))
    return await runTurn(live, stepsWithin(turn, steps), o)
  } finally {
    live.turns.lease = undefined
  }
}

/** Throws if the log has this fence already, or a higher one. */
export function checkAbove(live: FencedSession, fence: number): void {
  const newest = newestFence(live.state.log)
  if (newest < fence) return
  const message = `The log of ${live.id} has the fence ${newest} already, so this turn with the fence ${fence} was not begun. Begin turns with greater numbers.`
  throw Object.assign(new SessionError("conflict", message, { session: live.id }), { fence: newest })
}

/** The number of the last fence among the loaded entries; 0 if there is none. */
export function newestFence(log: EntryLog): number {
  for (let seq = log.end - 1; seq >= log.from; seq--) {
    const entry = log.at(seq)
    if (entry?.type === "fence" && Number.isSafeInteger(entry.fence)) return entry.fence
  }
  return 0
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

function stepsWithin<T>(turn: FencedTurn, { fn, between }: TurnSteps<T>): TurnSteps<T> {
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
