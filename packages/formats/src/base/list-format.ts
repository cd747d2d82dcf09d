/**
 * A format whose file is one JSON document with a list of records: an array, or an object that has the list in a field. The format says which
 * messages its records are, and which records messages become; `list-read.ts` and `list-write.ts` do what all such formats share.
 */
import type { Message, ModelMessage } from "@sessions/core"
import type { CallRules } from "./call-ids.ts"
import type { Losses } from "./losses.ts"
import type { RecordKind } from "./record-types.ts"
import type { FileStart } from "./start.ts"
import type { Fields } from "./values.ts"

export interface ListFormat {
  readonly format: string
  readonly title: string
  /** As that of a `Format`. */
  readonly versions?: string
  /** As `Format.rejects`, given the records at the beginning of the list, and the fields of a document that is an object. */
  rejects(records: readonly Fields[], document: Fields | undefined, start: FileStart): string | undefined
  /** The field of the list in a document that is an object. */
  readonly field: string
  /** Of a document that is an object. */
  factsOf?(document: Fields): DocumentFacts
  /** What a record is that is no message. Default: unknown, so that its text is shown, and no model gets it. */
  kindOf?(record: unknown): RecordKind | "unknown"
  /** The messages of the records, in order. Each record is in one of the parts. */
  read(records: readonly unknown[]): Iterable<RecordMessages>
  /** The records that messages become. `base`: the record that the first of them were read from, whose other fields are kept. */
  write(messages: readonly WrittenMessage[], losses: Losses, base?: Fields): readonly Fields[]
  /** The document around the records. Default: as it was read, or an array. */
  writeDocument?(records: readonly unknown[], parts: DocumentParts): unknown
  /** What the API says of ids and names of calls. New records have none that it refuses. */
  readonly calls?: CallRules
  /** The document has the system messages, not the list. */
  readonly systemIsApart?: boolean
  /** Whether a message belongs into the record of the messages before it, although that was read from a file. */
  readonly joins?: (before: readonly Message[], message: Message) => boolean
  /**
   * `"context"`: a file has the messages that a model would get, repaired so that its API takes them. `"history"`: all messages of the
   * current path, with summaries in their places. `"history-and-context"`: all messages before the last compaction or reset, then what a
   * model gets from there on, with copies of what was kept.
   */
  readonly contents: Contents
}

export type Contents = "context" | "history" | "history-and-context"

export interface DocumentFacts {
  readonly id?: string | undefined
  readonly timestamp?: string | undefined
  readonly header?: Fields
  /** Messages before those of the list. */
  readonly messages?: readonly Fields[]
}

export interface DocumentParts {
  /** The session's id in the file. */
  readonly id: string
  /** The document that was read, without its list. */
  readonly old: Fields | undefined
  /** The document that was read is an array. */
  readonly isArray: boolean
  /** The contents of the system messages, if they are apart; undefined if they are those of `old`. */
  readonly system: readonly ModelMessage[] | undefined
  /** The records that are as they were read; the others are new. */
  readonly restored: ReadonlySet<unknown>
  /** The model of the last assistant message that names one. */
  readonly model: string | undefined
}

/** Records that are one or more messages. Without messages they are kept aside. */
export interface RecordMessages {
  readonly records: readonly unknown[]
  readonly messages: readonly Fields[]
  readonly timestamp?: string | undefined
  /** The place behind a message where the context begins anew: what is before it goes to no model. */
  readonly resetAt?: number
  /** Why the records are no messages, as the end of a sentence that begins with "it"; undefined for records that need not be. */
  readonly problem?: string
}

export interface WrittenMessage {
  /** The id of the entry, and its type if it is no message. */
  readonly id: string
  readonly type?: string
  readonly timestamp: string
  readonly message: ModelMessage
  /** Of a history with its context: the context begins here, because of a compaction or a reset. */
  readonly begins?: true
  /** Of a history with its context: the message is in the file before, too. */
  readonly isCopy?: true
}
