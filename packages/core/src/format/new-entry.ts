/**
 * The entries that `append` accepts. They have no `parentId` and `seq`, which the session sets, and their contents may be strings instead
 * of blocks.
 */
import type { ContentBlock, Message } from "./message.ts"
import type { ContextEditEntry, CustomMessageEntry, KnownEntry, MessageEntry, UnknownEntry } from "./entry.ts"

/** A string is the same as one text block. */
export type NewContent = string | readonly ContentBlock[]

/** The fields that all entries share: a caller may set `id` and `timestamp`; the session sets the others. */
export interface NewEntryBase {
  /** Makes `append` idempotent: an entry whose id is already in the session is not written again. Default: a new ULID. */
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

/** A new entry after its checks: its contents are blocks. The session still sets id, parentId, seq and timestamp. */
export type EntryPayload = KnownEntry | UnknownEntry extends infer E
  ? E extends KnownEntry | UnknownEntry
    ? Payload<E> & NewEntryBase
    : never
  : never

/** The fields of an entry's type. `Omit` would drop the named fields of types with an index signature. */
type Payload<E, Also extends string = never> = {
  [K in keyof E as K extends "id" | "parentId" | "seq" | "timestamp" | "blobs" | Also ? never : K]: E[K]
}

type WithNewContent<M> = { [K in keyof M]: K extends "content" ? NewContent | Extract<M[K], undefined> : M[K] }
