/**
 * What reading a log found that a person may want to know. Nothing that is damaged disappears silently: each finding has a code,
 * a place and a sentence.
 */
export type DiagnosticCode =
  /** Bytes after the last whole line. Ignored; set aside and cut before the next append. */
  | "torn_tail"
  /** A line that is not JSON, or not a record. Kept in the log, skipped. */
  | "unparsable_line"
  /** An id that an earlier entry has. A reference means the nearest one before it. */
  | "duplicate_id"
  /** `seq` is not the line's place. The place counts. */
  | "seq_mismatch"
  /** No entry of the log has the parent's id. The path is bridged to the entry before it in the log. */
  | "missing_parent"
  /** The only entry with that id stands later in the log. Treated as missing. */
  | "forward_reference"
  /** A tombstone, edit, label or leaf whose target is missing. */
  | "missing_target"
  /** A compaction whose first kept entry is missing or not on its path. Nothing before the compaction is kept. */
  | "missing_first_kept"
  /** Two writers appended at once: the log has a second leaf that is as new as this one. */
  | "diverged"
  /** The log is of a version, or of a format, that this program does not know. It opens for reading only. */
  | "unknown_version"
  | "missing_blob"
  /** Fewer lines than the header's `origin.lines` says. */
  | "incomplete"
  /** A compaction's stored state is not what its path folds to. */
  | "state_mismatch"
  /** The context did not pair tool calls and results; the view was repaired. */
  | "repaired"
  /** The session is too long, and was not compacted by itself: the sentence says why. */
  | "compaction_failed"
  /** A message that no model can get and that has no rule. Left out of the context. */
  | "left_out"
  /** The context is larger than the window that was given; the sentence says what takes the room. */
  | "does_not_fit"
  /** The context ends in the same tool call, with the same arguments, three times in a row or more. */
  | "repeated_call"
  /** An image, a string or a record that does not have the shape that its type asks for. Kept. */
  | "invalid_record"

export interface Diagnostic {
  readonly code: DiagnosticCode
  /** A sentence for people. */
  readonly message: string
  /** The line's place in its log. */
  readonly seq?: number
  readonly entryId?: string
  /** With `torn_tail`: how many bytes. */
  readonly bytes?: number
  /** With `diverged`. */
  readonly leaf?: string
  readonly otherLeaf?: string
}
