/** `createToolCalls`: runs the calls of a session, and settles those that an earlier process has left. */
import { hasCode, type Session, type SessionError } from "@sessions/core"
import type { CallState } from "@sessions/core/context"
import { onAbort } from "@sessions/core/storage"
import { checkedCall, checkedTools, checkExecute, checkExecutors, checkRunOptions } from "./checks.ts"
import {
  invalidAnswerError,
  isLoss,
  noSuchCallError,
  NOT_RUN,
  notStoredError,
  startedAgainError,
  STOPPED,
} from "./errors.ts"
import { appendResult, entryMaker, type MakeEntry, resultOf } from "./results.ts"
import { type Grant, newRun, NotRun, Starts, type Wanted } from "./starts.ts"
import type {
  CallResult,
  Execute,
  ResumedCall,
  RunOptions,
  ToolCalls,
  ToolCallsOptions,
  ToolKind,
  ToResult,
} from "./types.ts"

/** `session`: one that is open, or that of the running turn. One object serves any number of turns. */
export function createToolCalls(session: Session, options: ToolCallsOptions): ToolCalls {
  const kinds = checkedTools(session, options)
  const { onUnknown = () => undefined, toResult } = options
  const named = (wanted: ToolKind): string[] => [...kinds].flatMap(([name, kind]) => (kind === wanted ? [name] : []))
  const record = { type: "tool_policy", never: named("never"), safe: named("safe") } as const
  return new SessionCalls(session, kinds, { onUnknown, toResult }, record)
}

interface Callbacks {
  readonly onUnknown: NonNullable<ToolCallsOptions["onUnknown"]>
  readonly toResult: ToResult | undefined
}

class SessionCalls implements ToolCalls {
  readonly record: ToolCalls["record"]
  readonly #session: Session
  readonly #kinds: ReadonlyMap<string, ToolKind>
  readonly #callbacks: Callbacks
  readonly #starts: Starts
  /** Lines were lost, of which the session has told a run whose caller had gone. */
  #untold: { readonly error: unknown } | undefined

  constructor(
    session: Session,
    kinds: ReadonlyMap<string, ToolKind>,
    callbacks: Callbacks,
    record: ToolCalls["record"],
  ) {
    this.#session = session
    this.#kinds = kinds
    this.#callbacks = callbacks
    this.record = record
    this.#starts = new Starts(session, kinds)
  }

  async run(call: Parameters<ToolCalls["run"]>[0], execute: Execute, o: RunOptions = {}): Promise<CallResult> {
    const wanted = checkedCall(call)
    checkExecute(execute)
    checkRunOptions("run", o)
    this.#tellLoss()
    return this.#run({ ...wanted, signal: o.signal }, execute)
  }

