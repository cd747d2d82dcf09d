/** `Sessions`: the repository of the sessions of one storage. Checks arguments and state, runs hooks, and calls the modules. */
import { LATEST_TIME } from "../storage/clock.ts"
import { cloneJson } from "../format/clone.ts"
import { SessionError, hasCode } from "../format/errors.ts"
import type { Header } from "../format/header.ts"
import { createIds, isUlid } from "../format/ids.ts"
import type { NewEntry } from "../format/new-entry.ts"
import { notFoundError } from "../log/load.ts"
import { READ_WINDOW } from "../log/read-backwards.ts"
import { checkSessionId } from "../storage/checks.ts"
import type { CallOptions, SessionStorage } from "../storage/contract.ts"
import { shown } from "../storage/options.ts"
import { signalOf } from "../storage/signals.ts"
import { checkSessionsOptions, withCheckedArguments } from "./arguments.ts"
import { type NewSession, startSession } from "./create.ts"
import { startDraft } from "./draft.ts"
import { seldomFeature } from "./features/load.ts"
import { type Hooks, runHook } from "./hooks.ts"
import { SESSIONS_INSIDE, type SessionsInside } from "./inside.ts"
import { readPage } from "./list.ts"
import type { Lists } from "./list-further.ts"
import { type OpenedSession, OpenSessions } from "./open-sessions.ts"
import { newHeader, openSession } from "./open.ts"
import type { LiveSession, LiveSessionOptions } from "./live-session.ts"
import { infoOfStored } from "./stored-info.ts"
import type { CreateOptions, OpenOptions, Sessions, SessionsOptions } from "./repository-types.ts"
import type { Session } from "./types.ts"
import type { AnyOwnEntry, OwnEntry } from "../format/entry.ts"
import type { AnyMetadata } from "../info/projection.ts"

/** Attempts of `openOrCreate`. A storage that answers `not_found` and `exists` more often than this contradicts itself. */
const MAX_RACES = 10

/** `invalid` for unknown or contradictory options. `Own` and `Metadata`: see {@link Sessions}. */
export function createSessions<Own extends OwnEntry = AnyOwnEntry, Metadata extends object = AnyMetadata>(
  o: SessionsOptions,
): Sessions<Own, Metadata> {
  checkSessionsOptions(o)
  const { storage, compaction } = o
  const options = withDefaults(o)
  const { hooks, newId, onHookFailed } = options
  const open = new OpenSessions(storage, compaction)
  const lists: Lists = {
    storage,
    now: options.now,
    known: new Map(),
    readings: new Map(),
    infoOf: (id, head, o) => infoOfStored(storage, id, head, options, o),
    readPage: (o, toRow) => readPage(storage, options, lists.known, o, toRow),
  }

  const checkOpen = (): void => {
    if (open.closed)
      throw new SessionError(
        "closed",
        "These sessions were closed, and their storage with them. Call createSessions() again, with a new storage.",
      )
  }
  const check = (id: string): void => {
    checkOpen()
    checkSessionId(id)
    if (o.ulidsOnly === true && !isUlid(id))
      throw new SessionError("invalid", `${shown(id)} is not a ULID, which is 26 of 0-9 A-H J K M N P-T V-Z.`)
  }
  const acquire = async (id: string, o: OpenOptions): Promise<OpenedSession> => {
    check(id)
    return open.open(id, (signal) => openSession(storage, id, options, { ...signal, readTips: true }), o)
  }
  /** Opens the session for one use of it. */
  const use = async (id: string, o: OpenOptions, act: (opened: OpenedSession) => Promise<unknown>): Promise<void> => {
    const opened = await acquire(id, o)
    try {
      await act(opened)
    } finally {
      await opened.handle.close()
    }
  }
  /** Writes the pending appends of an open session before its stored log is read. */
  const flush = async (id: string): Promise<void> => {
    await (await open.find(id)?.catch(() => undefined))?.drain()
  }
  const runHooks = (name: "create" | "merge" | "delete", run: (hook: Hooks) => unknown): void => {
    for (const hook of hooks) runHook(name, () => run(hook), onHookFailed)
  }
  const created = (session: string, header: Header): void =>
    runHooks("create", (hook) => hook.create?.({ session, header: cloneJson(header) }))
  const start = (o: CreateOptions): NewSession => {
    const id = o.id ?? newId()
    check(id)
    return startSession(storage, newHeader(o, id, options), options)
  }
  const create = async (made: NewSession, entries: readonly NewEntry[], o: OpenOptions): Promise<Session> => {
    checkOpen()
    const { id, state } = made.live
    const { handle } = await open.create(id, () => made.create(entries, o), o)
    created(id, state.header)
    return handle
  }
  const deleted = (id: string): void => {
    open.remove(id)
    runHooks("delete", (hook) => hook.delete?.({ session: id }))
  }
  const find = (id: string): Promise<LiveSession> | undefined => open.find(id)
  const inside: SessionsInside = {
    options,
    checkOpen,
    check,
    find,
    use,
    flush,
    infoOf: lists.infoOf,
    created,
    merged: (session) => runHooks("merge", (hook) => hook.merge?.({ session })),
    deleted,
  }

  const sessions: Sessions = {
    storage,

    async create(o = {}) {
      return create(start(o), firstEntries(o), o)
    },

    async draft({ signal, until, ...o } = {}) {
      const made = start(o)
      const draft = startDraft(made, (entries, call) => create(made, entries, { ...o, ...call }), until, [
        compaction,
        o.compaction,
      ])
      const first = firstEntries(o)
      if (first.length > 0) await draft.append(first, signal && { signal })
      return draft
    },

    async open(id, o = {}) {
      return (await acquire(id, o)).handle
    },

    async openOrCreate(id, o = {}) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await sessions.open(id, o)
        } catch (error) {
          if (!hasCode(error, "not_found")) throw error
        }
        try {
          return await sessions.create({ ...o, id })
        } catch (error) {
          // Another writer created it between the two calls, so it can be opened; or created and deleted it again and again.
          const raced = hasCode(error, "exists") || hasCode(error, "conflict")
          if (!raced || attempt === MAX_RACES) throw error
        }
      }
    },

    async info(id, o) {
      check(id)
      return infoOfStored(storage, id, undefined, options, o)
    },

    async list(o = {}) {
      checkOpen()
      if (o.cursor === undefined) lists.readings.clear()
      else if (lists.known.size > 2 * (o.limit ?? 50)) {
        // Pages of many sessions are read together. Without the code for it they cost more.
        const feature = await seldomFeature().catch(() => undefined)
        if (feature !== undefined) return feature.listFurther(lists, o)
      }
      return lists.readPage(o, (info) => info)
    },

    async rename(id, title, o = {}) {
      await use(id, o, ({ handle }) => handle.title(title, signalOf(o)))
    },

    async move(id, o) {
      if (typeof o?.cwd !== "string" || o.cwd === "")
        throw new SessionError("invalid", "The cwd of move() must be a non-empty string.", { session: id })
      await use(id, o, ({ handle }) => handle.metadata("cwd", o.cwd, signalOf(o)))
    },

    async delete(id, o = {}) {
      check(id)
      // Pending appends are written before the delete, so that none fails on a deleted log.
      await flush(id).catch(() => undefined)
      const existed = await exists(storage, id, o)
      const result = await storage.delete(id, o)
      if (!existed && result.purged) throw notFoundError(storage, id)
      deleted(id)
      return result
    },

    close: () => open.close(),
    [Symbol.asyncDispose]: () => open.close(),
  }
  const checked = { ...withCheckedArguments(sessions), [SESSIONS_INSIDE]: inside }
  return checked as unknown as Sessions<Own, Metadata>
}

