/** The public interface of extraction: `Recall`, its options and its results. */
import type { Session } from "@sessions/core"
import type { Summarize } from "@sessions/core/compaction"
import type { CallOptions } from "@sessions/core/storage"
import type { Gate } from "./extraction/conversation.ts"
import type { DroppedFact } from "./facts/answer.ts"
import type { Fact, FactCategory } from "./facts/fact.ts"
import type { MemoryStore } from "./files/types.ts"

export interface RecallOptions {
  readonly files: MemoryStore
  /**
   * The name of what the memory belongs to, usually the folder that the sessions work in (`session.header.cwd`). The facts of one scope never reach
   * another: give each session to the recall of its own scope.
   */
  readonly scope: string
  /**
   * Calls the caller's model, as the `summarize` of compaction does. Its answer is a JSON array of facts. Without it, `extract` and
   * `afterTurn` are `invalid`.
   */
  readonly ask?: Summarize
  /** The file for the facts of a category. Default: `MEMORY.md` for all. */
  readonly target?: (category: FactCategory) => string
  /** Facts below are dropped. 0 to 1, default 0. */
  readonly minConfidence?: number
  /** Messages that the leaf's path must have. Default 20. */
  readonly minMessages?: number
  /**
   * Tool calls since the last extraction of the session, or since its beginning. 0, for chats without tools: whenever there is a new
   * message. Default 3.
   */
  readonly minToolCalls?: number
  /**
   * Whether the model sees the results of tools. Default false: text of a web page or a file could otherwise become a fact, and so a part
   * of the system prompt.
   */
  readonly toolResults?: boolean
  /** The model's context window in tokens. A longer conversation takes several requests. Default 200,000. */
  readonly window?: number
  /** The `maxTokens` of a request. Default 4,096. */
  readonly maxTokens?: number
  /** Milliseconds for each request. Default 300,000. */
  readonly timeout?: number
  /** Milliseconds since the epoch; default `Date.now`. */
  readonly now?: () => number
}

/** The memory of one scope: facts of its sessions, and their text for a system prompt. */
export interface Recall {
  /** Whether all gates are open, and extraction of this session is neither running nor stopped. Asks no model. */
  shouldExtract(session: Session, o?: CallOptions): Promise<boolean>
  /**
   * Asks the model for the facts of the messages since the last extraction of the session, and adds those that are not known to the memory
   * files. Writes the facts, then the progress and the usage into the session. So after a crash nothing is lost: the same messages may be
   * read again, and facts that are known by then are not written twice.
   *
   * One extraction of a session at a time, in this object. Rejects with `extraction_failed`, `aborted`, and the errors of the storages;
   * what earlier requests of the same call have found stays written.
   */
  extract(session: Session, o?: ExtractOptions): Promise<Extraction>
  /**
   * Call it after each turn: extracts in the background, if the gates are open, with at most one request to the model. Never throws; a
   * failure is the event `failed`. After three failures in a row the session is skipped until `reset`, or until `extract` succeeds.
   */
  afterTurn(session: Session): void
  /** Resolves when the work of all earlier `afterTurn` calls has ended. Await it before the sessions are closed. */
  settled(): Promise<void>
  /**
   * `MEMORY.md` and the targets of the categories, for a system prompt: in a `<memory>` block, with every `<` escaped. Empty if there is
   * nothing.
   */
  text(o?: CallOptions): Promise<string>
  /**
   * Removes the facts below the heading in all files of the scope; everything else in these files stays. `all`: deletes all memory files of
   * the scope and the time of its last consolidation. What sessions have said before is not extracted again.
   */
  clear(o?: CallOptions & { readonly all?: boolean }): Promise<Cleared>
  status(sessionId: string): ExtractionStatus
  /** Lets extraction of a session run again after three failures. */
  reset(sessionId: string): void
  /** Calls the listener for each event until the returned function is called. What a listener throws is ignored. */
  on<K extends keyof RecallEvents>(event: K, listener: (event: RecallEvents[K]) => void): () => void
}

export interface ExtractOptions extends CallOptions {
  /** Ignores the gates and earlier failures. Default false. */
  readonly force?: boolean
}

export interface Extraction {
  /** Why the model was not asked; `nothing_new` only with `force`. */
  readonly skipped?: Gate | "running" | "stopped" | "nothing_new"
  /** Those that were written. */
  readonly facts: readonly Fact[]
  /** Facts of the answer that were known already. */
  readonly known: number
  readonly dropped: readonly DroppedFact[]
}

export interface Cleared {
  /** Facts that were removed; with `all` those of deleted files do not count. */
  readonly facts: number
  /** Names of the deleted files. */
  readonly files: readonly string[]
}

export interface ExtractionStatus {
  readonly running: boolean
  /** Consecutive failures. */
  readonly failures: number
  /** After three failures. */
  readonly stopped: boolean
}

export interface RecallEvents {
  extracted: Extraction & { readonly session: string }
  /** Also of `extract`, which rejects with the same error. */
  failed: { readonly session: string; readonly error: unknown } & Omit<ExtractionStatus, "running">
}
