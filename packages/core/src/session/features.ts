/**
 * Loads the code of a feature when one of its methods is first called: compaction (with pruning, fitting and branch summaries) and
 * transfer (import, export, fork, copy, merge, migrate, verify, the tree and the branches, logs of older versions; the cache of sessions,
 * pointers, `continueRecent`). The only `import()`s of this package; creating, opening, appending, reading and listing sessions of this version load nothing.
 */
import type * as Compaction from "../features/compaction.ts"
import type * as Transfer from "../features/transfer.ts"
import { StorageError } from "../storage/errors.ts"

/** `unavailable` if the code cannot be fetched. */
export function compactionFeature(): Promise<typeof Compaction> {
  return loaded(import("../features/compaction.ts"))
}

/** `unavailable` if the code cannot be fetched. */
export function transferFeature(): Promise<typeof Transfer> {
  return loaded(import("../features/transfer.ts"))
}

async function loaded<T>(code: Promise<T>): Promise<T> {
  try {
    return await code
  } catch (cause) {
    const message =
      "The code of this feature could not be loaded, and nothing was changed: the page is offline, or its files were replaced by a newer version's. Try again, or reload the page."
    throw new StorageError("unavailable", message, { cause })
  }
}
