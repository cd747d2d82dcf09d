/** The data of the page: what the export embeds and the view shows. JSON; seqs name entries, because a damaged log may repeat an id. */
import type { Diagnostic, Entry, SessionInfo } from "@sessions/core"
import type { Branch } from "@sessions/core/transfer"

/** What providers report of a call. Cost is in their currency. */
export const COUNTS = ["input", "output", "cacheRead", "cacheWrite", "totalTokens", "cost"] as const
export type Count = (typeof COUNTS)[number]
export type Numbers = { readonly [C in Count]?: number }

/** One line of the outline: an entry of the log, on any branch, without its content. */
export interface Row {
  readonly seq: number
  readonly id: string
  /** Seq of the parent; -1 for a root. */
  readonly parent: number
  readonly type: string
  readonly role?: string
  readonly timestamp: string
  /** The start of its text, on one line. */
  readonly text: string
  readonly label?: string
  readonly deleted?: true
  /** `provider/model` of an answer or a reported call. */
  readonly model?: string
  /** The numbers that the provider has reported; a number that is missing is unknown. */
  readonly usage?: Numbers
  /** A model call: an answer, a compaction, or another call that was recorded. */
  readonly call?: true
  /** Of a compaction: the seq of the first entry that stays in the context, and the estimate of the context before it. */
  readonly kept?: number
  readonly tokensBefore?: number
  /** Of an edit, a deletion or a label: the seq of the entry that it is about. */
  readonly target?: number
}

/** An entry with its blobs put in. */
export interface StoredEntry {
  readonly entry: Entry
  /** The stored line, if it differs from the entry as JSON. Null: the log has another version, the line cannot be read, or it was left out. */
  readonly raw?: string | null
}

/** A line that is no entry. */
export interface DamagedLine {
  readonly seq: number
  /** Null if it was left out, because redaction needs a record. */
  readonly raw: string | null
}

export interface ContextRow {
  readonly entryId: string
  readonly kind: string
  readonly role: string
  readonly text: string
  /** Estimated. */
  readonly tokens: number
}

export interface ContextView {
  readonly messages: readonly ContextRow[]
  /** Estimated, with the system prompt of the session. */
  readonly tokens: number
  readonly promptTokens: number
  readonly systemPrompt?: string
  readonly model?: string
  readonly mode: string
  readonly thinkingLevel: string
  /** The compaction that the context begins with. */
  readonly compaction?: string
  readonly diagnostics: readonly Diagnostic[]
}

/** What the page knows of a session without its entries. */
export interface Summary {
  readonly id: string
  readonly info: SessionInfo
  /** The stored header, as text. */
  readonly header: string
  /** Seq of the leaf; -1 before the first entry. */
  readonly leaf: number
  /** Lines of the log, the header included. */
  readonly lines: number
  readonly branches: readonly Branch[]
  readonly diagnostics: readonly Diagnostic[]
  readonly damaged: readonly DamagedLine[]
  /** Sessions of subagents that are in this page. */
  readonly subagents: readonly Subagent[]
  readonly redacted: boolean
}

export interface Subagent {
  readonly id: string
  readonly title: string
  readonly createdAt: string
  /** The entry of the parent that started it, if its header names one. */
  readonly entryId?: string
}
