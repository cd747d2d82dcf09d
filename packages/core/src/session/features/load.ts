/**
 * Loads code that most sessions do not need, a fourth of what core has for a page: contexts that are not sent as the log has them, and what
 * `session/features/seldom.ts` names. The only `import()`s of this package. `docs/architecture.md` says what needs them.
 */
import type * as Contexts from "./context.ts"
import type * as Seldom from "./seldom.ts"
import { StorageError } from "../../storage/errors.ts"

/** `unavailable` if the code cannot be fetched. */
export function contextFeature(): Promise<typeof Contexts> {
  return loaded(import("./context.ts"))
}

/** `unavailable` if the code cannot be fetched. */
export function seldomFeature(): Promise<typeof Seldom> {
  return loaded(import("./seldom.ts"))
}

function loaded<T>(code: Promise<T>): Promise<T> {
  return code.catch((cause: unknown) => {
    const message = "Code was not loaded, nothing changed. Reload the page when it is online."
    throw new StorageError("unavailable", message, { cause })
  })
}
