/**
 * The entries that `append` accepts, and their checks. They have no `parentId` and `seq`, which the session sets, and their contents may be
 * strings instead of blocks.
 */
import type {
  ContextEditEntry,
  CustomMessageEntry,
  Entry,
  KnownEntry,
  MessageEntry,
  AnyOwnEntry,
  OwnEntry,
  UnknownEntry,
} from "./entry.ts"
import { payloadProblem } from "./entry-problems.ts"
import { SessionError } from "./errors.ts"
import { type Extensions, nameProblem } from "./names.ts"
import type { ContentBlock, Message, ToolResultMessage } from "./message.ts"
import { type Fields, isObject } from "./shape.ts"
import { DATE_TIME } from "./timestamp.ts"

/** A string is the same as one text block. */
export type NewContent = string | readonly ContentBlock[]

/** The fields that all entries share: a caller may set `id` and `timestamp`; the session sets the others. */
export interface NewEntryBase {
  /**
   * Makes `append` idempotent: an entry whose id is already in the session is not written again, and is refused with `exists` if its
   * content differs. Best a ULID, since its time limits how far back the log is searched. Default: a new ULID, which is not looked for.
   */
  readonly id?: string
  /** ISO 8601. Default: now. */
  readonly timestamp?: string
  readonly parentId?: never
  readonly seq?: never
  readonly writtenAt?: never
  readonly blobs?: never
}

export type NewMessage = WithNewContent<Exclude<Message, ToolResultMessage>> | NewToolResult

/** `isError` is false by default. */
type NewToolResult = Payload<WithNewContent<ToolResultMessage>, "isError"> & { readonly isError?: boolean }

export type NewMessageEntry = Payload<MessageEntry, "message"> & NewEntryBase & { readonly message: NewMessage }

export type NewCustomMessageEntry = Payload<CustomMessageEntry, "content"> &
  NewEntryBase & { readonly content: NewContent }

export type NewContextEditEntry = Payload<ContextEditEntry, "replacement"> &
  NewEntryBase & {
    readonly replacement: null | { readonly content: NewContent; readonly [key: string]: unknown }
  }

type NewOtherEntry = Payload<Exclude<KnownEntry, MessageEntry | CustomMessageEntry | ContextEditEntry>> & NewEntryBase

/** An entry of a type with a namespace, or one that the repository names in `extensions`. */
export type NewUnknownEntry = Payload<UnknownEntry> & NewEntryBase

export type NewEntry<Own extends OwnEntry = AnyOwnEntry> =
  | NewMessageEntry
  | NewCustomMessageEntry
  | NewContextEditEntry
  | NewOtherEntry
  | NewOwnEntry<Own>

/** One object type for each type of the union. An intersection with an interface could not be assigned to {@link NewUnknownEntry}. */
type NewOwnEntry<Own> = Own extends unknown ? { [K in keyof (NewEntryBase & Own)]: (NewEntryBase & Own)[K] } : never

/** A new entry after its checks: its contents are blocks. The session still sets id, parentId, seq and timestamp. */
export type EntryPayload = Payload<KnownEntry | UnknownEntry> & NewEntryBase

/** The fields of an entry's type, for each type of a union. `Omit` would drop the named fields of types with an index signature. */
type Payload<E, Also extends string = never> = {
  [K in keyof E as K extends "id" | "parentId" | "seq" | "timestamp" | "writtenAt" | "blobs" | Also ? never : K]: E[K]
}

type WithNewContent<M> = { [K in keyof M]: K extends "content" ? NewContent | Extract<M[K], undefined> : M[K] }

/** The fields that a session assigns to every entry. */
export interface EntryPlace {
  readonly id: string
  readonly parentId: string | null
  readonly seq: number
  readonly timestamp: string
}

/**
 * Checks a new entry, turns string contents into text blocks and gives a result without `isError` the value false; the input is not
 * modified. Throws `invalid`, with the field, for a wrong shape, for more attachments than a message may have, for fields that only the
 * session assigns, and for an unknown entry type, role or block type, with the right name.
 */
export function normalizeNewEntry(input: NewEntry, extensions?: Extensions): EntryPayload {
  const payload = normalizeWithAnyNames(input)
  const problem = nameProblem(payload, extensions)
  if (problem !== undefined) throw refusedError(problem)
  return payload
}

const GIVEN = ["parentId", "seq", "writtenAt", "blobs"] as const

/** {@link normalizeNewEntry} with any entry type, roles and block types. */
export function normalizeWithAnyNames(input: NewEntry): EntryPayload {
  if (!isObject(input)) throw refusedError("The entry must be an object.")
  const { id, timestamp } = input as Fields
  for (const field of GIVEN) {
    if (input[field] !== undefined) throw refusedError(`${field} is given by the session and must not be set.`)
  }
  if (id !== undefined && (typeof id !== "string" || id === ""))
    throw refusedError("id must be a string that is not empty.")
  if (timestamp !== undefined && !isTimestamp(timestamp)) {
    throw refusedError(
      "timestamp must be an ISO 8601 date and time with a time zone, such as 2026-01-31T09:30:00.000Z.",
    )
  }
  if (input["type"] === undefined && typeof input["role"] === "string")
    throw refusedError(`a message is a field of its entry: { type: "message", message: { role: … } }.`)
  const payload = withBlocks(input)
  const problem = payloadProblem(payload)
  if (problem !== undefined) throw refusedError(problem.replace("an array of blocks", "a text or an array of blocks"))
  return payload as EntryPayload
}

/** The complete entry, with its keys in the order of a line. */
export function placeEntry(payload: EntryPayload, place: EntryPlace): Entry {
  const { id, parentId, seq, timestamp } = place
  const entry = { type: payload.type, id, parentId, seq, timestamp, ...(payload as object) } as Entry
  // A payload may have these fields as undefined.
  const isPlaced = entry.id === id && entry.parentId === parentId && entry.seq === seq && entry.timestamp === timestamp
  return isPlaced ? entry : Object.assign(entry, place)
}

function isTimestamp(value: unknown): boolean {
  return typeof value === "string" && DATE_TIME.exec(value)?.[1] !== undefined && !Number.isNaN(Date.parse(value))
}

function withBlocks(entry: Fields): Fields {
  if (entry["type"] === "message") return withDefaults(withBlocksAt(entry, "message"))
  if (entry["type"] === "context_edit") return withBlocksAt(entry, "replacement")
  return entry["type"] === "custom_message" ? withTextBlock(entry) : entry
}

function withDefaults(entry: Fields): Fields {
  const message = entry["message"] as Fields | undefined
  if (message?.["role"] !== "toolResult" || message["isError"] !== undefined) return entry
  return { ...entry, message: { ...message, isError: false } }
}

function withBlocksAt(entry: Fields, key: string): Fields {
  const holder = entry[key]
  if (!isObject(holder) || typeof holder["content"] !== "string") return entry
  return { ...entry, [key]: withTextBlock(holder) }
}

/** The holder with a text block as its content, if that is a string. */
export function withTextBlock<T extends Fields>(holder: T): T {
  const { content } = holder
  return typeof content === "string" ? { ...holder, content: [{ type: "text", text: content }] } : holder
}

function refusedError(problem: string): SessionError {
  return new SessionError("invalid", `The entry was not appended: ${problem}`)
}
