/** Checks what the functions of this package are given, before anything is started or stored. */
import { type Session, SessionError } from "@sessions/core"
import { checkOptions, type OptionNames } from "@sessions/core/storage"
import type { Wanted } from "./starts.ts"
import type { RunOptions, ToolCallsOptions, ToolKind } from "./types.ts"

const OPTIONS: OptionNames<ToolCallsOptions> = { tools: 1, onUnknown: 1, toResult: 1 }
const RUN_OPTIONS: OptionNames<RunOptions> = { signal: 1 }

/** The kinds of the tools by their names. */
export function checkedTools(session: Session, options: ToolCallsOptions): ReadonlyMap<string, ToolKind> {
  if (!isObject(session) || typeof session["callStates"] !== "function")
    throw invalidError("createToolCalls takes an open session first, or that of the running turn", session)
  checkOptions("createToolCalls", options, OPTIONS)
  const { tools, onUnknown, toResult } = options
  if (!isObject(tools))
    throw invalidError('createToolCalls needs `tools`, such as { charge: "never", look: "safe" }', tools)
  for (const [name, kind] of Object.entries(tools)) {
    if (kind === "never" || kind === "safe") continue
    throw invalidError(`The tool ${JSON.stringify(name)} must be "never" or "safe"`, kind)
  }
  if (onUnknown !== undefined) checkFunction("`onUnknown` must be a function", onUnknown)
  if (toResult !== undefined) checkFunction("`toResult` must be a function", toResult)
  return new Map(Object.entries(tools))
}

/** The id of a call, and its message and its place there where the caller knows them. */
export function checkedCall(call: unknown): Pick<Wanted, "callId" | "call" | "target"> {
  const { callId, id, call: place, entryId: target } = isObject(call) ? call : {}
  if (typeof callId === "string")
    return { callId, call: place as number | undefined, target: target as string | undefined }
  if (typeof id === "string") return { callId: id }
  throw invalidError("run takes a call of the answer first: its block, or what `callStates()` has of it", call)
}

export function checkExecute(execute: unknown): void {
  checkFunction("run takes the function that does the call second", execute)
}

export function checkExecutors(executors: unknown): void {
  if (!isObject(executors)) throw invalidError("resume takes an object with a function for each tool", executors)
  for (const [name, execute] of Object.entries(executors))
    if (execute !== undefined) checkFunction(`The executor of ${JSON.stringify(name)} must be a function`, execute)
}

export function checkRunOptions(call: string, o: RunOptions): void {
  checkOptions(call, o, RUN_OPTIONS)
  const signal: unknown = o.signal
  if (signal !== undefined && !(isObject(signal) && typeof signal["addEventListener"] === "function"))
    throw invalidError("`signal` must be an AbortSignal", signal)
}

/** The arguments of a function that wraps the tools of an SDK. `isList`: the SDK has them in an array, else by their names. */
export function checkWrap(call: string, calls: unknown, tools: unknown, isList = false): void {
  if (!isObject(calls) || typeof calls["run"] !== "function")
    throw invalidError(`${call} takes what createToolCalls has returned as its \`calls\``, calls)
  if (isList ? !Array.isArray(tools) : !isObject(tools))
    throw invalidError(`${call} takes ${isList ? "an array" : "an object"} of the SDK's tools as its \`tools\``, tools)
}

function checkFunction(rule: string, value: unknown): void {
  if (typeof value !== "function") throw invalidError(rule, value)
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

function invalidError(rule: string, value: unknown): SessionError {
  return new SessionError("invalid", `${rule}, not ${shown(value)}. Nothing was started.`)
}

function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, 40))
  if (Array.isArray(value)) return "an array"
  return value === null || (typeof value !== "object" && typeof value !== "function") ? String(value) : typeof value
}
