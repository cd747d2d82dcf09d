/** The way from a public handle to what the other entries of this package need of it. Not public: no entry exports the symbol. */
import { SessionError } from "../format/errors.ts"
import { isObject } from "../format/shape.ts"
import type { CallOptions } from "../storage/contract.ts"
import { shown } from "../storage/options.ts"
import type { CompactionLayers } from "./compaction.ts"
import type { CompactableSession } from "./live.ts"

/** What compaction needs of a handle. */
export interface SessionInside {
  readonly live: CompactableSession & {
    readonly turns: {
      readonly isInside: boolean
      run<T>(fn: () => Promise<T>, signal?: AbortSignal): Promise<T>
    }
  }
  readonly compaction: CompactionLayers
  /** Whether the function of a turn got this handle. */
  readonly isOfTurn: boolean
  /** Throws `closed` if the handle is closed, and `aborted` if the signal has fired. */
  readonly checkOpen: (o?: CallOptions) => void
}

/** A property, so that a proxy of a session has it, too. */
export const INSIDE: unique symbol = Symbol("inside")

/** Throws `invalid` if `call` was given something else than a session of this package. */
export function insideOf(call: string, session: unknown): SessionInside {
  const inside = isObject(session) ? (session as { readonly [INSIDE]?: SessionInside })[INSIDE] : undefined
  if (inside !== undefined) return inside
  throw new SessionError("invalid", `${call}() takes an open session of this package first, not ${shown(session)}.`)
}
