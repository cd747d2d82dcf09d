/** The sessions that a repository has open: handles on one id share one session behind them, and the last one releases it. */
import type { CompactionSettings } from "../compaction/types.ts"
import { SessionError } from "../format/errors.ts"
import type { CallOptions, Seq, SessionStorage } from "../storage/contract.ts"
import { rejectOnAbort } from "../storage/aborting.ts"
import { StorageError } from "../storage/errors.ts"
import { SessionHandle } from "./session.ts"
import { infoText, storeInfo } from "../info/store.ts"
import { taken } from "../write/errors.ts"
import type { LiveSession } from "./live-session.ts"
import type { OpenOptions } from "./types.ts"

export interface OpenHandle {
  readonly handle: SessionHandle
  readonly shared: LiveSession
}

interface OpenSlot {
  readonly opening: Promise<LiveSession>
  /** It is being made, or was: opening the same id has nothing to do with how that ends. */
  readonly made: boolean
  /** Ends the opening when nobody waits for it any more. */
  readonly abort: AbortController
  handles: number
  /** The log's end when it was opened; 0 for one that was made. */
  from: Seq
}

export class OpenSessions {
  readonly #storage: SessionStorage
  /** Of all sessions; each handle has its own over it. */
  readonly #compaction: CompactionSettings | undefined
  readonly #places = new Map<string, OpenSlot>()
  #closing: Promise<void> | undefined

  constructor(storage: SessionStorage, compaction?: CompactionSettings) {
    this.#storage = storage
    this.#compaction = compaction
  }

  get closed(): boolean {
    return this.#closing !== undefined
  }

  /** A handle on the session of an id, which `open` opens where none is. */
  async open(id: string, open: (o: CallOptions) => Promise<LiveSession>, o: OpenOptions): Promise<OpenHandle> {
    for (;;) {
      const there = this.#places.get(id)
      if (there === undefined) {
        const abort = new AbortController()
        return this.#hold(id, this.#place(id, open({ signal: abort.signal }), { made: false, abort }), o)
      }
      if (!there.made || (await succeeded(there.opening))) return this.#hold(id, there, o)
    }
  }

  /** The same for a session that is made. `exists` where one of that id is open. */
  async make(id: string, make: () => Promise<LiveSession>, { signal, ...settings }: OpenOptions): Promise<OpenHandle> {
    for (;;) {
      const there = this.#places.get(id)
      if (there === undefined) {
        return this.#hold(id, this.#place(id, make(), { made: true, abort: new AbortController() }), settings)
      }
      const open = await rejectOnAbort(
        there.opening.catch(() => undefined),
        signal,
        aborted(id),
      )
      if (open === undefined) continue
      if (!(await this.#wasDeleted(open))) throw taken({ id, storage: this.#storage })
      this.#leave(id, there)
    }
  }

  /** By another repository, so that its id is free although there are handles on it here. */
  async #wasDeleted({ id, state }: LiveSession): Promise<boolean> {
    return state.head !== undefined && (await this.#storage.head(id)) === undefined
  }

  /** The open session of an id. */
  find(id: string): Promise<LiveSession> | undefined {
    return this.#places.get(id)?.opening
  }

  /** The id now means another session, or none. Handles stay with the one they have. */
  forget(id: string): void {
    this.#places.delete(id)
  }

  /** Flushes and releases every session, then closes the storage. Rejects with the first thing that failed, after all of it. */
  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    const places = [...this.#places.values()]
    this.#places.clear()
    const settled = await Promise.allSettled(
      places.map(async (place) => {
        place.abort.abort()
        const session = await place.opening.catch(() => undefined)
        if (session === undefined) return
        for (const look of session.closeListeners) look()
        await settle(session, place.from)
      }),
    )
    await this.#storage[Symbol.asyncDispose]()
    const failed = settled.find((one) => one.status === "rejected")
    if (failed !== undefined) throw failed.reason
  }

  #place(id: string, opening: Promise<LiveSession>, o: Pick<OpenSlot, "made" | "abort">): OpenSlot {
    const place: OpenSlot = { ...o, opening, handles: 0, from: 0 }
    this.#places.set(id, place)
    opening.then(
      ({ state }) => (place.from = o.made ? 0 : (state.head?.next ?? 0)),
      // Before anybody who waits for it hears of its failure, so that they find the id free.
      () => this.#leave(id, place),
    )
    return place
  }

  async #hold(id: string, place: OpenSlot, { signal, compaction }: OpenOptions): Promise<OpenHandle> {
    place.handles++
    try {
      const shared = await rejectOnAbort(place.opening, signal, aborted(id))
      if (this.closed) throw new SessionError("closed", `The sessions were closed while ${id} was opened.`)
      const isClosed = (): boolean => this.closed
      return {
        shared,
        handle: new SessionHandle(shared, {
          isClosed,
          release: () => this.#release(id, place, shared),
          compaction: [this.#compaction, compaction],
        }),
      }
    } catch (error) {
      if (--place.handles === 0) {
        this.#leave(id, place)
        place.abort.abort()
      }
      throw error
    }
  }

  async #release(id: string, place: OpenSlot, session: LiveSession): Promise<void> {
    if (this.#closing !== undefined) return this.#closing
    if (--place.handles > 0) return
    try {
      await settle(session, place.from)
    } finally {
      // Somebody may have opened it again meanwhile, and goes on with this one.
      if (place.handles === 0) this.#leave(id, place)
    }
  }

  #leave(id: string, place: OpenSlot): void {
    if (this.#places.get(id) === place) this.#places.delete(id)
  }
}

/** What was appended is acknowledged and, where the storage can tell, on stable storage; information that rode along nowhere is kept. */
async function settle(session: LiveSession, from: Seq): Promise<void> {
  const { state, storage, id } = session
  await session.drain()
  if (state.head === undefined || state.head.next === from) return
  if (storage.capabilities.sync) await storage.sync?.(id)
  if (state.projection === undefined || infoText(state.projection) !== undefined) return
  await storeInfo(storage, id, state.projection)
}

function aborted(session: string): (cause: unknown) => StorageError {
  return (cause) => new StorageError("aborted", `Waiting for ${session} to open was aborted.`, { session, cause })
}

async function succeeded(opening: Promise<unknown>): Promise<boolean> {
  return opening.then(
    () => true,
    () => false,
  )
}
