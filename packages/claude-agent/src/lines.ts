/** Lines of a transcript as entries of a session, and back. */
import { type Entry, hasCode, type NewEntry, type Session, type Sessions } from "@sessions/core"
import { StorageError } from "@sessions/core/storage"
import { partIdOf, TRANSCRIPT, transcriptOf } from "./keys.ts"
import type { SessionStoreEntry } from "./types.ts"

const CUSTOM_TYPE = "claude-code"

/**
 * An entry of the type `custom` is an annotation, so lines of several processes follow each other in the order of their commits and never
 * branch. A `uuid` is the entry's id: it is written once. A line without one gets a new id.
 */
export function toEntry(line: SessionStoreEntry): NewEntry {
  return { type: "custom", customType: CUSTOM_TYPE, data: line, ...withId(line) }
}

/**
 * As {@link toEntry}, for a line that is too long for the storage. One text is moved to the blob store, as the many of the line are not.
 * JSON writes lone surrogates as escapes, so the text has none, and UTF-8 can encode it.
 */
export function toTextEntry(line: SessionStoreEntry): NewEntry {
  return { type: "custom", customType: CUSTOM_TYPE, data: JSON.stringify(line), ...withId(line) }
}

function withId(line: SessionStoreEntry): { readonly id?: string } {
  const uuid = uuidOf(line)
  return uuid === undefined ? {} : { id: uuid }
}

export function uuidOf({ uuid }: SessionStoreEntry): string | undefined {
  return typeof uuid === "string" && uuid !== "" ? uuid : undefined
}

/** Undefined for an entry that is no line. */
export function lineOf(entry: Entry): SessionStoreEntry | undefined {
  const { type, customType, data, blobs } = entry as Readonly<Record<string, unknown>>
  if (type !== "custom" || customType !== CUSTOM_TYPE) return undefined
  if (blobs !== undefined) throw missingContent(entry.id)
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

function missingContent(id: string): StorageError {
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

/**
 * The transcript in a session as the text of a file of JSON lines, in pieces: what `@sessions/formats/claude-code` imports. With its
 * repository, the lines of the further sessions follow in which a transcript goes on that has outgrown one.
 */
export async function* transcriptText(
  session: Pick<Session, "id" | "entries">,
  sessions?: Pick<Sessions, "open">,
): AsyncIterable<string> {
  const read: Read = { uuids: new Set(), transcript: undefined }
  yield* textOf(session, read)
  for (let part = 2; sessions !== undefined; part++) {
    const next = await sessions.open(partIdOf(session.id, part, read.transcript)).catch(undefinedIfMissing)
    if (next === undefined) return
    try {
      yield* textOf(next, read)
    } finally {
      await next.close()
    }
  }
}

/** What was read of a transcript. */
interface Read {
  readonly uuids: Set<string>
  transcript: string | undefined
}

async function* textOf(session: Pick<Session, "entries">, read: Read): AsyncIterable<string> {
  for await (const entry of session.entries()) {
    if (entry.type === "metadata" && entry.key === TRANSCRIPT)
      read.transcript = transcriptOf({ [TRANSCRIPT]: entry.value })
    const line = lineOf(entry)
    if (line === undefined || read.uuids.has(entry.id)) continue
    read.uuids.add(entry.id)
    yield `${JSON.stringify(line)}\n`
  }
}

function undefinedIfMissing(error: unknown): undefined {
  if (!hasCode(error, "not_found")) throw error
}
