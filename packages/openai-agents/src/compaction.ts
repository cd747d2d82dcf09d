/**
 * Finds the items that a compaction of the SDK has not read. Its `OpenAIResponsesCompactionSession` reads the history, sends it to be compacted, reads it again
 * to be able to restore it, clears the session and adds the output. Its runner, whose model may compact, does the same with a replacement
 * of the history. What was added between the two reads is in neither.
 */
import type { Entry } from "@sessions/core"
import { type History, isQuestion } from "./history.ts"
import { isObject, toItem } from "./items.ts"

interface Mark {
  /** The newest item's entry; null: there was none. */
  readonly end: string | null
  /** Entries that this session object has added since. */
  readonly own: string[]
}

/** An entry behind the last read but one. */
export interface Unread {
  readonly entry: Entry
  /** Whether the session object that reads has added it. */
  readonly isOwn: boolean
}

/** Where a session object has read the history for the last two times. */
export class ReadMarks {
  #before: Mark | undefined
  #last: Mark | undefined

  read(end: string | null): void {
    this.#before = this.#last
    this.#last = { end, own: [] }
  }

  added(ids: readonly string[]): void {
    this.#last?.own.push(...ids)
  }

  get areKnown(): boolean {
    return this.#before !== undefined
  }

  /** The entries of the history that were not there at the last read but one. Undefined: not known, or the history was rewritten since. */
  unread(entries: readonly Entry[]): readonly Unread[] | undefined {
    if (this.#before === undefined) return undefined
    const { end, own } = this.#before
    const index = entries.findIndex(({ id }) => id === end)
    if (end !== null && index < 0) return undefined
    const added = new Set([...own, ...(this.#last?.own ?? [])])
    return entries.slice(index + 1).map((entry) => ({ entry, isOwn: added.has(entry.id) }))
  }
}

export function isCompaction(item: object): boolean {
  return (item as { readonly type?: unknown }).type === "compaction"
}

/**
 * The unread entries that the compaction with these items has not got. Those of others: all of them. An own one may have been added by the
 * compacting session itself, which knows it without a read. The output of `responses.compact` has the user's messages as they were
 * (https://docs.rs/everruns-provider/latest/everruns_provider/openresponses_protocol/struct.CompactRequest.html, 2026-11-28), so from an own
 * question on that the output lacks, the items were not compacted.
 */
export function notCompacted(unread: readonly Unread[], items: readonly object[]): readonly Entry[] {
  const questions = new Set(items.map(questionOf))
  let isBehind = false
  const kept = unread.filter(({ entry, isOwn }) => {
    if (!isOwn) return true
    isBehind ||= isQuestion(entry) && !questions.has(questionOf(toItem(entry)))
    return isBehind
  })
  return kept.map(({ entry }) => entry)
}

/** The text of a message of the user. The SDK writes it as a text or as parts. */
function questionOf(item: object): string | undefined {
  const { role, content } = item as { readonly role?: unknown; readonly content?: unknown }
  if (role !== "user") return undefined
  if (typeof content === "string") return content
  const parts: readonly unknown[] = Array.isArray(content) ? content : []
  return parts.map((part) => (isObject(part) && typeof part["text"] === "string" ? part["text"] : "")).join("")
}

/** The entries of items that are newer than the one that was seen last. */
export function unseen({ entries }: History, seen: string | null | undefined): readonly Entry[] {
  if (seen === null) return entries
  const index = entries.findIndex(({ id }) => id === seen)
  return index < 0 ? [] : entries.slice(index + 1)
}
