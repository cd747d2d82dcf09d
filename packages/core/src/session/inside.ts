/**
 * The ways from a public handle and from a repository to what the other entries of this package need of them. Not public: no entry exports the
 * symbols.
 */
import type { BlobLimits } from "../format/blobs.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import { SessionError } from "../format/errors.ts"
import type { Header } from "../format/header.ts"
import type { Extensions } from "../format/names.ts"
import { isObject } from "../format/shape.ts"
import type { SessionInfo } from "../info/projection.ts"
import type { CallOptions, HeadInfo } from "../storage/contract.ts"
import { shown } from "../storage/options.ts"
import type { CompactionLayers } from "./compaction.ts"
import type { Hooks } from "./hooks.ts"
import type { CompactableSession, ReadableSession } from "./live-types.ts"
import type { OpenOptions } from "./repository-types.ts"
import type { Session } from "./types.ts"

/** The inside of a handle, for compaction and transfer. */
export interface SessionInside {
  readonly live: CompactableSession & {
    readonly diagnostics: readonly Diagnostic[]
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
  /** The caller got this error: a loss of lines is told to each handle once. */
  readonly told: (error: unknown) => void
}

/** The inside of a repository, for transfer. */
export interface SessionsInside {
  readonly options: {
    readonly hooks: readonly Hooks[]
    readonly extensions: Extensions | undefined
    readonly maxSessionBytes: number
    readonly blobs: BlobLimits
    readonly newId: () => string
    readonly now: () => number
  }
  /** Throws `closed`. */
  readonly checkOpen: () => void
  /** Throws `invalid` for a wrong id, and `closed`. */
  readonly check: (id: string) => void
  /** The session of an id if it is open or opening. */
  readonly find: (id: string) => Promise<ReadableSession & Pick<SessionInside["live"], "turns">> | undefined
  /** Opens the session for one use of it. */
  readonly use: (
    id: string,
    o: OpenOptions,
    act: (opened: { readonly live: ReadableSession; readonly handle: Session }) => Promise<unknown>,
  ) => Promise<void>
  /** Writes the pending appends of an open session before its stored log is read. */
  readonly flush: (id: string) => Promise<void>
  /** The information of a session whose head was listed. */
  readonly infoOf: (id: string, head: HeadInfo, o: CallOptions) => Promise<SessionInfo>
  /** Called for each session that was created, into which entries were merged, and that was deleted. */
  readonly created: (id: string, header: Header) => void
  readonly merged: (id: string) => void
  readonly deleted: (id: string) => void
}

/** Properties, so that a proxy of a session or of a repository has them, too. */
export const INSIDE: unique symbol = Symbol("inside")
export const SESSIONS_INSIDE: unique symbol = Symbol("inside of sessions")

/** Throws `invalid` if `call` was given something else than a session of this package. */
export function insideOf(call: string, session: unknown): SessionInside {
  const inside = isObject(session) ? (session as { readonly [INSIDE]?: SessionInside })[INSIDE] : undefined
  if (inside !== undefined) return inside
  throw new SessionError("invalid", `${call}() takes an open session of this package first, not ${shown(session)}.`)
}

/** Throws `invalid` if `call` was given something else than the sessions of `createSessions`, and `closed`. */
export function insideOfSessions(call: string, sessions: unknown): SessionsInside {
  const holder = isObject(sessions) ? (sessions as { readonly [SESSIONS_INSIDE]?: SessionsInside }) : undefined
  const inside = holder?.[SESSIONS_INSIDE]
  if (inside === undefined) {
    throw new SessionError(
      "invalid",
      `${call}() takes what createSessions() has returned first, not ${shown(sessions)}.`,
    )
  }
  inside.checkOpen()
  return inside
}
