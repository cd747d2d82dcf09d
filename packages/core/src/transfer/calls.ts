/**
 * The calls of a repository on whole sessions, its pointers and `continueRecent`, loaded when the first of them is made: checks options and
 * ids, and calls the modules.
 */
import { checkCallOptions, type OptionChecks } from "../format/options.ts"
import type { Header } from "../format/header.ts"
import { arrayOf, type Check, isAnything, isBoolean, isFunction, isObject, isString, oneOf } from "../format/shape.ts"
import { CALL, type Calls, OPEN, type Options, withChecks } from "../session/arguments.ts"
import { continueRecent } from "../session/continue-recent.ts"
import type { ReadableSession } from "../session/live.ts"
import { createPointers } from "../session/pointers.ts"
import type { LoadedCalls, OpenOptions, Pointers, Sessions, TransferCalls } from "../session/repository-types.ts"
import type { CopyOptions, ExportOptions, ImportOptions, MergeResult } from "../session/transfer-types.ts"
import type { Session } from "../session/types.ts"
import { checkStorage } from "../storage/checks.ts"
import { tagOf } from "../storage/realm.ts"
import { signalOf } from "../storage/signals.ts"
import { collectStorage } from "./collect.ts"
import { copySession } from "./copy.ts"
import { deleteNow } from "./delete-now.ts"
import { exportSession } from "./export.ts"
import { forkSession } from "./fork.ts"
import { type ImportSettings, importSession } from "./import.ts"
import { mergeSessions } from "./merge.ts"
import { migrateStored } from "./migrate.ts"
import { type PruningRepository, pruneSessions } from "./prune.ts"
import { verifySession } from "./verify.ts"

interface LockedSession extends ReadableSession {
  readonly turns: { run<T>(fn: () => Promise<T>, signal?: AbortSignal): Promise<T> }
}

/** The repository, as these calls see it. It is open when one of them is made. */
export interface Repository extends Pick<PruningRepository, "infoOf"> {
  readonly sessions: Sessions
  readonly options: ImportSettings & { readonly newId: () => string }
  /** Throws `invalid` for a wrong id, and `closed`. */
  readonly check: (id: string) => void
  /** The session of an id if it is open or opening. */
  readonly find: (id: string) => Promise<LockedSession> | undefined
  /** Opens the session for one use of it. */
  readonly use: (
    id: string,
    o: OpenOptions,
    act: (opened: { readonly live: ReadableSession; readonly handle: Session }) => Promise<unknown>,
  ) => Promise<void>
  /** Writes the pending appends of an open session before its stored log is read. */
  readonly flush: (id: string) => Promise<void>
  readonly created: (id: string, header: Header) => void
  readonly deleted: (id: string) => void
}

const isFormat: Check = (value) => (isObject(value) ? undefined : oneOf("auto", "sessions", "pi", "oh-my-pi")(value))
const isHashes: Check = (value) => {
  const hashes = tagOf(value) === "Set" ? [...(value as Set<unknown>)] : value
  const isValid = value === "any" || arrayOf(isString)(hashes) === undefined
  return isValid ? undefined : ' must be "any", or an array or a Set of hashes.'
}
const COPY: OptionChecks<CopyOptions> = { ...CALL, onProgress: isFunction }
const IMPORT: OptionChecks<ImportOptions> = {
  ...COPY,
  id: isAnything,
  from: isFormat,
  beside: isAnything,
  blobs: isHashes,
}
const EXPORT: OptionChecks<ExportOptions> = {
  ...CALL,
  format: oneOf("jsonl", "markdown"),
  selfContained: isAnything,
  backup: isAnything,
}
const FORK: OptionChecks<Options<Sessions["fork"], 1>> = { ...OPEN, at: isString, id: isAnything }
const CONTINUE: OptionChecks<Options<Sessions["continueRecent"], 0>> = {
  ...OPEN,
  cwd: isAnything,
  pointer: isAnything,
  create: isBoolean,
}

/** `prune`, `collect` and `export` check theirs where they are. */
const TABLES: Omit<Calls<TransferCalls>, "prune" | "collect"> = {
  fork: [1, FORK],
  continueRecent: [0, CONTINUE],
  import: [1, IMPORT],
  copy: [2, COPY],
  merge: [2, CALL],
  migrate: [1, CALL],
  verify: [1, CALL],
}
const POINTERS: Calls<Pointers> = { set: [2, CALL], get: [1, CALL], delete: [1, CALL] }

export function transferCalls(repository: Repository): LoadedCalls {
  const { sessions, options, check, find, use, flush, infoOf, created, deleted } = repository
  const { storage } = sessions
  const calls: LoadedCalls = {
    async fork(id, o = {}) {
      const forkId = o.id ?? options.newId()
      check(forkId)
      await use(id, o, ({ live, handle }) => forkSession(live, handle, forkId, options, o))
      const fork = await sessions.open(forkId, o)
      created(forkId, fork.header)
      return fork
    },

    continueRecent: (o) => continueRecent(sessions, o),

    pointers: withChecks(createPointers(storage), POINTERS, "pointers."),

    async import(source, o = {}) {
      const id = o.id ?? options.newId()
      check(id)
      const { result, header } = await importSession(storage, source, id, options, o)
      created(id, header)
      return result
    },

    async *export(id, o = {}) {
      checkCallOptions("export", o, EXPORT)
      check(id)
      await flush(id)
      yield* exportSession(storage, id, o)
    },

    async copy(id, to, o = {}) {
      checkStorage("copy", to)
      check(id)
      await flush(id)
      return copySession(storage, id, to, { ...o, now: options.now })
    },

    async merge(id, other, o = {}) {
      checkStorage("merge", other)
      check(id)
      const merge = (): Promise<MergeResult> => mergeSessions(storage, id, other, { ...options, ...signalOf(o) })
      const live = await find(id)?.catch(() => undefined)
      if (live === undefined) return merge()
      return live.turns.run(async () => {
        await live.drain()
        return merge()
      }, o.signal)
    },

    async migrate(id, o = {}) {
      check(id)
      return migrateStored(storage, id, { ...o, blobs: options.blobs, now: options.now })
    },

    async delete(id, o = {}) {
      // Pending appends are written before the delete, so that none fails on a deleted log.
      await flush(id).catch(() => undefined)
      return deleteNow(storage, id, () => deleted(id), o)
    },

    prune: (o) =>
      pruneSessions(storage, { isOpen: (id) => find(id) !== undefined, forget: deleted, infoOf, now: options.now }, o),

    collect: (o) => collectStorage(storage, o),

    async verify(id, o = {}) {
      check(id)
      await flush(id)
      return verifySession(storage, id, o)
    },
  }
  return { ...calls, ...withChecks(calls, TABLES) }
}
