/** `createToolCalls`: runs the calls of a session, and settles those that an earlier process has left. */
import { hasCode, type Session } from "@sessions/core"
import type { CallState } from "@sessions/core/context"
import { checkOptions, type OptionNames } from "@sessions/core/storage"
import { invalidTools, noSuchCall, NOT_RUN } from "./errors.ts"
import { type Appended, appendResult, resultOf } from "./results.ts"
import { type Grant, newRun, NotRun, Starts, type Wanted } from "./starts.ts"
import type { CallResult, Execute, ResumedCall, RunOptions, ToolCalls, ToolCallsOptions, ToolKind } from "./types.ts"

/** `session`: one that is open, or that of the running turn. One object serves any number of turns. */
export function createToolCalls(session: Session, options: ToolCallsOptions): ToolCalls {
  checkOptions("createToolCalls", options, OPTIONS)
  const { tools, onUnknown = () => undefined } = options
  const kinds = new Map(Object.entries(tools ?? {}))
  for (const [name, kind] of kinds) if (kind !== "never" && kind !== "safe") throw invalidTools(name, kind)
  const named = (wanted: ToolKind): string[] => [...kinds].flatMap(([name, kind]) => (kind === wanted ? [name] : []))
  return new SessionCalls(session, kinds, onUnknown, {
    type: "tool_policy",
    never: named("never"),
    safe: named("safe"),
  })
}

const OPTIONS: OptionNames<ToolCallsOptions> = { tools: 1, onUnknown: 1 }

class SessionCalls implements ToolCalls {
  readonly record: ToolCalls["record"]
  readonly #session: Session
  readonly #kinds: ReadonlyMap<string, ToolKind>
  readonly #onUnknown: NonNullable<ToolCallsOptions["onUnknown"]>
  readonly #starts: Starts

  constructor(
    session: Session,
    kinds: ReadonlyMap<string, ToolKind>,
    onUnknown: NonNullable<ToolCallsOptions["onUnknown"]>,
    record: ToolCalls["record"],
  ) {
    this.#session = session
    this.#kinds = kinds
    this.#onUnknown = onUnknown
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
    const execute = Object.hasOwn(executors, toolName) ? executors[toolName] : undefined
    const wanted = { callId, target, call: call.call, signal }
    // A tool that the turn could repeat, and this program must not, may have run.
    const isUnknown = state === "unknown" || (state === "repeatable" && this.#kinds.get(toolName) === "never")
    if (!isUnknown) {
      if (execute === undefined) return "left"
      const { outcome } = await this.#run(wanted, execute)
      return outcome === undefined ? "done" : "ran"
    }
    const answer = await this.#onUnknown(call, signal === undefined ? {} : { signal })
    if (answer === undefined) return "left"
    if (answer === "not done") {
      if (execute === undefined || start === undefined) return "left"
      const { outcome } = await this.#run({ ...wanted, after: start }, execute)
      return outcome === undefined ? "done" : "ran"
    }
    const place = { target, call: call.call }
    const now = await this.#session.callStates()
    const newest = now?.entryId === target ? now.calls.find((one) => one.call === call.call) : undefined
    if (newest?.state === "done") return "done"
    if (newest?.start !== start) return "held"
    const { output, isError = false } = answer
    await appendResult(this.#session, place, call, { output, isError, run: newRun() })
    return "settled"
  }

  async #run(wanted: Wanted, execute: Execute): Promise<CallResult> {
    const grant = await this.#granted(wanted)
    const { place, state, key, attempt } = grant
    if (grant.isDone) {
      const done = await resultOf(this.#session, place)
      if (done === undefined) throw noSuchCall(this.#session.id, state.callId)
      return done
    }
    const { signal } = wanted
    let outcome: NonNullable<CallResult["outcome"]>
    try {
      outcome = { output: await execute({ key, attempt, arguments: state.arguments, signal }) }
    } catch (error) {
      // Nobody knows how far it has come.
      if (signal?.aborted === true) throw error
      outcome = { error }
    }
    const appended =
      "error" in outcome
        ? await this.#append(grant, errorOf(outcome.error), true)
        : await this.#append(grant, outcome.output, false)
    return { ...appended, outcome }
  }

  async #granted(wanted: Wanted): Promise<Grant> {
    try {
      return await this.#starts.grant(wanted)
    } catch (error) {
      if (!(error instanceof NotRun)) throw error
      await this.#append(error.grant, NOT_RUN, true)
      throw error.error
    }
  }

  #append({ place, state, run }: Grant, output: unknown, isError: boolean): Promise<Appended> {
    return appendResult(this.#session, place, state, { output, isError, run })
  }
}

/** What a function has thrown may be any value. */
function errorOf(error: unknown): unknown {
  return error instanceof Error || typeof error === "string" ? error : new Error(String(error))
}
