/**
 * The open sessions of a repository, by id. All handles on an id share one `LiveSession`; closing the last handle releases it.
 */
import type { Compaction } from "./compaction.ts"
import { hasCode, SessionError } from "../format/errors.ts"
import { notFoundError } from "../log/load.ts"
import type { CallOptions, Seq, SessionStorage } from "../storage/contract.ts"
import { retryUnavailable } from "../storage/retry.ts"
import { rejectOnAbort } from "../storage/signals.ts"
import type { StorageError } from "../storage/errors.ts"
import { SessionHandle } from "./session.ts"
import { fitsBesideHead, storeInfo } from "../info/store.ts"
import { sessionExistsError, toWaitAbortedError } from "../write/errors.ts"
import type { LiveSession } from "./live-session.ts"
import type { OpenOptions } from "./repository-types.ts"

export interface OpenedSession {
  readonly handle: SessionHandle
  readonly live: LiveSession
}

interface OpenSlot {
  readonly opening: Promise<LiveSession>
  /** By `create`, not by `open`: if the creation fails, `open` of the same id still tries. */
  readonly created: boolean
  /** Aborts the opening when its last waiting caller has given up, and the reading in the background when the last handle is closed. */
  readonly abort: AbortController
  handles: number
  /** Set when it is open. */
  live: LiveSession | undefined
  /** The end of the log when it was opened or last flushed; 0 for a created session. */
  from: Seq
}

export class OpenSessions {
  readonly #storage: SessionStorage
  /** Settings of the repository; those of a handle override them. */
  readonly #compaction: Compaction | undefined
  readonly #slots = new Map<string, OpenSlot>()
  #closing: Promise<void> | undefined

  constructor(storage: SessionStorage, compaction: Compaction | undefined) {
    this.#storage = storage
    this.#compaction = compaction
  }

  get closed(): boolean {
    return this.#closing !== undefined
  }

  /** A handle on the session of an id; calls `open` if it is not open. */
  async open(id: string, open: (o: CallOptions) => Promise<LiveSession>, o: OpenOptions): Promise<OpenedSession> {
    for (;;) {
      const slot = this.#slots.get(id)
      if (slot === undefined) return this.#acquire(id, this.#addSlot(id, open, false), o)
      // The handles on what was deleted keep it; they are told with each call.
      if (slot.live?.store.outdated === true) {
        this.#drop(id, slot)
        continue
      }
      if (!slot.created || (await openedOf(slot)) !== undefined) return this.#acquire(id, slot, o)
    }
  }

  /** A handle on a new session. `exists` if a session with that id is open. */
  async create(
    id: string,
    create: () => Promise<LiveSession>,
    { signal, ...settings }: OpenOptions,
  ): Promise<OpenedSession> {
    for (;;) {
      const slot = this.#slots.get(id)
      if (slot === undefined) return this.#acquire(id, this.#addSlot(id, create, true), settings)
      const open = await rejectOnAbort(openedOf(slot), signal, toAbortedError(id))
      if (open === undefined) continue
      if ((await this.#storage.head(id)) !== undefined) throw sessionExistsError(open)
      // Another repository deleted it, so its id is free although it is open here.
      this.#drop(id, slot)
    }
  }

  /** The session of an id if it is open or opening. */
  find(id: string): Promise<LiveSession> | undefined {
    return this.#slots.get(id)?.opening
  }

  /** Frees the id of a deleted session. Existing handles keep their session. */
  remove(id: string): void {
    const slot = this.#slots.get(id)
    if (slot !== undefined) this.#drop(id, slot)
  }

  /** Flushes and releases every session, then closes the storage. Rejects with the first failure after everything was tried. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const settled = await Promise.allSettled(
      [...this.#slots].map(async ([id, slot]) => {
        slot.abort.abort()
        const session = await openedOf(slot)
        if (session === undefined) return
        for (const listener of session.closeListeners) listener()
        await this.#flush(slot).finally(() => this.#drop(id, slot))
        await session.readingTips
      }),
    )
    await this.#storage[Symbol.asyncDispose]()
    const failed = settled.find((one) => one.status === "rejected")
    if (failed !== undefined) throw failed.reason
  }

  #addSlot(id: string, open: (o: CallOptions) => Promise<LiveSession>, created: boolean): OpenSlot {
    const abort = new AbortController()
    const opening = open({ signal: abort.signal })
    const slot: OpenSlot = { opening, created, abort, handles: 0, live: undefined, from: 0 }
    this.#slots.set(id, slot)
    opening.then(
      (live) => {
        slot.live = live
        slot.from = created ? 0 : live.state.head.next
      },
      // Runs before the waiting callers see the failure, so that they find the id free.
      () => this.#drop(id, slot),
    )
    return slot
  }

  async #acquire(id: string, slot: OpenSlot, { signal, compaction }: OpenOptions): Promise<OpenedSession> {
    slot.handles++
    try {
      const live = await rejectOnAbort(slot.opening, signal, toAbortedError(id)).catch((error: unknown) => {
        if (!hasCode(error, "aborted") || slot.created || signal?.aborted === true) throw error
        // Not by this caller: the repository was closed, or has deleted the session.
        throw this.closed ? closedMeanwhileError(id) : notFoundError(this.#storage, id)
      })
      if (this.closed) throw closedMeanwhileError(id)
      const isClosed = (): boolean => this.closed
      return {
        live,
        handle: new SessionHandle(live, {
          isClosed,
          release: () => this.#release(id, slot),
          compaction: [this.#compaction, compaction],
        }),
      }
    } catch (error) {
      if (--slot.handles === 0) void this.#leave(id, slot)
      throw error
    }
  }

  async #release(id: string, slot: OpenSlot): Promise<void> {
    if (this.#closing !== undefined) return this.#closing
    if (--slot.handles > 0) return
    try {
      await this.#flush(slot)
    } finally {
      await this.#leave(id, slot)
    }
  }

  /** Releases a session without handles. */
  async #leave(id: string, slot: OpenSlot): Promise<void> {
    // Another caller may have opened it again meanwhile and shares this session.
    if (slot.handles > 0) return
    this.#drop(id, slot)
    await slot.live?.readingTips
  }

  /**
   * Waits for pending appends, then syncs the log if the storage can. Stores the session information if it was too long to be stored
   * whole beside the head.
   */
  async #flush(slot: OpenSlot): Promise<void> {
    const live = await slot.opening
    const { state, storage, id } = live
    await live.drain()
    if (state.head.next === slot.from) return
    try {
      if (storage.capabilities.sync) await retryUnavailable(async () => storage.sync?.(id))
      slot.from = state.head.next
      if (state.projection === undefined || fitsBesideHead(state.projection)) return
      await storeInfo(storage, id, state.projection)
    } catch (error) {
      // Another repository has closed the storage, which keeps what it has acknowledged.
      if (!hasCode(error, "closed")) throw error
    }
  }

  /** Drops a session from memory. */
  #drop(id: string, slot: OpenSlot): void {
    if (this.#slots.get(id) === slot) this.#slots.delete(id)
    slot.abort.abort()
  }
}

function closedMeanwhileError(session: string): SessionError {
  return new SessionError("closed", `The sessions were closed while ${session} was opened.`, { session })
}

function toAbortedError(session: string): (cause: unknown) => StorageError {
  return toWaitAbortedError(session, `Waiting for ${session} to open was aborted.`)
}

/** Undefined if it could not be opened. */
function openedOf({ opening }: OpenSlot): Promise<LiveSession | undefined> {
  return opening.catch(() => undefined)
}
