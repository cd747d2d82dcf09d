import type { SessionStorage } from "@sessions/core/storage"

/**
 * What the suite needs to know about an adapter: how to make a place, open it and take it away. `L` is whatever names a place: a
 * folder, a database name, a bucket with a prefix, an object in memory.
 */
export interface Subject<L = unknown> {
  /** Names the adapter in reports, e.g. `fs`. */
  readonly name: string

  /** A new, empty place that nothing else uses. Every case gets one of its own. */
  makeLocation(): L | Promise<L>

  /**
   * A storage on the place. Called twice with the same place it gives two storage objects, as two processes would have them;
   * the suite holds two open at once only where `capabilities.writers` is not `"instance"`.
   */
  open(location: L): SessionStorage | Promise<SessionStorage>

  /** Takes the place away with all that is in it. Every storage on it was disposed of before. */
  removeLocation?(location: L): void | Promise<void>

  /**
   * Leaves bytes behind the last whole line of a session, as a crash in the middle of a write does. No storage is open on the
   * place meanwhile. Leave it out where a torn line cannot come about (one transaction or one object per append).
   */
  tearTail?(location: L, session: string, bytes: Uint8Array): void | Promise<void>

  /**
   * Makes a stored line something that is no UTF-8, as a disk or a stranger does: puts 0xff in the place of its first byte. No storage
   * is open on the place meanwhile. Leave it out where the store keeps texts, not bytes.
   */
  spoilLine?(location: L, session: string, seq: number): void | Promise<void>

  /**
   * Ends a storage as the death of its process would: nothing is flushed, given back or finished, locks stay where they are, and
   * calls that are under way may never settle. `storage` is what {@link open} gave.
   */
  crash?(storage: SessionStorage, location: L): void | Promise<void>

  /**
   * Other adapters on places of this one, e.g. another implementation of one layout. Each is given places that {@link makeLocation}
   * made, and its storages must see and keep what this one's do.
   */
  readonly across?: readonly { readonly name: string; open(location: L): SessionStorage | Promise<SessionStorage> }[]

  /** Faults that the subject can bring about. Each function arms one for the next append on the place, by whichever storage. */
  readonly faults?: Faults<L>
}

export interface Faults<L> {
  /** The append finds no room. */
  readonly quota?: (location: L) => void | Promise<void>
  /** The write never reaches the store. */
  readonly requestLost?: (location: L) => void | Promise<void>
  /** The write is done, and its caller never hears of it. */
  readonly responseLost?: (location: L) => void | Promise<void>
  /** The write reaches the store later than its caller was told that nobody knows: when the function that this gives is called. */
  readonly late?: (location: L) => Deliver | Promise<Deliver>
  /**
   * The store asks to try again later (429, 503, a lock that is held), once or a few times, and then works: no more often than
   * one append tries, because the append after it must succeed.
   */
  readonly busy?: (location: L) => void | Promise<void>
}

/** Lets a late write arrive; harmless where there is none. */
export type Deliver = () => void | Promise<void>
