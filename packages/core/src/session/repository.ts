/** `Sessions`: the repository of the sessions of one storage. Checks arguments and state, runs hooks, and calls the modules. */
import { checkExclusive } from "../compaction/settings/layers.ts"
import { checkSettings } from "../compaction/settings/settings.ts"
import type { CompactionSettings } from "../compaction/types.ts"
import { SessionError, hasCode } from "../format/errors.ts"
import { createIds, isUlid } from "../format/ids.ts"
import { headerProblem } from "../format/header.ts"
import type { Header } from "../format/header.ts"
import type { CallOptions, Deleted, SessionStorage } from "../storage/contract.ts"
import { READ_WINDOW } from "../log/read-backwards.ts"
import { isSessionId, signalOf } from "../storage/checks.ts"
import { createSession } from "./create.ts"
import { runHook } from "./hooks.ts"
import type { Hooks } from "./hooks.ts"
import type { SessionInfo } from "../info/projection.ts"
import { listSessions, sessionInfo } from "./list.ts"
import type { KnownSortKeys } from "./list.ts"
import { OpenSessions } from "./open-sessions.ts"
import type { OpenedSession } from "./open-sessions.ts"
import { newHeader, openSession } from "./open.ts"
import type { OpeningOptions } from "./open.ts"
import { continueRecent } from "./continue-recent.ts"
import { transferFeature } from "./features.ts"
import { deletePointer, getPointer, setPointer } from "./pointers.ts"
import type {
  ExportOptions,
  ImportOptions,
  ImportResult,
  ImportSource,
  CreateOptions,
  ListOptions,
  OpenOptions,
  Pointers,
  Session,
  SessionPage,
  Sessions,
  SessionsOptions,
  VerifyReport,
} from "./types.ts"

/** Attempts of `openOrCreate`. A storage that answers `not_found` and `exists` more often than this contradicts itself. */
const MAX_RACES = 10

export function createSessions(o: SessionsOptions): Sessions {
  return new SessionRepository(o)
}

/** The options with all defaults applied. */
function toOpeningOptions(o: SessionsOptions): OpeningOptions {
  const now = o.now ?? Date.now
  return {
    hooks: o.hooks === undefined ? [] : Array.isArray(o.hooks) ? (o.hooks as readonly Hooks[]) : [o.hooks as Hooks],
    persistAfter: o.persistAfter ?? "create",
    onConflict: o.onConflict ?? "branch",
    migrateOnWrite: o.migrateOnWrite !== false,
    maxSessionBytes: Math.min(o.maxSessionBytes ?? Number.POSITIVE_INFINITY, o.storage.capabilities.maxSessionBytes),
    blobs: o.blobs ?? {},
    oversize: o.oversize ?? "blobs",
    readWindow: o.readWindow ?? READ_WINDOW,
    newId: createIds(now),
    now,
  }
}

class SessionRepository implements Sessions {
  readonly storage: SessionStorage
  readonly pointers: Pointers
  readonly #options: OpeningOptions
  readonly #sortKeys: KnownSortKeys = new Map()
  readonly #ulidsOnly: boolean
  readonly #hookFailed: (hook: string, error: unknown) => void
  readonly #compaction: CompactionSettings | undefined
  readonly #open: OpenSessions

  constructor(o: SessionsOptions) {
    this.storage = o.storage
    if (o.compaction !== undefined) checkExclusive(o.compaction)
    this.#compaction = o.compaction
    this.#open = new OpenSessions(o.storage, o.compaction)
    this.pointers = {
      set: async (name, pointer, call) => {
        this.#check()
        return setPointer(o.storage, name, pointer, call)
      },
      get: async (name, call) => {
        this.#check()
        return getPointer(o.storage, name, call)
      },
      delete: async (name, call) => {
        this.#check()
        return deletePointer(o.storage, name, call)
      },
    }
    this.#ulidsOnly = o.ulidsOnly === true
    this.#hookFailed = o.onHookFailed ?? ((): void => undefined)
    this.#options = toOpeningOptions(o)
  }

  async create(o: CreateOptions = {}): Promise<Session> {
    this.#check()
    const id = o.id ?? this.#options.newId()
    this.#checkId(id)
    this.#checkCompaction(o)
    const { signal: _, id: __, compaction: ___, ...fields } = o
    const header = newHeader(fields, id, this.#options.now())
    const problem = headerProblem(header)
    if (problem !== undefined) throw new SessionError("invalid", `The session was not created: ${problem}`)
    const create = (): ReturnType<typeof createSession> => createSession(this.storage, header, this.#options, o)
    const { handle } = await this.#open.create(id, create, o)
    this.#runCreateHooks(id, header)
    return handle
  }

  async open(id: string, o: OpenOptions = {}): Promise<Session> {
    return (await this.#acquire(id, o)).handle
  }

  async openOrCreate(id: string, o: Omit<CreateOptions, "id"> = {}): Promise<Session> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.open(id, o)
      } catch (error) {
        if (!hasCode(error, "not_found")) throw error
      }
      try {
        return await this.create({ ...o, id })
      } catch (error) {
        // Another writer created it between the two calls, so it can be opened.
        if (!hasCode(error, "exists") || attempt === MAX_RACES) throw error
      }
    }
  }

