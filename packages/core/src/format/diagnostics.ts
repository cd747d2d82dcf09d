/**
 * Findings about a log or a context that a person may want to know. Damage is never skipped silently: each finding has a code and a
 * sentence, and its position in the log if it has one.
 */
export type DiagnosticCode =
  /** Bytes after the last complete line, as of an interrupted write. Ignored; moved aside and cut off before the next append. */
  | "torn_tail"
  /** A line that is not UTF-8, not JSON, or not a record. It stays in the log and is skipped. */
  | "unparsable_line"
  /** An entry with the id of an earlier entry. A reference to the id means the nearest entry before the reference. */
  | "duplicate_id"
  /** An entry's `seq` is not its line number. The line number is used. */
  | "seq_mismatch"
  /** No entry has the id in `parentId`. The preceding entry of the log is used as the parent. */
  | "missing_parent"
  /** The only entry with the referenced id is later in the log. Treated as missing. */
  | "forward_reference"
  /** The target of a tombstone, edit, label or leaf is missing. */
  | "missing_target"
  /** The first kept entry of a compaction is missing or not on its path. The context begins with the compaction. */
  | "missing_first_kept"
  /** The log has branches off the path of the leaf that no writer left knowingly: several continued the session at the same time. */
  | "diverged"
  /** Two logs that were merged both have the start of a tool call: it may have run twice. */
  | "started_twice"
  /** The log has a version or a format that this program does not know. It opens for reading only. */
  | "unknown_version"
  /** A blob is not in the store, and its reference stays in the entry; or it did not come with an imported file, and its reference was removed. */
  | "missing_blob"
  /** The log has fewer lines than its header says (`origin.lines`): an import, fork or copy was interrupted. */
  | "incomplete"
  /** The metadata have more keys or bytes than a session takes. They are read all the same. */
  | "much_metadata"
  /** A record has more than an append takes, such as deeper values. It is read all the same, and an import has shortened it. */
  | "beyond_limit"
  /** The state stored in an entry differs from the state computed from its path. */
  | "state_mismatch"
  /** Calls and results did not match, or a provider would refuse a block or a message. Repaired in the context, not in the log. */
  | "repaired"
  /** Automatic compaction failed; the message says why. */
  | "compaction_failed"
  /** The storage does not answer `follow()`, which goes on trying. Removed when it answers, and when the follow ends. */
  | "not_followed"
  /** A message of an unknown role, without content, cannot be sent to a model. Left out of the context. */
  | "left_out"
  /** The context window of the current model is not known, and 200,000 tokens are assumed. */
  | "unknown_window"
  /** Messages of the context have a role or blocks of a type that no provider knows. The context has them all the same. */
  | "unknown_name"
  /** The context is larger than the given window; the message names the largest parts. */
  | "does_not_fit"
  /** A message is cut in the context, or several (`entries`) are left out: the model has refused a context with all of them. */
  | "shortened"
  /** A summary of the context still says what was deleted or edited after it was made: `entries`. `compact(session, { anew: true })` makes it anew. */
  | "summarized"
  /** The context ends with at least three equal tool calls, with the same arguments. */
  | "repeated_call"
  /** A tool call that was started has a result of another run: its outcome was found out later, or it may have run twice. */
  | "foreign_result"
  /** A record, or a value in it, does not have the shape of its type. It stays in the log. */
  | "invalid_record"

export interface Diagnostic {
  readonly code: DiagnosticCode
  /** A sentence for people. */
  readonly message: string
  /** The line number in the log, from 0. */
  readonly seq?: number
  readonly entryId?: string
  /** With `summarized`: the ids of the deleted and edited entries, in the order of the log. With `shortened`: those that are left out. */
  readonly entries?: readonly string[]
  /** With `torn_tail`: the number of bytes. */
  readonly bytes?: number
  /** With `diverged`: the leaf (null after `resetLeaf`), and the last message of the newest other branch. */
  readonly leaf?: string | null
  readonly otherLeaf?: string
  /** With `diverged`: the last messages of the other branches, newest first. Up to `more` older ones are not named. */
  readonly tips?: readonly { readonly seq: number; readonly id: string }[]
  readonly more?: number
}

/** Receives the diagnostics of a reading, in the order in which they are found. */
export type Report = (diagnostic: Diagnostic) => void
