/**
 * Grants calls the right to run. Calls that ask in one tick of the event loop are looked up together and started in one batch. A start is granted
 * if it is in the log, is of this run, and nothing but results of its message's calls is behind the message: then no other run has it, and
 * nobody has said meanwhile that it should not run.
 */
import { hasCode, type NewEntry, type Session } from "@sessions/core"
import type { CallState, CallStates } from "@sessions/core/context"
import { createIds } from "@sessions/core/format"
import { goneOnError, heldError, isLoss, keepsChangingError, noSuchCallError } from "./errors.ts"
import { type CallPlace, keyOf, startId } from "./key.ts"
import { positionOf } from "./position.ts"
import type { ToolKind } from "./types.ts"

export interface Grant {
  readonly place: CallPlace
  readonly state: CallState
  readonly attempt: number
  readonly key: string
  readonly run: string
  /** The call has a result: nothing runs. */
  readonly isDone: boolean
}

export interface Wanted {
  readonly callId: string
  /** Its place in the message, if the caller knows it. */
  readonly call?: number | undefined
  /** Its message, if the caller knows it. */
  readonly target?: string | undefined
  /** The start that has not led to anything: the next attempt follows it. */
  readonly after?: string | undefined
  readonly signal: AbortSignal | undefined
}

interface Request extends Wanted {
  readonly run: string
  place: CallPlace | undefined
  readonly resolve: (grant: Grant) => void
  readonly reject: (error: unknown) => void
}

/** How often other writers may be faster. */
const TRIES = 100
/** How often a batch is sent whose outcome is unknown, or whose ids are taken. */
const SENDS = 5

/** Unique for each execution that was asked for. */
export const newRun: () => string = createIds()

export class Starts {
  readonly #session: Session
  readonly #kinds: ReadonlyMap<string, ToolKind>
  /** Calls that asked in this tick. */
  #waiting: Request[] = []
  #last: Promise<void> = Promise.resolve()
  /** The places that calls of this object have taken: two calls of a message may have one id. */
  readonly #taken = new Set<string>()

  constructor(session: Session, kinds: ReadonlyMap<string, ToolKind>) {
    this.#session = session
    this.#kinds = kinds
  }

