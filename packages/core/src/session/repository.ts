/** All sessions of one storage: makes them, finds them, and lets handles on one id share one session. */
import { SessionError } from "../errors.ts"
import type { BlobLimits } from "../format/blob-refs.ts"
import { encodeHeader } from "../format/line.ts"
import { createIds, isUlid } from "../format/ids.ts"
import { headerProblem } from "../format/guards.ts"
import type { CallOptions, Deleted, SessionStorage } from "../storage/contract.ts"
import { isSessionId } from "../storage/checks.ts"
import { hasCode } from "../storage/errors.ts"
import { continueRecent } from "./continue-recent.ts"
import { SessionHandle } from "./handle.ts"
import { runHook } from "./hooks.ts"
import type { Hooks } from "./hooks.ts"
import type { SessionInfo } from "./info.ts"
import { infoText, keepFold } from "./info-store.ts"
import { listSessions, sessionInfo } from "./list.ts"
import { newHeader, newSession, openSession } from "./opening.ts"
import type { OpeningOptions } from "./opening.ts"
import { createPointers } from "./pointers.ts"
import { startFold } from "./info.ts"
import type { SharedSession } from "./shared-session.ts"
import type { ExportOptions, ImportOptions, ImportResult, ImportSource } from "./transfer/types.ts"
import type {
  ConflictPolicy,
  CreateOptions,
  ListOptions,
  PersistAfter,
  Pointers,
  Session,
  SessionPage,
  Sessions,
} from "./types.ts"
import type { VerifyReport } from "./verify.ts"

export interface SessionsOptions {
  readonly storage: SessionStorage
  /** One, or several in the order in which they run. */
  readonly hooks?: Hooks | readonly Hooks[]
  /** Default `"create"`: what `create` returned can be opened elsewhere. */
  readonly persistAfter?: PersistAfter
  /** For appends outside of turns and later in them; default `"branch"`. */
  readonly onConflict?: ConflictPolicy
  /** Whether the first write to an older log migrates it. Default true; false: such a log is `read_only`. */
  readonly migrateOnWrite?: boolean
  /** Whether callers' session ids must be ULIDs. Default false. */
  readonly ulidsOnly?: boolean
  /** Largest log, in bytes. Default, and at most: the storage's own limit. */
  readonly maxSessionBytes?: number
  /** What moves to the blob store; see `docs/format.md`. */
  readonly blobs?: BlobLimits
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number
  /** Told of a repository hook that threw. */
  readonly onHookFailed?: (hook: string, error: unknown) => void
}

export function createSessions(o: SessionsOptions): Sessions {
  return new SessionRepository(o)
}

interface Shared {
  readonly opening: Promise<SharedSession>
  handles: number
}

class SessionRepository implements Sessions {
  readonly storage: SessionStorage
  readonly pointers: Pointers
  readonly #options: OpeningOptions
  readonly #ulidsOnly: boolean
  readonly #hookFailed: (hook: string, error: unknown) => void
  readonly #open = new Map<string, Shared>()
  #closed = false

  constructor(o: SessionsOptions) {
    const { capabilities } = o.storage
    const now = o.now ?? Date.now
    this.storage = o.storage
    this.pointers = createPointers(o.storage, () => this.#check())
    this.#ulidsOnly = o.ulidsOnly === true
    this.#hookFailed = o.onHookFailed ?? ((): void => undefined)
    this.#options = {
      hooks: o.hooks === undefined ? [] : Array.isArray(o.hooks) ? (o.hooks as readonly Hooks[]) : [o.hooks as Hooks],
      persistAfter: o.persistAfter ?? "create",
      onConflict: o.onConflict ?? "branch",
      migrateOnWrite: o.migrateOnWrite !== false,
      maxSessionBytes: Math.min(o.maxSessionBytes ?? Number.POSITIVE_INFINITY, capabilities.maxSessionBytes),
      blobs: o.blobs ?? {},
      newId: createIds(now),
      now,
    }
  }

