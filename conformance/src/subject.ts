/** The subject of a run: what an adapter's author implements so that the suite can test the adapter. */
import type { SessionStorage } from "@sessions/core/storage"

/**
 * Creates locations, opens storages on them and removes them. `L` identifies a location: a folder, a database name, a bucket with
 * a prefix, an object in memory.
 */
export interface Subject<L = unknown> {
  /** Names the adapter in reports, e.g. `fs`. */
  readonly name: string

  /** Creates a new, empty location that nothing else uses. Every case gets its own. */
  makeLocation(): L | Promise<L>

  /**
   * Opens a storage on the location. A second call with the same location returns a second storage object, as another process
   * would have it. The suite keeps two open at once only if `capabilities.writers` is not `"instance"`.
   */
  open(location: L): SessionStorage | Promise<SessionStorage>

  /** Removes the location with everything in it. Every storage on it has been disposed of. */
  removeLocation?(location: L): void | Promise<void>

  /**
   * Writes bytes behind the last whole line of a session, as a crash in the middle of a write does. No storage is open on the
   * location at that time. Omit it if the store cannot have torn lines (one transaction or one object per append).
   */
  tearTail?(location: L, session: string, bytes: Uint8Array): void | Promise<void>

  /**
   * Replaces the first byte of a stored line by 0xff, which is never valid UTF-8, as a failing disk might. No storage is open on
   * the location at that time. Omit it if the store keeps texts, not bytes.
   */
  corruptLine?(location: L, session: string, seq: number): void | Promise<void>

  /**
   * Damages what `head` needs of a session, as a failing disk or another program might, so that `head` rejects. No storage is open on
   * the location at that time. Omit it if nothing outside of the storage objects can damage it (memory).
   */
  corruptHead?(location: L, session: string): void | Promise<void>

  /**
   * Whether anything in the location contains an ASCII text: any file, row or object, whether the storage still returns it or not.
   * Omit it if the store cannot be searched.
   */
  contains?(location: L, text: string): boolean | Promise<boolean>

  /**
   * Ends a storage as a crash of its process would: nothing is flushed, released or completed, locks stay held, and pending calls
   * may never settle. `storage` is the object that {@link open} returned.
   */
  crash?(storage: SessionStorage, location: L): void | Promise<void>

  /**
   * Other adapters that use the same locations, e.g. another implementation of one layout. Each opens locations that
   * {@link makeLocation} created, and must read and preserve what the storages of this subject write.
   */
  readonly across?: readonly { readonly name: string; open(location: L): SessionStorage | Promise<SessionStorage> }[]

  /** Faults that the subject can inject. Each function arms one for the next append to the location, through any storage. */
  readonly faults?: Faults<L>

  /** The network between the adapter and its store. Omit it if there is none. {@link open} then opens storages that meet nothing on it. */
  readonly network?: NetworkFaults<L>
}

/** What may happen to a request: the name of one of {@link NetworkFaults.names}; undefined: nothing. */
export type Meet = (request: { readonly writes: boolean }) => string | undefined

/** Faults between the adapter and its store. For adapters over HTTP `@sessions/conformance/network` has them. */
export interface NetworkFaults<L> {
  /** What may happen to a request, by name: instead of it, and after it was done. */
  readonly names: readonly string[]
  /**
   * Opens a storage on the location each of whose requests meets what `meet` returns. Give it limits of time that are short: some requests
   * get no answer.
   */
  open(location: L, meet: Meet): Networked | Promise<Networked>
}

export interface Networked {
  readonly storage: SessionStorage
  /** Lets the requests arrive that are still on their way. Omit it if there are none. */
  readonly arrive?: () => Promise<void>
}

export interface Faults<L> {
  /** The append fails because the store is full. */
  readonly quota?: (location: L) => void | Promise<void>
  /** The write never reaches the store. */
  readonly requestLost?: (location: L) => void | Promise<void>
  /** The store performs the write, but its response is lost. */
  readonly responseLost?: (location: L) => void | Promise<void>
  /** The append fails with an unknown outcome; its write reaches the store when the returned function is called. */
  readonly late?: (location: L) => Deliver | Promise<Deliver>
  /**
   * The store asks the client to retry later (429, 503, a held lock), once or a few times, and then works. It asks no more often
   * than one append retries, because the next append must succeed.
   */
  readonly busy?: (location: L) => void | Promise<void>
  /**
   * Deletes take effect, but the bytes of the sessions cannot be removed until the returned function is called. Omit it if the two are
   * one step of the store.
   */
  readonly removal?: (location: L) => Deliver | Promise<Deliver>
}

/** Delivers a late write, if there is one, or ends the fault of removals. */
export type Deliver = () => void | Promise<void>
