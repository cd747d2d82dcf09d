/** Checks the arguments of the public calls: the names of their options, and what the calls would use without checking it. */
import { optionsOfCompaction } from "../compaction/settings/settings.ts"
import type {
  AutoCompactOptions,
  BranchSummaryOptions,
  CompactionSettings,
  CompactOptions,
} from "../compaction/types.ts"
import type { BlobLimits } from "../format/blobs.ts"
import { SessionError } from "../format/errors.ts"
import type { Extensions } from "../format/names.ts"
import type { ReadWindow } from "../log/read-backwards.ts"
import { checkStorage } from "../storage/checks.ts"
import type { CallOptions } from "../storage/contract.ts"
import { nearestName, type OptionNames, optionsProblem, shown } from "../storage/options.ts"
import { checkIsSignal } from "../storage/signals.ts"
import type { AppendOptions, EntryOptions } from "../write/types.ts"
import type { SessionEvents } from "./events.ts"
import type { Hooks } from "./hooks.ts"
import type {
  ContextOptions,
  CopyOptions,
  CreateOptions,
  ExportOptions,
  ImportOptions,
  ListOptions,
  MessagesOptions,
  OpenOptions,
  PathOptions,
  Session,
  Sessions,
  SessionsOptions,
} from "./types.ts"

const CALL: OptionNames<CallOptions> = { signal: 1 }
const APPEND: OptionNames<EntryOptions> = { ...CALL, onConflict: 1 }
const MESSAGES: OptionNames<MessagesOptions> = { ...CALL, before: 1, limit: 1 }
const SUMMARY: OptionNames<BranchSummaryOptions> = { ...optionsOfCompaction, instructions: 1, budget: 1 }
const AUTO_COMPACT: OptionNames<AutoCompactOptions> = { ...CALL, ...optionsOfCompaction, instructions: 1 }

/** The options of the methods of a session. */
interface SessionOptions {
  append: AppendOptions
  turn: CallOptions
  context: ContextOptions
  messages: MessagesOptions
  path: PathOptions
  entries: CallOptions
  entry: CallOptions
  tree: CallOptions
  branches: CallOptions
  branch: Options<Session["branch"], 1>
  settle: EntryOptions
  resetLeaf: EntryOptions
  branchWithSummary: Options<Session["branchWithSummary"], 2>
  label: EntryOptions
  tombstone: EntryOptions
  edit: EntryOptions
  title: Options<Session["title"], 1>
  metadata: EntryOptions
  compact: CompactOptions
  autoCompact: AutoCompactOptions
  info: CallOptions
  parts: CallOptions
  refresh: CallOptions
  follow: CallOptions
  flush: CallOptions
}

export type SessionCall = keyof SessionOptions

type Options<Method extends (...args: never) => unknown, Index extends number> = NonNullable<Parameters<Method>[Index]>

const SESSION: { readonly [Call in SessionCall]: OptionNames<SessionOptions[Call]> } = {
  append: { ...APPEND, at: 1, leaf: 1, repeats: 1 },
  turn: CALL,
  context: { ...CALL, window: 1, repair: 1, prune: 1, summaryAs: 1 },
  messages: MESSAGES,
  path: { ...MESSAGES, types: 1 },
  entries: CALL,
  entry: CALL,
  tree: CALL,
  branches: CALL,
  branch: { ...APPEND, settles: 1 },
  settle: APPEND,
  resetLeaf: APPEND,
  branchWithSummary: { ...APPEND, details: 1, fromExtension: 1, usage: 1 },
  label: APPEND,
  tombstone: APPEND,
  edit: APPEND,
  title: { ...APPEND, source: 1 },
  metadata: APPEND,
  compact: { ...AUTO_COMPACT, reason: 1 },
  autoCompact: AUTO_COMPACT,
  info: CALL,
  parts: CALL,
  refresh: CALL,
  follow: CALL,
  flush: CALL,
}

