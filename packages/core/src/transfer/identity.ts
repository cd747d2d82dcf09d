/** Refuses what is no session log that this program can take over. */
import { SessionError } from "../format/errors.ts"
import type { SessionErrorDetails } from "../format/errors.ts"
import { unknownVersion } from "../format/identify.ts"
import type { LogIdentity } from "../format/identify.ts"

/** Throws `not_a_session` or `newer_version`; `what` is how the sentence begins. */
export function checkIdentity(
  identity: LogIdentity,
  what: string,
  about: SessionErrorDetails = {},
): asserts identity is LogIdentity & { readonly kind: "sessions" | "older" } {
  switch (identity.kind) {
    case "sessions":
    case "older":
      return
    case "newer": {
      const message = `${what} ${unknownVersion(identity.version)}. Use a newer program.`
      throw new SessionError("newer_version", message, about)
    }
    case "empty":
      throw new SessionError("not_a_session", `${what} is empty; there is no session in it.`, about)
    case "foreign":
      throw new SessionError("not_a_session", `${what} is not a session: ${identity.reason}.`, about)
  }
}