  grant(wanted: Wanted): Promise<Grant> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...wanted, run: newRun(), place: undefined, resolve, reject })
      if (this.#waiting.length > 1) return
      // One batch after the other: the next one sees the starts of this one.
      this.#last = Promise.all([this.#last, nextTick()]).then(() => this.#grantAll(this.#waiting.splice(0)))
    })
  }

  /** Never rejects. */
  async #grantAll(requests: readonly Request[]): Promise<void> {
    const open = new Set(requests)
    let sends = 0
    try {
      for (let tries = 0; open.size > 0; tries++) {
        if (tries === TRIES) throw keepsChangingError(this.#session.id)
        const unknown = await this.#try(open)
        if (unknown !== undefined && ++sends === SENDS) throw unknown
      }
    } catch (error) {
      for (const request of open) this.#refuse(request, error)
    }
  }

  /**
   * Settles requests, and takes them out of `open`; leaves those for which the log has changed meanwhile. Returns the error of an append whose
   * outcome is unknown, or that another entry with such an id has refused: if that is no start, it stays so.
   */
  async #try(open: Set<Request>): Promise<unknown> {
    const session = this.#session
    let before = positionOf(session)
    let states = await session.callStates()
    // Another writer may have appended the message, as a bridge to an SDK does.
    if ([...open].some((request) => states === undefined || this.#find(request, states) === undefined)) {
      await session.refresh()
      before = positionOf(session)
      states = await session.callStates()
    }
    const starts = new Map<string, { readonly request: Request; readonly grant: Grant; readonly entry: NewEntry }>()
    for (const request of open) {
      try {
        const grant = await this.#look(request, states)
        const entry = this.#needsStart(grant) ? startEntry(request, grant) : undefined
        if (entry !== undefined && !starts.has(entry.id)) starts.set(entry.id, { request, grant, entry })
        else {
          if (entry !== undefined) throw heldError(session.id, request.callId, entry.id)
          open.delete(request)
          request.resolve(grant)
        }
      } catch (error) {
        open.delete(request)
        this.#refuse(request, error)
      }
    }
    // Whatever was read meanwhile may forbid a start. Nothing is awaited between this and the append.
    if (starts.size === 0 || positionOf(session) !== before) return undefined
    const batch = [...starts.values()]
    try {
      await session.append(
        batch.map(({ entry }) => entry),
        { onConflict: "fail" },
      )
    } catch (error) {
      // The same entries are looked for, and sent again.
      if (hasCode(error, "indeterminate")) return error
      const isTaken = hasCode(error, "exists")
      if ((!hasCode(error, "conflict") && !isTaken) || isLoss(error)) throw error
      await session.refresh()
      return isTaken ? error : undefined
    }
    const after = await session.callStates()
    for (const { request, grant } of batch) {
      open.delete(request)
      const state = after?.entryId === grant.place.target ? stateAt(after, grant.place.call) : undefined
      if (state?.run === request.run && after?.continuedBy === undefined) request.resolve({ ...grant, state })
      else {
        const by = after?.continuedBy ?? state?.start ?? grant.place.target
        this.#refuse(request, new NotRun(goneOnError(session.id, request.callId, by), grant))
      }
    }
    return undefined
  }

  #refuse(request: Request, error: unknown): void {
    if (request.place !== undefined) this.#taken.delete(startId(request.place, 0))
    request.reject(error)
  }

  /** Finds what a request is granted if its start gets into the log. */
  async #look(request: Request, states: CallStates | undefined): Promise<Grant> {
    const { id: session } = this.#session
    const { callId, after, run, signal } = request
    signal?.throwIfAborted()
    const state = states && this.#find(request, states)
    if (states === undefined || state === undefined) {
      const target = request.place?.target ?? request.target
      if (target !== undefined && target !== states?.entryId)
        throw goneOnError(session, callId, states?.entryId ?? "none")
      throw noSuchCallError(session, callId)
    }
    const place = (request.place ??= { target: states.entryId, call: state.call })
    this.#taken.add(startId(place, 0))
    const key = state.key ?? (await keyOf(session, place))
    const first = { place, state, key, run, attempt: 1, isDone: false }
    if (state.state === "done") return { ...first, isDone: true }
    const isOwn = state.run === run
    const isNext = after !== undefined && state.start === after && state.state === "unknown"
    if ((state.state === "unknown" || state.state === "running") && !isOwn && !isNext)
      throw heldError(session, callId, state.start)
    // Its turn had the tool for one that may be repeated: it may have run without a start.
    if (state.state === "repeatable" && this.#kinds.get(state.toolName) === "never")
      throw heldError(session, callId, undefined)
    const grant = { ...first, attempt: isOwn ? (state.attempt ?? 1) : (state.attempt ?? 0) + 1 }
    if (this.#needsStart(grant) && states.continuedBy !== undefined)
      throw goneOnError(session, callId, states.continuedBy)
    return grant
  }

  #find(request: Request, states: CallStates): CallState | undefined {
    const { callId, place, target = states.entryId, call } = request
    if (target !== states.entryId) return undefined
    if (place !== undefined) return place.target === states.entryId ? stateAt(states, place.call) : undefined
    if (call !== undefined) return states.calls.find((state) => state.call === call && state.callId === callId)
    const own = states.calls.filter((state) => state.callId === callId)
    const isTaken = (state: CallState): boolean => this.#taken.has(startId({ target, call: state.call }, 0))
    return own.find((state) => !isTaken(state)) ?? own.at(-1)
  }

  /** By the program that runs it now, or by the record of the turn. */
  #needsStart({ state: { state, toolName }, isDone }: Grant): boolean {
    return !isDone && (this.#kinds.get(toolName) === "never" || ["waiting", "unknown", "running"].includes(state))
  }
}

/** The start is in the log, but the call must not run: the error, and what was granted. */
export class NotRun extends Error {
  readonly error: Error
  readonly grant: Grant

  constructor(error: Error, grant: Grant) {
    super(error.message)
    this.error = error
    this.grant = grant
  }
}

function stateAt(states: CallStates, call: number): CallState | undefined {
  return states.calls.find((state) => state.call === call)
}

function startEntry(
  { run, callId }: Request,
  { place, state, attempt, key }: Grant,
): NewEntry & { readonly id: string } {
  const { target: targetId, call } = place
  return {
    type: "tool_start",
    id: startId(place, attempt),
    targetId,
    callId,
    call,
    toolName: state.toolName,
    attempt,
    key,
    run,
  }
}

/** After the callbacks that are due now: a loop that starts its calls at once may await something first. */
function nextTick(): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, 0))
}