  async create(o: CreateOptions = {}): Promise<Session> {
    this.#check()
    const id = o.id ?? this.#options.newId()
    this.#checkId(id)
    const { signal: _, id: __, ...fields } = o
    const header = newHeader(fields, id, this.#options.now())
    const problem = headerProblem(header)
    if (problem !== undefined) throw new SessionError("invalid", `The session was not created: ${problem}`)
    if (this.#open.has(id)) throw this.#taken(id)
    const opening = this.#create(header, o)
    const session = await this.#share(id, opening)
    for (const hook of this.#options.hooks)
      runHook("create", () => hook.create?.({ session: id, header }), this.#hookFailed)
    return session
  }

  async #create(header: ReturnType<typeof newHeader>, o: CallOptions): Promise<SharedSession> {
    const { storage } = this
    const { id } = header
    const signal = o.signal === undefined ? {} : { signal: o.signal }
    if (this.#options.persistAfter !== "create") {
      if ((await storage.head(id, signal)) !== undefined) throw this.#taken(id)
      return newSession(storage, header, undefined, this.#options)
    }
    const info = infoText(startFold(header, ""))
    try {
      const head = await storage.append(id, [encodeHeader(header)], {
        expect: 0,
        ...(info === undefined ? {} : { info }),
        ...signal,
      })
      return newSession(storage, header, head, this.#options)
    } catch (error) {
      throw hasCode(error, "conflict") ? this.#taken(id) : error
    }
  }

  async open(id: string, o: CallOptions = {}): Promise<Session> {
    this.#check()
    this.#checkId(id)
    return this.#share(id, undefined, o)
  }

  async openOrCreate(id: string, o: Omit<CreateOptions, "id"> = {}): Promise<Session> {
    for (;;) {
      try {
        return await this.open(id, o)
      } catch (error) {
        if (!hasCode(error, "not_found")) throw error
      }
      try {
        return await this.create({ ...o, id })
      } catch (error) {
        // Somebody else made it between the two; theirs is opened.
        if (!hasCode(error, "exists")) throw error
      }
    }
  }

  /** A handle on the one shared session of an id. */
  async #share(id: string, created?: Promise<SharedSession>, o: CallOptions = {}): Promise<Session> {
    let entry = this.#open.get(id)
    if (entry === undefined || created !== undefined) {
      entry = { opening: created ?? openSession(this.storage, id, this.#options, o), handles: 0 }
      this.#open.set(id, entry)
    }
    const shared = entry
    shared.handles++
    try {
      const session = await shared.opening
      return new SessionHandle(session, () => this.#release(id, shared, session))
    } catch (error) {
      if (--shared.handles === 0 && this.#open.get(id) === shared) this.#open.delete(id)
      throw error
    }
  }

  async #release(id: string, shared: Shared, session: SharedSession): Promise<void> {
    if (--shared.handles > 0) return
    if (this.#open.get(id) === shared) this.#open.delete(id)
    await session.drain()
    const { fold, head } = session.state
    if (fold !== undefined && head !== undefined && infoText(fold) === undefined) await keepFold(this.storage, id, fold)
  }

  async info(id: string, o: CallOptions = {}): Promise<SessionInfo> {
    this.#check()
    this.#checkId(id)
    return sessionInfo(this.storage, id, this.#options, o)
  }

  async list(o: ListOptions = {}): Promise<SessionPage> {
    this.#check()
    return listSessions(this.storage, this.#options, o)
  }

  async rename(id: string, title: string | null, o: CallOptions = {}): Promise<void> {
    await this.#with(id, (session) => session.title(title, o))
  }

  async move(id: string, o: CallOptions & { readonly cwd: string }): Promise<void> {
    if (typeof o.cwd !== "string" || o.cwd === "")
      throw new SessionError("invalid", "A session moves to a cwd that is a text.", { session: id })
    await this.#with(id, (session) => session.metadata("cwd", o.cwd))
  }

  async delete(id: string, o: CallOptions = {}): Promise<Deleted> {
    this.#check()
    this.#checkId(id)
    const head = await this.storage.head(id, o)
    const deleted = await this.storage.delete(id, o)
    if (head === undefined)
      throw new SessionError("not_found", `There is no session ${id} in ${this.storage.description}.`, { session: id })
    this.#open.delete(id)
    for (const hook of this.#options.hooks) runHook("delete", () => hook.delete?.({ session: id }), this.#hookFailed)
    return deleted
  }

  async fork(id: string, o: CallOptions & { readonly at?: string; readonly id?: string } = {}): Promise<Session> {
    const forkId = o.id ?? this.#options.newId()
    this.#checkId(forkId)
    await this.#with(id, async (session, shared) => {
      const { forkSession } = await import("./transfer/fork.ts")
      await forkSession(shared, session, forkId, this.#options, o)
    })
    return this.open(forkId, o)
  }

  async continueRecent(o: CallOptions & { readonly cwd: string; readonly pointer?: string }): Promise<Session> {
    this.#check()
    return continueRecent(this, o)
  }

  async import(source: ImportSource, o: ImportOptions = {}): Promise<ImportResult> {
    this.#check()
    const id = o.id ?? this.#options.newId()
    this.#checkId(id)
    const { importSession } = await import("./transfer/import.ts")
    return importSession(this.storage, source, id, this.#options, o)
  }

  async *export(id: string, o: ExportOptions = {}): AsyncIterable<string> {
    this.#check()
    this.#checkId(id)
    await this.#flush(id)
    const { exportSession } = await import("./transfer/export.ts")
    yield* exportSession(this, id, o)
  }

  async copy(id: string, to: SessionStorage, o: CallOptions = {}): Promise<ImportResult> {
    this.#check()
    this.#checkId(id)
    await this.#flush(id)
    const { copySession } = await import("./transfer/copy.ts")
    return copySession(this.storage, id, to, o)
  }

  async migrate(
    id: string,
    o: CallOptions = {},
  ): Promise<{ readonly migrated: boolean; readonly from: { format: string; version: number } }> {
    this.#check()
    this.#checkId(id)
    const { migrateStored } = await import("./transfer/migrate.ts")
    return migrateStored(this.storage, id, o)
  }

  async verify(id: string, o: CallOptions = {}): Promise<VerifyReport> {
    this.#check()
    this.#checkId(id)
    await this.#flush(id)
    const { verifySession } = await import("./verify.ts")
    return verifySession(this.storage, id, o)
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    const open = [...this.#open.values()]
    this.#open.clear()
    const drained = await Promise.allSettled(open.map(async ({ opening }) => (await opening).drain()))
    await this.storage[Symbol.asyncDispose]()
    const failed = drained.find((one) => one.status === "rejected")
    if (failed !== undefined) throw failed.reason
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #with<T>(id: string, use: (session: Session, shared: SharedSession) => Promise<T>): Promise<T> {
    const session = await this.open(id)
    try {
      return await use(session, await (this.#open.get(id) as Shared).opening)
    } finally {
      await session.close()
    }
  }

  /** What this repository has queued for a session is in the log before the log is read as a whole. */
  async #flush(id: string): Promise<void> {
    const open = this.#open.get(id)
    if (open !== undefined) await (await open.opening).drain()
  }

  #check(): void {
    if (this.#closed)
      throw new SessionError("closed", "These sessions were closed. Make new ones with createSessions().")
  }

  #checkId(id: unknown): asserts id is string {
    if (isSessionId(id) && (!this.#ulidsOnly || isUlid(id))) return
    const shown = typeof id === "string" ? JSON.stringify(id.slice(0, 40)) : String(id)
    const rule = this.#ulidsOnly
      ? "a ULID: 26 of 0-9 A-H J K M N P-T V-Z"
      : 'made of 1 to 128 of A-Z a-z 0-9 . _ -, with a letter or digit first and last and no ".."'
    throw new SessionError("invalid", `${shown} is not a session id, which is ${rule}.`)
  }

  #taken(id: string): SessionError {
    const message = `There is a session ${id} in ${this.storage.description} already. Open it, or choose another id.`
    return new SessionError("exists", message, { session: id, storage: this.storage.description })
  }
}
