/** Checks the arguments of the public calls by tables: the options of each call, and what it would use without checking it. */
import type { BlobLimits } from "../format/blobs.ts"
import { SessionError } from "../format/errors.ts"
import { GIVEN_FIELDS } from "../format/header.ts"
import type { Extensions } from "../format/names.ts"
import { checkCallOptions, type OptionChecks, type OptionTable } from "../format/options.ts"
import {
  arrayOf,
  type Check,
  isAboveZero,
  isAnything,
  isBoolean,
  isFunction,
  isNonEmpty,
  isObject,
  isString,
  mapOf,
  numberFrom,
  oneOf,
  wholeFrom,
} from "../format/shape.ts"
import type { ReadWindow } from "../log/read-backwards.ts"
import { checkStorage } from "../storage/checks.ts"
import type { CallOptions } from "../storage/contract.ts"
import { didYouMean, shown } from "../storage/options.ts"
import type { AppendOptions, EntryOptions } from "../write/types.ts"
import type { SessionEvents } from "./events.ts"
import type { Hooks } from "./hooks.ts"
import type { ContextOptions, MessagesOptions, PathOptions, Session, TurnOptions } from "./types.ts"
import type {
  CreateOptions,
  DraftOptions,
  ListOptions,
  OpenOptions,
  Sessions,
  SessionsOptions,
} from "./repository-types.ts"

const isCompaction: Check = (value) =>
  isObject(value) && typeof value["ifDue"] === "function"
    ? undefined
    : " must be made by automaticCompaction() of @sessions/core/compaction."
const isShortening: Check = (value) =>
  value === false || (isObject(value) && typeof value["prune"] === "function")
    ? undefined
    : " must be made by shorten() of @sessions/core/compaction, or false."
const isReader: Check = (value) =>
  isObject(value) && typeof value["reads"] === "function"
    ? undefined
    : " must be a reader, such as piLogs of @sessions/core/migrations."
const isSignal: Check = (value) =>
  typeof (value as AbortSignal | null)?.addEventListener === "function" ? undefined : " must be an AbortSignal."
const isCursor: Check = (value) =>
  typeof value === "string" ? undefined : " must be the id of an entry or the `before` of a page."
const isTarget: Check = (value) =>
  value === null || typeof value === "string"
    ? undefined
    : " must be the id of an entry, or null to begin before the first."
const isTypeList: Check = (value) =>
  Array.isArray(value) && value.length > 0 && value.every((type) => typeof type === "string")
    ? undefined
    : ' must be a list of at least one entry type, such as ["message"].'
const isKind: Check = (value) =>
  value === null || isNonEmpty(value) === undefined
    ? undefined
    : " must be a string that is not empty, or null for the sessions without a kind."
/** A wrong filter must not list other sessions than its caller meant. */
const isFilter: Check = (value) => {
  if (!isObject(value)) return " must be an object with the keys and values to look for."
  const missing = Object.keys(value).find((key) => value[key] === undefined)
  return missing === undefined
    ? undefined
    : `[${JSON.stringify(missing)}] must have a value to look for; leave the key out otherwise.`
}

export const CALL: OptionChecks<CallOptions> = { signal: isSignal }
export const ENTRY: OptionChecks<EntryOptions> = {
  ...CALL,
  onConflict: oneOf("branch", "retry-turn", "fail", "rebase"),
}
const APPEND: OptionChecks<AppendOptions> = {
  ...ENTRY,
  at: isTarget,
  leaf: (value) => (isObject(value) ? undefined : " must be an object with further fields of the `leaf` entry."),
  repeats: oneOf("end", "log"),
}
const isSummary: Check = (value) => (isObject(value) ? undefined : " must be an object with the summary as its `text`.")
const RESET: OptionChecks<Options<Session["resetLeaf"], 0>> = { ...ENTRY, summary: isSummary }
const BRANCH: OptionChecks<Options<Session["branch"], 1>> = { ...RESET, settles: isAnything }
const TURN: OptionChecks<TurnOptions> = { ...CALL, lease: isAnything, busy: isAnything }
const TITLE: OptionChecks<Options<Session["title"], 1>> = { ...ENTRY, source: oneOf("user", "auto") }
const CONTEXT: OptionChecks<ContextOptions> = {
  ...CALL,
  window: isAboveZero,
  repair: oneOf("synthesize", "drop", "none"),
  shorten: isShortening,
  summaryAs: oneOf("user", "pair"),
}
const MESSAGES: OptionChecks<MessagesOptions> = { ...CALL, before: isCursor, limit: wholeFrom(1, 1_000) }
const PATH: OptionChecks<PathOptions> = { ...MESSAGES, types: isTypeList }

type Options<Method extends (...args: never) => unknown, Index extends number> = NonNullable<Parameters<Method>[Index]>

/** The methods of a session whose options are checked here, and that of a draft that is not as the session's. */
export type SessionCall = Exclude<MethodOf<Session>, "on" | "close" | symbol> | "draft.append"

type MethodOf<T> = { [Name in keyof T]: T[Name] extends (...args: never) => unknown ? Name : never }[keyof T]

/** The options of those that take more than a signal. */
const SESSION: Readonly<Partial<Record<SessionCall, OptionTable>>> = {
  append: APPEND,
  context: CONTEXT,
  messages: MESSAGES,
  path: PATH,
  branch: BRANCH,
  settle: ENTRY,
  resetLeaf: RESET,
  label: ENTRY,
  tombstone: ENTRY,
  edit: ENTRY,
  title: TITLE,
  metadata: ENTRY,
  turn: TURN,
}

