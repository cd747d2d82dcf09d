/** Facts that a store knows of a transcript that it has read, so that it writes no line twice. */
import type { Entry } from "@sessions/core"
import { TRANSCRIPT, transcriptOf } from "./keys.ts"
import type { Contents } from "./repeats.ts"
import type { SessionSummaryEntry } from "./types.ts"

/** The metadata key of the summary. */
export const SUMMARY = "claudeSummary"
/** The metadata key in a session that the transcript goes on after: processes that have it open learn of the next one by it. */
export const ENDED = "claudeEnded"

/** Facts about a log that was read whole, and of what was appended since. */
export interface Known {
  /** Ids of the entries of lines. The first line of each uuid has it as its id. */
  readonly ids: Set<string>
  /** Read when a line comes whose uuid is known; undefined until then, and after lines of other processes. */
  contents: Contents | undefined
  readonly titles: { user?: string | null; auto?: string | null }
  /** Its own id, see `partIdOf`. */
  transcript: string | undefined
  summary: SessionSummaryEntry | undefined
  /** Whether the log has a summary, which may be that of another store. */
  hasSummary: boolean
  /** Whether another process has gone on in a further part. */
  isEnded: boolean
}

export function newKnown(): Known {
  return {
    ids: new Set(),
    contents: undefined,
    titles: {},
    transcript: undefined,
    summary: undefined,
    hasSummary: false,
    isEnded: false,
  }
}

/** An entry of the log that was read. */
export function learn(entry: Entry, known: Known): void {
  if (entry.type === "custom") known.ids.add(entry.id)
  if (entry.type === "title_change") known.titles[entry.source === "auto" ? "auto" : "user"] = entry.title
  if (entry.type === "metadata" && entry.key === SUMMARY) known.hasSummary = entry.value !== null
  if (entry.type === "metadata" && entry.key === ENDED) known.isEnded = true
  if (entry.type === "metadata" && entry.key === TRANSCRIPT)
    known.transcript = transcriptOf({ [TRANSCRIPT]: entry.value })
}

/** In bytes of memory, roughly. Without recursion: a line may be nested deeper than the stack. */
export function sizeOf(value: unknown): number {
  const left: unknown[] = [value]
  let size = 0
  while (left.length > 0) {
    const next = left.pop()
    size += typeof next === "string" ? next.length : 8
    if (typeof next !== "object" || next === null) continue
    for (const name in next) {
      size += name.length
      left.push((next as Readonly<Record<string, unknown>>)[name])
    }
  }
  return size
}
