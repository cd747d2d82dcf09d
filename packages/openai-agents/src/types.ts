/**
 * The types of the OpenAI Agents SDK that this package implements, by their structure, so that it needs no copy of the SDK. They are
 * checked against the SDK's own in `test/types.test.ts`.
 */

import type { Sessions } from "@sessions/core"

export interface AgentSessionOptions {
  /** The repository. It stays open when the session is closed. */
  readonly sessions: Sessions
  /** Any text; the same in every process. Default: a new ULID. */
  readonly sessionId?: string
  /** Metadata of a log that is created, such as the user, by which `listAgentSessions` can filter. */
  readonly metadata?: Readonly<Record<string, unknown>>
  /** Called in each run for each item that its model does not get, such as a call without a result. Default: none is reported. */
  readonly onRepair?: (repair: AgentRepair) => void
  /**
   * The API of the model in the next run, whose rules the items are fitted to: `"chat_completions"` stands for models of `aisdk()`, too. Say it if the last
   * answer came from the other one. Default: that of the last answer.
   */
  readonly api?: "responses" | "chat_completions"
  /**
   * Whether OpenAI stores the answers, as the model settings of the agents say with their own `store`. True, the default: reasoning without its encrypted
   * content is sent, which OpenAI finds in its store for 30 days. False, or another organization made it: it is left out.
   */
  readonly store?: boolean
}

/** An item that a model does not get. It stays in the history. */
export interface AgentRepair {
  readonly sessionId: string
  /** The item as `getItems` gives it. */
  readonly item: object
  /** The item that was left out, and how to change it for good. */
  readonly message: string
}

/** One change of the history that is applied as a whole, or not at all. */
export type HistoryTransaction<Item> =
  | { readonly type: "append_items"; readonly items: readonly Item[] }
  | { readonly type: "replace_suffix"; readonly expectedSuffix: readonly Item[]; readonly replacement: readonly Item[] }

export interface HistoryTransactionArgs<Item> {
  /** Not empty; the same when the transaction is repeated. */
  readonly operationId: string
  readonly transaction: HistoryTransaction<Item>
}

/** Replaces the first function call with this id, and drops further ones. */
export interface HistoryMutation {
  readonly type: "replace_function_call"
  readonly callId: string
  readonly replacement: object
}

/** The items that a session takes. */
type Given<Item extends object> = [Item] extends [never] ? object : Item

/**
 * A `Session` of the OpenAI Agents SDK: the option `session` of `run`. Every change is one append to the log, so it is there as a whole or
 * not at all, also after a crash, and other processes see it with their next call. Errors are those of `@sessions/core`, by `code`.
 *
 * `Item` is the SDK's `AgentInputItem`, which this package does not import: give it to look at the items that a session returns. Without it
 * the session fits the SDK's types too, takes any items, and those that it returns have no type.
 */
export interface AgentSession<Item extends object = never> extends AsyncDisposable {
  /** The id that the session was created with. */
  getSessionId(): Promise<string>
  /** The newest `limit` items, oldest first; all without a limit, none for 0 or less. A session that is not stored has no items. */
  getItems(limit?: number): Promise<Item[]>
  /**
   * The runner calls it for each item of the history that its model is to get. A call without a result, of a kind that the runner itself
   * does not leave out, becomes one that it does; other items come back as they are.
   */
  prepareHistoryItemForModelInput(item: Given<Item>): Item
  /**
   * Appends the items behind all others, those that other processes have added meanwhile included. `invalid` for a value that JSON cannot
   * hold; a `Uint8Array` and undefined properties are allowed. If it rejects with `indeterminate`, a repeated call with equal items
   * does not add them twice.
   */
  addItems(items: readonly Given<Item>[]): Promise<void>
  /** Takes the newest item back and returns it. It stays in the log, on a branch that was left. */
  popItem(): Promise<Item | undefined>
  /**
   * Empties the history and forgets the operation ids of transactions. The items stay in the log, on a branch that was left. If the next call
   * adds a compaction, items that it has not got are kept behind it.
   */
  clearSession(): Promise<void>
  /**
   * Replaces the history by these items: a compaction and what follows it. Items that others have added since this object's last read but one
   * are kept behind them, since the runner reads the history once more before it stores a run; since its last read or write, if there
   * was one read only.
   */
  replaceHistoryWithCompaction(items: readonly Given<Item>[]): Promise<void>
  /**
   * Applies the transaction once: a call with an operation id that was applied does nothing. `exists` if it was applied with another
   * transaction, `conflict` if the history does not end in `expectedSuffix`, `invalid` for other arguments; then nothing is changed.
   */
  applyHistoryTransaction(args: HistoryTransactionArgs<Given<Item>>): Promise<void>
  /** Replaces function calls. Writes nothing if the history has none of them. */
  applyHistoryMutations(args: { readonly mutations: readonly HistoryMutation[] }): Promise<void>
  /** Waits for running calls and closes the log; later calls reject with `closed`. */
  close(): Promise<void>
}