  async info(id: string, o: CallOptions = {}): Promise<SessionInfo> {
    this.#check()
    this.#checkId(id)
    return sessionInfo(this.storage, id, this.#options, o)
  }

  async list(o: ListOptions = {}): Promise<SessionPage> {
    this.#check()
    return listSessions(this.storage, this.#options, this.#sortKeys, o)
  }

  async rename(id: string, title: string | null, o: CallOptions = {}): Promise<void> {
    await this.#with(id, o, ({ handle }) => handle.title(title, signalOf(o)))
  }

  async move(id: string, o: CallOptions & { readonly cwd: string }): Promise<void> {
    if (typeof o.cwd !== "string" || o.cwd === "")
      throw new SessionError("invalid", "The cwd of move() must be a non-empty string.", { session: id })
    await this.#with(id, o, ({ handle }) => handle.metadata("cwd", o.cwd, signalOf(o)))
  }

  async delete(id: string, o: CallOptions = {}): Promise<Deleted> {
    this.#check()
    this.#checkId(id)
    // Pending appends are written before the delete, so that none fails on a deleted log.
    await this.#flush(id).catch(() => undefined)
    const head = await this.storage.head(id, o)
    const deleted = await this.storage.delete(id, o)
    if (head === undefined)
      throw new SessionError("not_found", `There is no session ${id} in ${this.storage.description}.`, { session: id })
    this.#open.remove(id)
    for (const hook of this.#options.hooks) runHook("delete", () => hook.delete?.({ session: id }), this.#hookFailed)
    return deleted
  }

  async fork(id: string, o: OpenOptions & { readonly at?: string; readonly id?: string } = {}): Promise<Session> {
    const forkId = o.id ?? this.#options.newId()
    this.#checkId(forkId)
    await this.#with(id, o, async ({ live, handle }) => {
      const { forkSession } = await transferFeature()
      await forkSession(live, handle, forkId, this.#options, o)
    })
    const fork = await this.open(forkId, o)
    this.#runCreateHooks(forkId, fork.header)
    return fork
  }

  async continueRecent(o: OpenOptions & { readonly cwd: string; readonly pointer?: string }): Promise<Session> {
    this.#check()
    return continueRecent(this, o)
  }

  async import(source: ImportSource, o: ImportOptions = {}): Promise<ImportResult> {
    this.#check()
    const id = o.id ?? this.#options.newId()
    this.#checkId(id)
    const { importSession } = await transferFeature()
    const { result, header } = await importSession(this.storage, source, id, this.#options, o)
    this.#runCreateHooks(id, header)
    return result
  }

  async *export(id: string, o: ExportOptions = {}): AsyncIterable<string> {
    this.#check()
    this.#checkId(id)
    await this.#flush(id)
    const { exportSession } = await transferFeature()
    yield* exportSession(this, id, o)
  }

  async copy(id: string, to: SessionStorage, o: CallOptions = {}): Promise<ImportResult> {
    this.#check()
    this.#checkId(id)
    await this.#flush(id)
    const { copySession } = await transferFeature()
    return copySession(this.storage, id, to, o)
  }

  async migrate(
    id: string,
    o: CallOptions = {},
  ): Promise<{ readonly migrated: boolean; readonly from: { format: string; version: number } }> {
    this.#check()
    this.#checkId(id)
    const { migrateStored } = await transferFeature()
    return migrateStored(this.storage, id, { ...o, blobs: this.#options.blobs })
  }

  async verify(id: string, o: CallOptions = {}): Promise<VerifyReport> {
    this.#check()
    this.#checkId(id)
    await this.#flush(id)
    const { verifySession } = await transferFeature()
    return verifySession(this.storage, id, o)
  }

  close(): Promise<void> {
    return this.#open.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #acquire(id: string, o: OpenOptions): Promise<OpenedSession> {
    this.#check()
    this.#checkId(id)
    this.#checkCompaction(o)
    return this.#open.open(id, (signal) => openSession(this.storage, id, this.#options, signal), o)
  }

  async #with<T>(id: string, o: CallOptions, use: (opened: OpenedSession) => Promise<T>): Promise<T> {
    const opened = await this.#acquire(id, o)
    try {
      return await use(opened)
    } finally {
      await opened.handle.close()
    }
  }

  /** Writes the pending appends of an open session before its stored log is read. */
  async #flush(id: string): Promise<void> {
    await (await this.#open.find(id)?.catch(() => undefined))?.drain()
  }

  #runCreateHooks(session: string, header: Header): void {
    for (const hook of this.#options.hooks)
      runHook("create", () => hook.create?.({ session, header }), this.#hookFailed)
  }

  #check(): void {
    if (this.#open.closed) throw new SessionError("closed", "These sessions were closed. Call createSessions() again.")
  }

  #checkCompaction({ compaction }: OpenOptions): void {
    for (const level of [this.#compaction, compaction]) if (level !== undefined) checkSettings(level)
  }

  #checkId(id: unknown): asserts id is string {
    if (isSessionId(id) && (!this.#ulidsOnly || isUlid(id))) return
    const shown = typeof id === "string" ? JSON.stringify(id.slice(0, 40)) : String(id)
    const rule = this.#ulidsOnly
      ? "a ULID: 26 of 0-9 A-H J K M N P-T V-Z"
      : 'made of 1 to 128 of A-Z a-z 0-9 . _ -, with a letter or digit first and last and no ".."'
    throw new SessionError("invalid", `${shown} is not a session id, which is ${rule}.`)
  }
}
