/**
 * Loads the code of a feature when it is first needed: of contexts that are not sent as the log has them (their conversion, repair, recorded
 * steps and comparison, with the states of tool calls), and of transfer (import, export, fork, copy, merge, migrate, verify, the tree, the
 * branches and the parts, following, logs of older versions, that were rewritten or have lost lines; pointers,
 * `continueRecent`, and further pages of many sessions, which are also read without it; and turns with a lease). The only `import()`s of this
 * package; creating, opening, appending, reading and listing sessions of this version load nothing. `docs/architecture.md` says which contexts do.
 */
import type * as Contexts from "../features/context.ts"
import type * as Transfer from "../features/transfer.ts"
import { StorageError } from "../storage/errors.ts"

/** `unavailable` if the code cannot be fetched. */
export function contextFeature(): Promise<typeof Contexts> {
  return loaded(import("../features/context.ts"))
}

/** `unavailable` if the code cannot be fetched. */
export function transferFeature(): Promise<typeof Transfer> {
  return loaded(import("../features/transfer.ts"))
}

function loaded<T>(code: Promise<T>): Promise<T> {
  return code.catch((cause: unknown) => {
    const message = "Code was not loaded, nothing changed. Reload the page when it is online."
    throw new StorageError("unavailable", message, { cause })
  })
}