/** The options with all defaults applied. */
function withDefaults(o: SessionsOptions): LiveSessionOptions {
  const now = o.now === undefined ? Date.now : checkedClock(o.now)
  return {
    hooks: [o.hooks ?? []].flat(),
    onHookFailed(hook, error) {
      try {
        o.onHookFailed?.(hook, error)
      } catch {
        // Nobody is left to report it to, and the call that ran the hook has succeeded.
      }
    },
    onConflict: o.onConflict ?? "branch",
    readers: o.readers ?? [],
    migrateOnWrite: o.migrateOnWrite !== false,
    maxSessionBytes: Math.min(o.maxSessionBytes ?? Number.POSITIVE_INFINITY, o.storage.capabilities.maxSessionBytes),
    blobs: o.blobs ?? {},
    oversize: o.oversize ?? "blobs",
    extensions: o.extensions,
    readWindow: o.readWindow ?? READ_WINDOW,
    newId: createIds(now),
    now,
  }
}

/** A time that cannot be written would fail in the middle of a call. */
function checkedClock(now: () => number): () => number {
  return () => {
    const at = now()
    if (Math.abs(at) <= LATEST_TIME) return at
    throw new SessionError("invalid", `\`now\` must return milliseconds since 1970, not ${shown(at)}.`)
  }
}

/** The entries that a new session is created with. `append` checks each of them. */
function firstEntries({ metadata = {}, entries = [] }: CreateOptions): readonly NewEntry[] {
  const named = Object.entries(metadata).map(([key, value]): NewEntry => ({ type: "metadata", key, value }))
  return [...named, ...(entries as readonly NewEntry[])]
}

/** A session whose head cannot be read exists, so that a damaged one can be deleted. */
async function exists(storage: SessionStorage, id: string, o: CallOptions): Promise<boolean> {
  try {
    return (await storage.head(id, o)) !== undefined
  } catch (error) {
    if (hasCode(error, "corrupt") || hasCode(error, "unsupported")) return true
    throw error
  }
}
