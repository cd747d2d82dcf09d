/** `createToolCalls`: runs the calls of a session, and settles those that an earlier process has left. */
import { hasCode, type Session } from "@sessions/core"
import type { CallState } from "@sessions/core/context"
import { checkOptions, type OptionNames } from "@sessions/core/storage"
import { invalidToolsError, noSuchCallError, NOT_RUN } from "./errors.ts"
import { appendResult, entryMaker, resultOf } from "./results.ts"
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
  checkOptions("createToolCalls", options, OPTIONS)
  const { tools, onUnknown = () => undefined, toResult } = options
  const kinds = new Map(Object.entries(tools ?? {}))
  for (const [name, kind] of kinds) if (kind !== "never" && kind !== "safe") throw invalidToolsError(name, kind)
  const named = (wanted: ToolKind): string[] => [...kinds].flatMap(([name, kind]) => (kind === wanted ? [name] : []))
  const record = { type: "tool_policy", never: named("never"), safe: named("safe") } as const
  return new SessionCalls(session, kinds, { onUnknown, toResult }, record)
}

const OPTIONS: OptionNames<ToolCallsOptions> = { tools: 1, onUnknown: 1, toResult: 1 }

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

  async run(call: Parameters<ToolCalls["run"]>[0], execute: Execute, { signal }: RunOptions = {}): Promise<CallResult> {
    const wanted = "callId" in call ? { callId: call.callId, call: call.call } : { callId: call.id }
    return this.#run({ ...wanted, signal }, execute)
  }

  async resume(executors: Readonly<Record<string, Execute>>, o: RunOptions = {}): Promise<readonly ResumedCall[]> {
    const states = await this.#session.callStates()
    const resumed: ResumedCall[] = []
    for (const call of states?.calls ?? []) {
      const outcome = await this.#settle(states?.entryId as string, call, executors, o).catch((error: unknown) => {
        if (hasCode(error, "conflict")) return "held" as const
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
    const answer = await this.#callbacks.onUnknown(call, signal === undefined ? {} : { signal })
    if (answer === undefined) return "left"
    if (answer === "not done") {
      if (execute === undefined || start === undefined) return "left"
      const { outcome } = await this.#run({ ...wanted, after: start }, execute)
      return outcome === undefined ? "done" : "ran"
    }
    const place = { target, call: call.call }
    const make = await entryMaker(this.#session, place, call, this.#callbacks.toResult)
    const newest = async (): Promise<CallState | undefined> => {
      const now = await this.#session.callStates()
      return now?.entryId === target ? now.calls.find((one) => one.call === call.call) : undefined
    }
    const { output, isError = false } = answer
    const counts = async (): Promise<boolean> => {
      const now = await newest()
      return now?.state !== "done" && now?.start === start
    }
    const settled = await appendResult(this.#session, place, make, { output, isError, run: newRun(), counts })
    return settled !== undefined ? "settled" : (await newest())?.state === "done" ? "done" : "held"
  }

  async #run(wanted: Wanted, execute: Execute): Promise<CallResult> {
    const grant = await this.#granted(wanted)
    const { place, state, key, attempt, run } = grant
    if (grant.isDone) {
      const done = await resultOf(this.#session, place)
      if (done === undefined) throw noSuchCallError(this.#session.id, state.callId)
      return done
    }
    const { signal } = wanted
    const make = await entryMaker(this.#session, place, state, this.#callbacks.toResult)
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
    return { ...(await appendResult(this.#session, place, make, { output, isError, run })), outcome }
  }

  async #granted(wanted: Wanted): Promise<Grant> {
    try {
      return await this.#starts.grant(wanted)
    } catch (error) {
      if (!(error instanceof NotRun)) throw error
      const { place, state, run } = error.grant
      const make = await entryMaker(this.#session, place, state, this.#callbacks.toResult)
      await appendResult(this.#session, place, make, { output: NOT_RUN, isError: true, run })
      throw error.error
    }
  }
}

/** A function may have thrown any value. */
function errorOf(error: unknown): unknown {
  return error instanceof Error || typeof error === "string" ? error : new Error(String(error))
}