export const OPEN: OptionChecks<OpenOptions> = { ...CALL, compaction: isCompaction }
const OPEN_OR_CREATE: OptionChecks<Omit<CreateOptions, "id">> = {
  ...OPEN,
  ...GIVEN_FIELDS,
  metadata: mapOf(isAnything),
  entries: arrayOf(isAnything),
}
const CREATE: OptionChecks<CreateOptions> = { ...OPEN_OR_CREATE, id: isString }
const DRAFT: OptionChecks<DraftOptions & CreateOptions> = { ...CREATE, until: oneOf("user", "assistant") }
const LIST: OptionChecks<ListOptions> = {
  ...CALL,
  limit: wholeFrom(1, 200),
  cursor: isAnything,
  idPrefix: isString,
  kind: isKind,
  metadata: isFilter,
  cwd: isString,
  source: oneOf("interactive", "cron"),
  parent: isString,
}

/** Calls that return a promise: the position of their options among the arguments, and the table of these. */
type Calls<T> = {
  readonly [Name in keyof T as T[Name] extends (...args: never) => Promise<unknown> ? Name : never]: readonly [
    at: number,
    options: OptionTable,
  ]
}

const REPOSITORY: Omit<Calls<Sessions>, "close" | typeof Symbol.asyncDispose> = {
  create: [0, CREATE],
  draft: [0, DRAFT],
  open: [1, OPEN],
  openOrCreate: [1, OPEN_OR_CREATE],
  info: [1, CALL],
  list: [0, LIST],
  rename: [2, CALL],
  move: [1, { ...CALL, cwd: isAnything }],
  delete: [1, CALL],
}

const BLOBS: OptionChecks<BlobLimits> = { textUnits: numberFrom(0), imageChars: numberFrom(0) }
const WINDOW: OptionChecks<ReadWindow> = { first: numberFrom(1), largest: numberFrom(1) }
const isNames = arrayOf(isNonEmpty, "an array of names")
const EXTENSIONS: OptionChecks<Extensions> = { entries: isNames, roles: isNames, blocks: isNames }
const COMPACT_HOOKS: OptionChecks<NonNullable<Hooks["compact"]>> = { before: isFunction, after: isFunction }
const HOOKS: OptionChecks<Hooks> = {
  append: isFunction,
  save: isFunction,
  create: isFunction,
  merge: isFunction,
  delete: isFunction,
  compact: COMPACT_HOOKS,
}
const SESSIONS: OptionChecks<SessionsOptions> = {
  storage: isAnything,
  hooks: isAnything,
  onConflict: oneOf("branch", "retry-turn", "fail"),
  readers: arrayOf(isReader, "an array of readers, such as [piLogs] of @sessions/core/migrations"),
  migrateOnWrite: isBoolean,
  ulidsOnly: isBoolean,
  maxSessionBytes: numberFrom(1),
  blobs: BLOBS,
  oversize: oneOf("blobs", "truncate"),
  extensions: EXTENSIONS,
  compaction: isCompaction,
  readWindow: WINDOW,
  now: isFunction,
  onHookFailed: isFunction,
}

const EVENTS: { readonly [Name in keyof SessionEvents]: 1 } = {
  appended: 1,
  rolled_back: 1,
  foreign: 1,
  diverged: 1,
  diagnostic: 1,
  hook_failed: 1,
  compact_start: 1,
  compact_complete: 1,
  compact_failed: 1,
}

/** Throws `invalid` for a wrong option of a method of a session. */
export function checkSessionCall(call: SessionCall, o: object, session: string): void {
  checkCallOptions(call, o, SESSION[call] ?? CALL, { session })
}

/** Throws `invalid` for a wrong range of `entries`. */
export function checkRange<R extends { readonly from?: number; readonly to?: number }>(range: R): R {
  checkCallOptions("entries", range, { from: numberFrom(0), to: numberFrom(0) })
  return range
}

export function checkListener(event: unknown, listener: unknown): void {
  const names = Object.keys(EVENTS)
  if (!names.includes(event as string)) {
    const hint = didYouMean(typeof event === "string" ? event : "", names, "The events")
    throw new SessionError("invalid", `A session has no event ${shown(event)}. ${hint}`)
  }
  checkFunction("The listener of an event", listener)
}

export function checkFunction(what: string, value: unknown): void {
  if (typeof value !== "function") throw new SessionError("invalid", `${what} must be a function, not ${shown(value)}.`)
}

/** Throws `invalid` for wrong options of `createSessions`. */
export function checkSessionsOptions(o: SessionsOptions): void {
  const call = "createSessions"
  checkCallOptions(call, o, SESSIONS)
  checkStorage(call, o.storage)
  for (const hooks of [o.hooks ?? []].flat()) checkCallOptions(call, hooks, HOOKS, {}, "hooks.")
}

/** The same sessions with checks of the options. Inside, the methods pass each other options that their callers may not give. */
export function withCheckedArguments(sessions: Sessions): Sessions {
  const checked = Object.entries<readonly [at: number, options: OptionTable]>(REPOSITORY).map(
    ([name, [at, table]]): [string, AnyCall] => {
      const call = sessions[name as keyof Sessions] as AnyCall
      const check: AnyCall = async (...args) => {
        checkCallOptions(name, args[at] === undefined ? {} : (args[at] as object), table)
        return call(...args)
      }
      return [name, check]
    },
  )
  return { ...sessions, ...(Object.fromEntries(checked) as Partial<Sessions>) }
}

type AnyCall = (...args: readonly unknown[]) => Promise<unknown>
