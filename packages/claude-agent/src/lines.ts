/** Lines of a transcript as entries of a session, and back. */
import type { Entry, NewEntry } from "@sessions/core"
import { StorageError } from "@sessions/core/storage"
import type { SessionStoreEntry } from "./types.ts"

const CUSTOM_TYPE = "claude-code"

/** A line to write. */
export interface FreshLine {
  readonly line: SessionStoreEntry
  /** Id of the entry; undefined for a line without a uuid, which gets one of the session's. */
  readonly id: string | undefined
}

/**
 * An entry of the type `custom` is an annotation, so lines of several processes follow each other in the order of their commits and never
 * branch.
 */
export function toEntry({ line, id }: FreshLine): NewEntry {
  return { type: "custom", customType: CUSTOM_TYPE, data: line, ...(id === undefined ? {} : { id }) }
}

/**
 * Converts as {@link toEntry} does, for a line that is too long for the storage. One text is moved to the blob store, as the many of the line are not.
 * JSON writes lone surrogates as escapes, so the text has none, and UTF-8 can encode it.
 */
export function toTextEntry({ line, id }: FreshLine): NewEntry {
  return { ...toEntry({ line, id }), data: JSON.stringify(line) }
}

export function uuidOf({ uuid }: SessionStoreEntry): string | undefined {
  return typeof uuid === "string" && uuid !== "" ? uuid : undefined
}

/** Undefined for an entry that is no line. */
export function lineOf(entry: Entry): SessionStoreEntry | undefined {
  const { type, customType, data, blobs } = entry as Readonly<Record<string, unknown>>
  if (type !== "custom" || customType !== CUSTOM_TYPE) return undefined
  if (blobs !== undefined) throw missingContentError(entry.id)
  return (typeof data === "string" ? JSON.parse(data) : data) as SessionStoreEntry
}

/** {@link lineOf}, for entries that may be damaged or lack content: undefined then. */
export function lineIn(entry: Entry): SessionStoreEntry | undefined {
  try {
    const line: unknown = lineOf(entry)
    return typeof line === "object" && line !== null ? (line as SessionStoreEntry) : undefined
  } catch {
    return undefined
  }
}

function missingContentError(id: string): StorageError {
  return new StorageError(
    "corrupt",
    `Content of the line ${id} is missing in the blob store; "sessions verify" lists what is missing.`,
  )
}

export interface Title {
  readonly title: string
  readonly source: "user" | "auto"
}

/** The title that a line gives its session. */
export function titleOf({ type, customTitle, aiTitle }: SessionStoreEntry): Title | undefined {
  if (type === "custom-title" && isTitle(customTitle)) return { title: customTitle, source: "user" }
  return type === "ai-title" && isTitle(aiTitle) ? { title: aiTitle, source: "auto" } : undefined
}

function isTitle(value: unknown): value is string {
  return typeof value === "string" && value !== ""
}