const OPEN: OptionNames<OpenOptions> = { ...CALL, compaction: 1 }
const OPEN_OR_CREATE: OptionNames<Omit<CreateOptions, "id">> = {
  ...OPEN,
  cwd: 1,
  title: 1,
  source: 1,
  kind: 1,
  cronJobId: 1,
  systemPromptOverride: 1,
  parentSession: 1,
  metadata: 1,
  entries: 1,
}
const COPY: OptionNames<CopyOptions> = { ...CALL, onProgress: 1 }
const LIST: OptionNames<ListOptions> = {
  ...CALL,
  limit: 1,
  cursor: 1,
  idPrefix: 1,
  kind: 1,
  metadata: 1,
  cwd: 1,
  source: 1,
  parent: 1,
}
const IMPORT: OptionNames<ImportOptions> = { ...COPY, id: 1, from: 1, beside: 1, blobs: 1 }
const EXPORT: OptionNames<ExportOptions> = { ...CALL, format: 1, selfContained: 1, backup: 1 }
const SESSIONS: OptionNames<SessionsOptions> = {
  storage: 1,
  hooks: 1,
  persistAfter: 1,
  onConflict: 1,
  migrateOnWrite: 1,
  ulidsOnly: 1,
  maxSessionBytes: 1,
  blobs: 1,
  oversize: 1,
  extensions: 1,
  compaction: 1,
  readWindow: 1,
  now: 1,
  onHookFailed: 1,
}
const BLOBS: OptionNames<BlobLimits> = { textUnits: 1, imageChars: 1 }
const WINDOW: OptionNames<ReadWindow> = { first: 1, largest: 1 }
const EXTENSIONS: OptionNames<Extensions> = { entries: 1, roles: 1, blocks: 1 }
const HOOKS: OptionNames<Hooks> = { append: 1, save: 1, create: 1, delete: 1, compact: 1 }
const COMPACT_HOOKS: OptionNames<NonNullable<Hooks["compact"]>> = { before: 1, after: 1 }
const EVENTS: OptionNames<SessionEvents> = {
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

const POLICIES = ["branch", "retry-turn", "fail", "rebase"]
const SOURCES = ["interactive", "cron"]
const STYLES = ["user", "pair"]

/** Throws `invalid` for a wrong option of a method of a session. */
export function checkSessionCall(call: SessionCall, o: object): void {
  checkCall(call, o, SESSION[call])
  const { onConflict, repair, summaryAs, source, before } = o as Fields
  if (before !== undefined && typeof before !== "string")
    throw invalid(`\`before\` must be the id of an entry or the \`before\` of a page, not ${shown(before)}.`)
  checkOneOf("onConflict", onConflict, POLICIES)
  checkOneOf("repair", repair, ["synthesize", "drop", "none"])
  checkOneOf("summaryAs", summaryAs, STYLES)
  if (call === "title") checkOneOf("source", source, ["user", "auto"])
}

/** Throws `invalid` for a wrong range of `entries`. */
export function checkRange<R extends { readonly from?: number; readonly to?: number }>(range: R): R {
  checkNames("entries", range, { from: 1, to: 1 })
  checkNumbers("entries", range, 0)
  return range
}

/** Throws `invalid` for wrong options of the summary of a branch. */
export function checkSummaryOptions(o: object): void {
  checkNames("branchWithSummary", o, SUMMARY)
}

export function checkListener(event: unknown, listener: unknown): void {
  if (typeof event !== "string" || !Object.hasOwn(EVENTS, event)) {
    const names = Object.keys(EVENTS)
    const nearest = typeof event === "string" ? nearestName(event, names) : undefined
    const hint = nearest === undefined ? `The events are ${names.join(", ")}.` : `Did you mean "${nearest}"?`
    throw invalid(`A session has no event ${shown(event)}. ${hint}`)
  }
  checkFunction("The listener of an event", listener)
}

export function checkFunction(what: string, value: unknown): void {
  if (typeof value !== "function") throw invalid(`${what} must be a function, not ${shown(value)}.`)
}

/** Throws `invalid` for wrong options of `createSessions`. */
export function checkSessionsOptions(o: SessionsOptions): void {
  const call = "createSessions"
  checkNames(call, o, SESSIONS)
  checkStorage(call, o.storage)
  checkNames(call, o.blobs ?? {}, BLOBS, "blobs.")
  checkNumbers("blobs", o.blobs, 0)
  checkNames(call, o.readWindow ?? {}, WINDOW, "readWindow.")
  checkNumbers("readWindow", o.readWindow, 1)
  checkNumbers(call, { maxSessionBytes: o.maxSessionBytes }, 1)
  checkNames(call, o.extensions ?? {}, EXTENSIONS, "extensions.")
  for (const [name, list] of Object.entries(o.extensions ?? {})) {
    if (list !== undefined && !(Array.isArray(list) && list.every((one) => typeof one === "string" && one !== "")))
      throw invalid(`\`extensions.${name}\` must be an array of names.`)
  }
  for (const hooks of Array.isArray(o.hooks) ? (o.hooks as readonly Hooks[]) : [(o.hooks as Hooks | undefined) ?? {}]) {
    checkHooks(hooks)
  }
  checkCompaction(call, o)
  checkOneOf("persistAfter", o.persistAfter, ["create", "user", "assistant"])
  checkOneOf("onConflict", o.onConflict, POLICIES.slice(0, 3))
  checkOneOf("oversize", o.oversize, ["blobs", "truncate"])
  for (const name of ["migrateOnWrite", "ulidsOnly"] as const) {
    if (o[name] !== undefined && typeof o[name] !== "boolean")
      throw invalid(`\`${name}\` must be true or false, not ${shown(o[name])}.`)
  }
  for (const name of ["now", "onHookFailed"] as const) if (o[name] !== undefined) checkFunction(`\`${name}\``, o[name])
}

function checkHooks(hooks: Hooks): void {
  checkNames("createSessions", hooks, HOOKS, "hooks.")
  const { compact = {}, ...others } = hooks
  checkNames("createSessions", compact, COMPACT_HOOKS, "hooks.compact.")
  for (const [name, hook] of Object.entries({ ...others, ...compact }))
    if (hook !== undefined) checkFunction(`The hook \`${name}\``, hook)
}

/** The same sessions with checks of the arguments. Inside, the methods pass each other options that their callers may not give. */
export function withCheckedArguments(sessions: Sessions): Sessions {
  const { pointers } = sessions
  return {
    ...sessions,
    async create(o = {}) {
      checkOpening("create", o, { ...OPEN_OR_CREATE, id: 1 })
      return sessions.create(o)
    },
    async open(id, o = {}) {
      checkOpening("open", o, OPEN)
      return sessions.open(id, o)
    },
    async openOrCreate(id, o = {}) {
      checkOpening("openOrCreate", o, OPEN_OR_CREATE)
      return sessions.openOrCreate(id, o)
    },
    async info(id, o = {}) {
      checkCall("info", o, CALL)
      return sessions.info(id, o)
    },
    async list(o = {}) {
      checkCall("list", o, LIST)
      checkOneOf("source", o.source, SOURCES)
      return sessions.list(o)
    },
    async rename(id, title, o = {}) {
      checkCall("rename", o, CALL)
      return sessions.rename(id, title, o)
    },
    async move(id, o) {
      checkCall("move", o, { ...CALL, cwd: 1 })
      return sessions.move(id, o)
    },
    async delete(id, o = {}) {
      checkCall("delete", o, CALL)
      return sessions.delete(id, o)
    },
    async fork(id, o = {}) {
      checkOpening("fork", o, { ...OPEN, at: 1, id: 1 })
      return sessions.fork(id, o)
    },
    async continueRecent(o) {
      checkOpening("continueRecent", o, { ...OPEN, cwd: 1, pointer: 1 })
      if (typeof o.cwd !== "string") throw invalid("continueRecent needs the `cwd` of the session, a string.")
      return sessions.continueRecent(o)
    },
    pointers: {
      async set(name, pointer, o = {}) {
        checkCall("pointers.set", o, CALL)
        checkNames("pointers.set", pointer, { session: 1, cwd: 1 }, "pointer.")
        return pointers.set(name, pointer, o)
      },
      async get(name, o = {}) {
        checkCall("pointers.get", o, CALL)
        return pointers.get(name, o)
      },
      async delete(name, o = {}) {
        checkCall("pointers.delete", o, CALL)
        return pointers.delete(name, o)
      },
    },
    async import(source, o = {}) {
      checkCall("import", o, IMPORT)
      checkProgress(o)
      if (typeof o.from === "string") checkOneOf("from", o.from, ["auto", "sessions", "pi", "oh-my-pi"])
      return sessions.import(source, o)
    },
    async *export(id, o = {}) {
      checkCall("export", o, EXPORT)
      checkOneOf("format", o.format, ["jsonl", "markdown"])
      yield* sessions.export(id, o)
    },
    async copy(id, to, o = {}) {
      checkStorage("copy", to)
      checkCall("copy", o, COPY)
      checkProgress(o)
      return sessions.copy(id, to, o)
    },
    async migrate(id, o = {}) {
      checkCall("migrate", o, CALL)
      return sessions.migrate(id, o)
    },
    async verify(id, o = {}) {
      checkCall("verify", o, CALL)
      return sessions.verify(id, o)
    },
  }
}

function checkOpening(call: string, o: OpenOptions, names: object): void {
  checkCall(call, o, names)
  checkCompaction(call, o)
}

function checkCompaction(call: string, { compaction = {} }: { readonly compaction?: CompactionSettings }): void {
  checkNames(call, compaction, optionsOfCompaction, "compaction.")
}

function checkProgress({ onProgress }: CopyOptions): void {
  if (onProgress !== undefined) checkFunction("`onProgress`", onProgress)
}

function checkCall(call: string, o: CallOptions, names: object): void {
  checkNames(call, o, names)
  checkIsSignal(o.signal)
}

function checkNames(call: string, o: object, names: object, within = ""): void {
  const problem = optionsProblem(call, o, names, within)
  if (problem !== undefined) throw invalid(problem)
}

function checkOneOf(name: string, value: unknown, values: readonly string[]): void {
  if (value === undefined || values.includes(value as string)) return
  const all = values.map((one) => JSON.stringify(one)).join(" or ")
  throw invalid(`\`${name}\` must be ${all}, not ${shown(value)}.`)
}

function checkNumbers(what: string, o: object = {}, least: number): void {
  for (const [name, value] of Object.entries(o)) {
    if (value !== undefined && !(typeof value === "number" && value >= least))
      throw invalid(`\`${name}\` of ${what} must be a number from ${least}, not ${shown(value)}.`)
  }
}

function invalid(message: string): SessionError {
  return new SessionError("invalid", message)
}

type Fields = Readonly<Record<string, unknown>>
