/** The public interface of a prompt history. */

export interface HistoryOptions {
  /**
   * Changes a prompt before it is stored, for example to remove keys; an empty result is not stored. A prompt for which it throws is not
   * stored, and the error is reported.
   */
  readonly redact?: (prompt: string) => string
  /**
   * Gets the failures of {@link PromptHistory.add}; what it throws is ignored. Without it the next `flush` or `close` rejects with the first
   * failure.
   */
  readonly onError?: (error: unknown) => void
}

export interface StoredPrompt {
  /** Grows with each new prompt of the history; never used again. */
  readonly id: number
  readonly prompt: string
  /** When it was added, ISO 8601, to the second. */
  readonly at: string
  /** The folder it was typed in. */
  readonly cwd?: string
}

export interface AddOptions {
  readonly cwd?: string
}

export interface SearchOptions {
  /** At least 1, default 100; more than 1,000 is taken as 1,000. */
  readonly limit?: number
  /** Only prompts that were typed in exactly this folder. */
  readonly cwd?: string
}

export interface RecentOptions extends SearchOptions {
  /** Only prompts before the one with this id: the last one of the previous page. */
  readonly before?: number
}

export interface ClearOptions {
  /** Only prompts that were added before this time. Default: all. */
  readonly olderThan?: Date
}

/**
 * The prompts that people typed, over all sessions. Independent of the logs: deleting a session leaves its prompts here, and the reverse.
 *
 * Every call sees what was added and deleted before it. All calls but `add` reject with `invalid` for wrong arguments, `closed` after
 * `close`, and the errors of the database: `unavailable` if it is locked for 5 s or cannot be reached, `quota`, `corrupt`, `unsupported`.
 */
export interface PromptHistory extends AsyncDisposable {
  /**
   * Stores a prompt. Returns at once and never throws: the prompt is stored after the current tick, and failures go to `onError`. A crash
   * loses at most the prompts that were added after the last {@link flush}.
   *
   * White space at both ends and NUL are removed. Not stored: an empty prompt, one that begins with a space, and one that is equal to the
   * last stored prompt, of whichever process and folder.
   */
  add(prompt: string, o?: AddOptions): void
  /** The newest prompts, newest first. */
  recent(o?: RecentOptions): Promise<readonly StoredPrompt[]>
  /**
   * The prompts that have all words of `text`, newest first. A word of `text` matches the start of a word of the prompt; case and
   * diacritics do not matter. Words of a prompt are runs of letters and digits, so `foo.bar` matches `foo` directly before a word that
   * begins with `bar`, and Chinese or Japanese text from the start of a run. No character has a meaning of its own. A `text` without
   * letters and digits is {@link recent}.
   */
  search(text: string, o?: SearchOptions): Promise<readonly StoredPrompt[]>
  /** Deletes a prompt. Returns whether there was one. */
  delete(id: number): Promise<boolean>
  /** Deletes all prompts, or the older ones. Returns how many. After a crash some of them may be left: call it again. */
  clear(o?: ClearOptions): Promise<number>
  /** Resolves when everything that was added before is stored, or was reported to `onError`. */
  flush(): Promise<void>
  /** Flushes and closes the database. A repeated call has no effect. */
  close(): Promise<void>
}

/** Where a history keeps its prompts. The calls are made one after the other, but for `recent` and `search`. */
export interface PromptStore {
  /** In one transaction: all of them, or an error. Leaves out a prompt that is equal to the newest one. */
  insert(prompts: readonly NewPrompt[]): Promise<void>
  recent(o: Page): Promise<readonly StoredPrompt[]>
  search(words: Words, o: Page): Promise<readonly StoredPrompt[]>
  delete(id: number): Promise<boolean>
  /** Those that were added before this unix second; all if it is undefined. */
  clear(before: number | undefined): Promise<number>
  close(): Promise<void>
}

export interface NewPrompt {
  readonly prompt: string
  /** Unix seconds. */
  readonly at: number
  readonly cwd: string | undefined
}

export interface Page {
  readonly limit: number
  readonly cwd: string | undefined
  readonly before?: number | undefined
}

/** The words of a search, each as `" word"` or, for a word like `foo.bar`, `" foo bar"`; at least one. */
export type Words = readonly string[]
