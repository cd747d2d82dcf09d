/**
 * Information that a storage asks for when it stores it. One that writes it behind stores that of the last append of a burst, and making the
 * text takes a twelfth of an append on files.
 */
import type { SessionStorage, StorageAppendOptions } from "./contract.ts"

/** The options that an adapter with {@link StorageAdapter.infoLater} gets. */
export interface AdapterAppendOptions extends StorageAppendOptions {
  /** In place of `info`: returns it, or undefined if the append has none. The text is that of the append, whenever it is asked for. */
  readonly infoLater?: () => string | undefined
}

const takers = new WeakSet<SessionStorage>()

export function addInfoLater(storage: SessionStorage): void {
  takers.add(storage)
}

/** False for a storage around another one, which may read `info` or pass it on. */
export function takesInfoLater(storage: SessionStorage): boolean {
  return takers.has(storage)
}
