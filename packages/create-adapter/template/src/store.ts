/**
 * The store: ordered keys, each with some bytes. This one is in memory. Replace it by your database: `storage.ts` needs `Store` and nothing
 * else. Keys are ASCII, at most 200 characters, and differ in case.
 *
 * An error of the database becomes a `StorageError` here, where it is known what it means:
 *
 * - `unavailable`: the database was not reached or is busy, and a commit changed nothing;
 * - `quota`: it is full, and a commit changed nothing;
 * - `corrupt`: what it returns is damaged;
 * - `indeterminate`: the answer to a commit was lost, so it may have been made, or may still be made.
 */
import { StorageError } from "@sessions/core/storage"

/** Where the data is: a path or an address. In memory it is the data itself, which outlives the connections to it. */
export type Location = Map<string, Uint8Array>

export interface Row {
  readonly key: string
  readonly value: Uint8Array
}

/** Without `value` the key is removed. */
export interface Change {
  readonly key: string
  readonly value: Uint8Array | undefined
}

export interface Store {
  /** Like `rows`, it sees all that was committed before the call, also by another connection. */
  get(key: string): Promise<Uint8Array | undefined>

  /** The rows with `from <= key < to` in the order of their keys, or from the last to the first. Loads them while they are consumed. */
  rows(from: string, to: string, o?: { readonly descending?: boolean }): AsyncIterable<Row>

  /**
   * Makes all changes in one step if `expected.key` still has `expected.value` (undefined: it does not exist), and otherwise none: then it
   * returns false. Resolves when the database has committed, not when the changes were sent.
   */
  commit(expected: Change, changes: readonly Change[]): Promise<boolean>

  close(): Promise<void>
}

export async function openStore(location: Location): Promise<Store> {
  let open = true
  /** Every call takes a turn of the event loop, as one over a network would. */
  const arrive = async (): Promise<void> => {
    await Promise.resolve()
    if (!open) throw new StorageError("unavailable", "The connection is closed.")
  }
  return {
    async get(key) {
      await arrive()
      return location.get(key)?.slice()
    },

    async *rows(from, to, { descending = false } = {}) {
      await arrive()
      const keys = [...location.keys()].filter((key) => key >= from && key < to).sort()
      for (const key of descending ? keys.reverse() : keys) {
        const value = location.get(key)
        if (value !== undefined) yield { key, value: value.slice() }
      }
    },

    async commit(expected, changes) {
      await arrive()
      if (!isEqual(location.get(expected.key), expected.value)) return false
      for (const { key, value } of changes) {
        if (value === undefined) location.delete(key)
        else location.set(key, value.slice())
      }
      return true
    },

    async close() {
      open = false
    },
  }
}

function isEqual(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a?.length === b?.length && (a ?? []).every((byte, at) => byte === b?.[at])
}