  async resume(executors: Readonly<Record<string, Execute>>, o: RunOptions = {}): Promise<readonly ResumedCall[]> {
    checkExecutors(executors)
    checkRunOptions("resume", o)
    this.#tellLoss()
    const states = await this.#session.callStates()
    const resumed: ResumedCall[] = []
    for (const call of states?.calls ?? []) {
      const outcome = await this.#settle(states?.entryId as string, call, executors, o).catch((error: unknown) => {
        // One that has run, and whose result was refused, is not held by anybody. After a loss nothing more is settled here.
        if (hasCode(error, "conflict") && !isLoss(error) && !Object.hasOwn(error, "outcome")) return "held" as const
        throw error
      })
      resumed.push({ call, outcome })
    }
    return resumed
  }

  async #settle(
    target: string,
    call: CallState,
    executors: Readonly<Record<string, Execute>>,
    { signal }: RunOptions,
  ): Promise<ResumedCall["outcome"]> {
    const { state, callId, toolName, start } = call
    if (state === "done") return "done"
    if (state === "unrecorded") return "left"
    if (state === "running") return "held"
    const execute = Object.hasOwn(executors, toolName) ? executors[toolName] : undefined
    const wanted = { callId, target, call: call.call, signal }
    // A tool that the turn could repeat, and this program must not, may have run.
    const isUnknown = state === "unknown" || (state === "repeatable" && this.#kinds.get(toolName) === "never")
    if (!isUnknown) {
      if (execute === undefined) return "left"
      const { outcome } = await this.#run(wanted, execute)
      return outcome === undefined ? "done" : "ran"
    }
    const asked = Promise.resolve(this.#callbacks.onUnknown(call, signal === undefined ? {} : { signal }))
    const answer: unknown = await untilAborted(asked, signal)
    if (answer === undefined) return "left"
    if (answer === "not done") {
      if (execute === undefined || start === undefined) return "left"
      const { outcome } = await this.#run({ ...wanted, after: start }, execute)
      return outcome === undefined ? "done" : "ran"
    }
    if (!isOutput(answer)) throw invalidAnswerError(answer)
    const place = { target, call: call.call }
    const make = await entryMaker(this.#session, place, call, this.#callbacks.toResult)
    const { output, isError = false } = answer
    const run = newRun()
    const placing = { run, start: call, onConflict: "fail" } as const
    const appended = await appendResult(this.#session, place, make, { output, isError, ...placing })
    if (appended === undefined) return "held"
    return appended.run === run ? "settled" : "done"
  }

  async #run(wanted: Wanted, execute: Execute): Promise<CallResult> {
    const { signal } = wanted
    const begun = this.#begin(wanted)
    begun.catch((error: unknown) => {
      if (signal?.aborted === true && (error as SessionError | undefined)?.lost !== undefined) this.#untold = { error }
    })
    const { grant, make } = await untilAborted(begun, signal)
    const { place, state, key, attempt, run } = grant
    if (grant.isDone) {
      const done = await resultOf(this.#session, place)
      if (done === undefined) throw noSuchCallError(this.#session.id, state.callId)
      return { entryId: done.entryId, message: done.message }
    }
    let outcome: NonNullable<CallResult["outcome"]>
    try {
      outcome = { output: await execute({ key, attempt, arguments: state.arguments, signal }) }
    } catch (error) {
      // Nobody knows how far it has come.
      if (signal?.aborted === true) throw error
      outcome = { error }
    }
    const isError = "error" in outcome
    const output = "error" in outcome ? errorOf(outcome.error) : outcome.output
    try {
      const start = state.start === undefined ? undefined : state
      const placing = { run, start, onConflict: "rebase" } as const
      const appended = await appendResult(this.#session, place, make, { output, isError, ...placing })
      if (appended === undefined) throw startedAgainError(this.#session.id)
      return { entryId: appended.entryId, message: appended.message, outcome }
    } catch (error) {
      throw notStoredError(this.#session.id, state.callId, error, outcome)
    }
  }

  #tellLoss(): void {
    const untold = this.#untold
    this.#untold = undefined
    if (untold !== undefined) throw untold.error
  }

  /** The call may run when this resolves. Goes on when its signal has fired: a start that is in the log then gets a result that says that nothing ran. */
  async #begin(wanted: Wanted): Promise<{ readonly grant: Grant; readonly make: MakeEntry }> {
    const { signal } = wanted
    try {
      const grant = await this.#starts.grant(wanted)
      const make = await this.#makerOf(grant)
      if (signal?.aborted !== true) return { grant, make }
      if (grant.state.run === grant.run) await this.#say(STOPPED, grant)
      throw signal.reason
    } catch (error) {
      if (!(error instanceof NotRun)) throw error
      await this.#say(NOT_RUN, error.grant)
      throw error.error
    }
  }

  /** Says of a call that was started here that it was not run. Not if another run has started it since: that one may have run it. */
  async #say(output: string, grant: Grant): Promise<void> {
    const { place, attempt, run } = grant
    const placing = { run, start: { attempt, run }, onConflict: "fail" } as const
    await appendResult(this.#session, place, await this.#makerOf(grant), { output, isError: true, ...placing })
  }

  #makerOf({ place, state }: Grant): Promise<MakeEntry> {
    return entryMaker(this.#session, place, state, this.#callbacks.toResult)
  }
}

/** Rejects with the reason of the signal once it fires; the work goes on. */
function untilAborted<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work
  return new Promise((resolve, reject) => {
    const off = onAbort(signal, () => reject(signal.reason as Error))
    work.finally(off).then(resolve, reject)
    if (signal.aborted) reject(signal.reason as Error)
  })
}

function isOutput(answer: unknown): answer is { readonly output: unknown; readonly isError?: boolean } {
  if (typeof answer !== "object" || answer === null || !("output" in answer)) return false
  return !("isError" in answer) || answer.isError === undefined || typeof answer.isError === "boolean"
}

/** A function may have thrown any value. */
function errorOf(error: unknown): unknown {
  try {
    return error instanceof Error || typeof error === "string" ? error : new Error(String(error))
  } catch {
    return new Error("The tool has thrown a value that cannot be shown.")
  }
}
