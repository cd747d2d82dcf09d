/** What the session API sends and takes, as types: for the handler and the client. */
import type {
  Attachment,
  Divergence,
  Entry,
  HistoryMessage,
  ModelRef,
  ParentSession,
  SessionEvents,
  SessionInfo,
} from "@sessions/core"

export interface NewSession {
  readonly title?: string
  readonly cwd?: string
  readonly source?: "interactive" | "cron"
  readonly cronJobId?: string
  readonly systemPromptOverride?: string
  readonly parentSession?: ParentSession
  readonly kind?: string
  readonly metadata?: Readonly<Record<string, unknown>>
}

export interface SessionFilter {
  /** 1-200, default 50. */
  readonly limit?: number
  /** `next` of the page before. */
  readonly cursor?: string
  readonly cwd?: string
  readonly source?: "interactive" | "cron"
  /** Id of the parent session. */
  readonly parent?: string
  /** Only sessions of this kind; `""`: only those without one. Default: all. */
  readonly kind?: string
  /** Only sessions whose id starts with this. */
  readonly idPrefix?: string
  /** Only sessions whose metadata has these keys with equal values. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

export interface SessionList {
  readonly sessions: readonly SessionInfo[]
  readonly next?: string
  readonly unreadable: readonly { readonly id: string; readonly error: AnsweredError }[]
}

/** An error as an answer or an event has it. */
export interface AnsweredError {
  readonly code: string
  readonly message: string
}

export interface LoadedSession {
  readonly info: SessionInfo
  /** Oldest first. */
  readonly messages: readonly HistoryMessage[]
  /** Of the page before; missing on the oldest. */
  readonly before?: string
  /** As of this answer: events `after` it miss no line that the messages lack, and no end of a turn. */
  readonly cursor: string
}

/** What a client sends. */
export interface NewPrompt {
  /** A ULID made by the client; the message has it as its id. A repetition with the same content has no further effect. */
  readonly id: string
  readonly text: string
  readonly model?: ModelRef
  /** At most 10. */
  readonly attachments?: readonly Attachment[]
}

export interface PromptAnswer {
  readonly messageId: string
  /** How many prompts are before it; null if its turn has ended already. */
  readonly position: number | null
}

export interface StopAnswer {
  readonly messageId: string
  /** `"queued"`: it left the queue. `"running"`: its turn got the signal. `"ended"`: there was nothing to stop. */
  readonly was: "queued" | "running" | "ended"
}

export interface DeleteAnswer {
  readonly id: string
  readonly parts: number
  readonly bytes: number
  readonly purged: boolean
}

/** A prompt that waits or runs. */
export interface WaitingPrompt {
  readonly messageId: string
  readonly text: string
  readonly model?: ModelRef
  readonly attachments?: readonly Attachment[]
  /** ISO 8601, when the server took it. */
  readonly at: string
}

export interface EndedTurn {
  readonly messageId: string
  /**
   * Why the turn failed: `interrupted` (its server died), `stopped`, a code of `@sessions/core`, or `failed` for any other error. Missing: it
   * ended normally.
   */
  readonly error?: AnsweredError
}

export interface SessionState {
  readonly head: { readonly log: string; readonly next: number }
  readonly leaf: string | null
  readonly running?: WaitingPrompt
  readonly queued: readonly WaitingPrompt[]
  /** The last turns that ended, oldest first, at most 20. */
  readonly ended: readonly EndedTurn[]
  /** Changes with `running`, `queued` and `ended`. */
  readonly queue: string
}

/** The events of a session by their names, with their data. */
export interface SessionEventData {
  /** The first event of each connection. */
  readonly state: SessionState
  /** Lines of the log, of any writer. Replayed from a cursor on. */
  readonly appended: {
    readonly entries: readonly Entry[]
    readonly head: { readonly log: string; readonly next: number }
  }
  readonly queued: WaitingPrompt & { readonly position: number }
  readonly turn_start: { readonly messageId: string }
  /** After the entries of its turn. Replayed from a cursor on, for the last 20 turns. */
  readonly turn_end: EndedTurn
  readonly compact_start: SessionEvents["compact_start"]
  readonly compact_complete: SessionEvents["compact_complete"]
  readonly compact_failed: { readonly kind: string; readonly failures: number; readonly breakerOpen: boolean }
  readonly diverged: Divergence
  /** The log was replaced, by a migration or a new session: load the session again. The events go on from `head`. */
  readonly reset: { readonly head: { readonly log: string; readonly next: number } }
  /** The last event of its stream. */
  readonly deleted: { readonly id: string }
}

export type SessionEventName = keyof SessionEventData

/** One event; `cursor` says to go on after it. */
export type SessionEvent = {
  readonly [Name in SessionEventName]: {
    readonly event: Name
    readonly cursor: string
    readonly data: SessionEventData[Name]
  }
}[SessionEventName]

/** The answer of the events without a stream. */
export interface EventPage {
  readonly events: readonly SessionEvent[]
  /** Pass it as `after`. */
  readonly cursor: string
}
