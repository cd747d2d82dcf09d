/** Checks of the arguments of this package's functions: a wrong one is `invalid`, and the sentence says what to pass. Pure. */
import { SessionError } from "@sessions/core"
import { checkOptions } from "@sessions/core/storage"
import { type Fields, fieldsOf, isObject, stringOf } from "@sessions/formats/messages/values"
import type { AnswerKeeper, RequestOptions, StreamOptions } from "./types.ts"

/** Throws for a wrong value of the option `name` of the function `call`. */
export type Check = (value: unknown, call: string, name: string) => void

/** The checks of the options `O`, of which the compiler requires each. */
export type Checks<O> = { readonly [Name in keyof O]-?: Check }

/* @__NO_SIDE_EFFECTS__ */
export function kind(says: string, isRight: (value: unknown) => boolean): Check {
  return (value, call, name) => {
    if (!isRight(value)) throw invalidError(`${call}: \`${name}\` must be ${says}, not ${seen(value)}.`)
  }
}

/* @__NO_SIDE_EFFECTS__ */
export function oneOf(...values: readonly string[]): Check {
  return kind(values.map((value) => `"${value}"`).join(" or "), (value) => values.includes(value as string))
}

/** An object with options of its own, of which `needed` must be there. */
/* @__NO_SIDE_EFFECTS__ */
export function optionsOf<O>(checks: Checks<O>, needed: readonly (keyof O & string)[] = []): Check {
  return (value, call, name) => checkCall(`${call}, ${name}`, value, checks, needed)
}

export const TEXT: Check = kind("a string", (value) => typeof value === "string")
export const TEXTS: Check = kind(
  "a list of strings",
  (value) => Array.isArray(value) && value.every((one) => typeof one === "string"),
)
export const BOOLEAN: Check = kind("true or false", (value) => typeof value === "boolean")
export const COUNT: Check = kind("a number from 0", (value) => typeof value === "number" && value >= 0)
export const TIME: Check = kind("a number of milliseconds since 1970", (value) => Number.isFinite(value))
export const FUNCTION: Check = kind("a function", (value) => typeof value === "function")

export const REQUEST: Checks<RequestOptions> = { system: TEXT }
export const STREAM: Checks<StreamOptions<never>> = {
  onEvent: FUNCTION,
  signal: kind("an AbortSignal", (value) => hasMethod(value, "addEventListener")),
  keep: kind("what `keepAnswers` returns", (value) => hasMethod(value, "begin" satisfies keyof AnswerKeeper)),
}

/** Refuses a misspelt option, with the nearest name, and a wrong value; `undefined` is no value. */
export function checkCall<O>(
  call: string,
  options: unknown,
  checks: Checks<O>,
  needed: readonly (keyof O & string)[] = [],
): void {
  try {
    checkOptions<object>(call, options as object, checks)
  } catch (error) {
    throw invalidError((error as Error).message)
  }
  for (const name in checks) {
    const value = (options as Fields)[name]
    if (value !== undefined || needed.includes(name)) checks[name](value, call, name)
  }
}

/** Refuses a wrong argument. `takes`: what the function takes, in words. */
export function checkArgument(call: string, isRight: boolean, takes: string, given: unknown): void {
  if (!isRight) throw invalidError(`${call} takes ${takes}, not ${seen(given)}.`)
}

const ROLES: readonly unknown[] = ["user", "assistant", "toolResult", "system"]

export function checkContext(call: string, context: unknown): void {
  const { messages, systemPromptOverride: prompt } = fieldsOf(context)
  const way = `\`${call}(await session.context())\``
  checkArgument(call, Array.isArray(messages), `a context, as in ${way}`, context)
  for (const [i, item] of (messages as readonly unknown[]).entries()) {
    const { role, content } = fieldsOf(fieldsOf(item)["message"])
    if (ROLES.includes(role) && isBlocks(content)) continue
    throw invalidError(
      `${call} takes messages of the form of a context, as in ${way}; \`messages[${i}]\` is ${seen(item)}.`,
    )
  }
  if (prompt !== undefined) TEXT(prompt, call, "systemPromptOverride")
}

/** A call, of which the result has the id and the name, and its output, which is there. */
export function checkResultOf(name: string, call: unknown, output: unknown): void {
  const { id, name: tool } = fieldsOf(call)
  const isCall = typeof id === "string" && typeof tool === "string"
  checkArgument(name, isCall, "a call first, one of `toolCalls(answer)`, with its `id` and `name`", call)
  checkArgument(name, !hasMethod(output, "then"), `the output of ${String(tool)}`, output)
}

export function checkAppendable(call: string, session: unknown): void {
  checkArgument(call, hasMethod(session, "append"), "an open session first, or that of a turn", session)
}

/** An array is no stream for the compiler, but `for await` takes it. */
export function checkStream(call: string, stream: unknown): void {
  const isRight = isStream(stream) || Array.isArray(stream)
  checkArgument(call, isRight, "the stream of an answer second, as the client gives it", stream)
}

/** Any object may be an event: providers add fields and types. */
export function checkEvent(event: unknown): void {
  if (isObject(event) && !ArrayBuffer.isView(event)) return
  throw invalidError(`An event of a stream must be an object, as the client gives it, not ${seen(event)}.`)
}

export function isBlocks(value: unknown): value is readonly Fields[] {
  return Array.isArray(value) && value.every(isObject)
}

export function hasMethod(value: unknown, name: string): boolean {
  return typeof value === "object" && value !== null && typeof (value as Fields)[name] === "function"
}

function isStream(value: unknown): boolean {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value
}

function invalidError(message: string): SessionError {
  return new SessionError("invalid", message)
}

/** A wrong value in words, and what to do if that is known. */
function seen(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(shortened(value, 40))
  if (typeof value === "function") return "a function"
  if (Array.isArray(value)) return "a list"
  if (!isObject(value)) return String(value)
  if (hasMethod(value, "then")) return "a promise; await it first"
  if (hasMethod(value, "append")) return "a session"
  if (isStream(value)) return "a stream"
  const error = errorIn(value)
  if (error !== undefined) return `an error, which is no answer: ${shortened(error, 200)}`
  const names = Object.keys(value).slice(0, 8)
  return names.length === 0 ? "an object without fields" : `an object with the fields ${names.join(", ")}`
}

/** What an error says, of a client or in the place of a provider's answer: `{ type: "error", error: { type, message } }`, `{ error: { message } }`. */
function errorIn(value: Fields): string | undefined {
  if (value instanceof Error) return value.message
  const { type, error } = value
  const { type: errorType, message } = fieldsOf(error)
  const texts = [error, errorType, message].flatMap((one) => stringOf(one) ?? [])
  if (texts.length > 0) return texts.join(": ")
  return type === "error" ? (stringOf(value["message"]) ?? type) : undefined
}

function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most)}…` : text
}
