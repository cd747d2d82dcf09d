/**
 * Loads code that most sessions do not need, a fourth of what core has for a page: contexts that are not sent as the log has them, and what
 * `features/seldom.ts` names. The only `import()`s of this package. `docs/architecture.md` says what needs them.
 */
import type * as Contexts from "../features/context.ts"
import type * as Seldom from "../features/seldom.ts"
import { StorageError } from "../storage/errors.ts"

/** `unavailable` if the code cannot be fetched. */
export function contextFeature(): Promise<typeof Contexts> {
  return loaded(import("../features/context.ts"))
}

/** `unavailable` if the code cannot be fetched. */
export function seldomFeature(): Promise<typeof Seldom> {
  return loaded(import("../features/seldom.ts"))
}

function loaded<T>(code: Promise<T>): Promise<T> {
  return code.catch((cause: unknown) => {
    const message = "Code was not loaded, nothing changed. Reload the page when it is online."
    throw new StorageError("unavailable", message, { cause })
  })
}
