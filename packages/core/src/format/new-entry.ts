/**
 * What a caller hands to `append`: an entry without what the session gives it (parentId, seq), whose contents may be bare strings.
 */
import type { ContentBlock, Message } from "./messages.ts"
import type { ContextEditEntry, CustomMessageEntry, KnownEntry, MessageEntry, UnknownEntry } from "./records.ts"

/** A bare string stands for one text block. */
export type NewContent = string | readonly ContentBlock[]

/** What a caller may say, and may not, of the fields that all entries have. */
export interface NewEntryBase {
  /** Makes a repeated append harmless: an id that the session has already is not written again. Default: a new ULID. */
  readonly id?: string
  /** ISO 8601. Default: now. */
  readonly timestamp?: string
  readonly parentId?: never
  readonly seq?: never
  readonly blobs?: never
}

export type NewMessage = Message extends infer M ? (M extends Message ? WithNewContent<M> : never) : never

export type NewMessageEntry = Payload<MessageEntry, "message"> & NewEntryBase & { readonly message: NewMessage }

export type NewCustomMessageEntry = Payload<CustomMessageEntry, "content"> &
  NewEntryBase & { readonly content: NewContent }

export type NewContextEditEntry = Payload<ContextEditEntry, "replacement"> &
  NewEntryBase & {
    readonly replacement: null | { readonly content: NewContent; readonly [key: string]: unknown }
  }

type OtherEntry = Exclude<KnownEntry, MessageEntry | CustomMessageEntry | ContextEditEntry>
type NewOtherEntry = OtherEntry extends infer E ? (E extends OtherEntry ? Payload<E> & NewEntryBase : never) : never

/** An entry of a type that this version does not know. */
export type NewUnknownEntry = Payload<UnknownEntry> & NewEntryBase

export type NewEntry = NewMessageEntry | NewCustomMessageEntry | NewContextEditEntry | NewOtherEntry | NewUnknownEntry

/** A new entry that was checked: whole blocks, a known shape. What is left for the session is id, parentId, seq, timestamp. */
export type EntryPayload = KnownEntry | UnknownEntry extends infer E
  ? E extends KnownEntry | UnknownEntry
    ? Payload<E> & NewEntryBase
    : never
  : never

/** An entry's own fields; written so that the fields named beside the index signature stay. */
type Payload<E, Also extends string = never> = {
  [K in keyof E as K extends "id" | "parentId" | "seq" | "timestamp" | "blobs" | Also ? never : K]: E[K]
}

type WithNewContent<M> = { [K in keyof M]: K extends "content" ? NewContent | Extract<M[K], undefined> : M[K] }
