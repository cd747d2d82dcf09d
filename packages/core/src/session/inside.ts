/** The way from a public handle to what the other entries of this package need of it. */
import { SessionError } from "../format/errors.ts"
import { isObject } from "../format/shape.ts"
import { shown } from "../storage/options.ts"
import type { SessionInside } from "./compaction.ts"
import { SessionHandle } from "./session.ts"

/** Throws `invalid` if `call` was given something else than a handle of this package. */
export function insideOf(call: string, session: unknown): SessionInside {
  const inside = isObject(session) ? SessionHandle.inside(session) : undefined
  if (inside !== undefined) return inside
  throw new SessionError("invalid", `${call}() takes an open session of this package first, not ${shown(session)}.`)
}
