/** A history over a {@link PromptStore}: checks of arguments, preparation of prompts, and the order of writes. */
import { checkOptions, type OptionNames, StorageError } from "@sessions/core/storage"
import type {
  AddOptions,
  ClearOptions,
  HistoryOptions,
  NewPrompt,
  PromptHistory,
  PromptStore,
  RecentOptions,
  SearchOptions,
} from "./types.ts"
import { toWords } from "./words.ts"

/** The names of the options that all histories have. */
export const HISTORY_OPTIONS: OptionNames<HistoryOptions> = { redact: true, onError: true }
const ADD: OptionNames<AddOptions> = { cwd: true }
const SEARCH: OptionNames<SearchOptions> = { limit: true, cwd: true }
const RECENT: OptionNames<RecentOptions> = { ...SEARCH, before: true }
const CLEAR: OptionNames<ClearOptions> = { olderThan: true }

const DEFAULT_LIMIT = 100
const MOST = 1_000

/** Throws `invalid` for wrong values of the options. */
export function createHistory(call: string, store: PromptStore, { redact, onError }: HistoryOptions): PromptHistory {
  for (const [name, value] of Object.entries({ redact, onError })) {
    if (value !== undefined && typeof value !== "function")
      throw invalidError(`${call}: \`${name}\` must be a function.`)
  }
  /** Prompts that are added until the next write begins or is called for. */
  let batch: NewPrompt[] | undefined
  /** Settles when the last write has ended. Never rejects. */
  let last: Promise<unknown> = Promise.resolve()
  /** The first one that was not reported. */
  let failure: { readonly error: unknown } | undefined
  let closing: Promise<void> | undefined

  function report(error: unknown): void {
    if (onError === undefined) failure ??= { error }
    else {
      try {
        onError(error)
      } catch {
        // The turn that added the prompt is over.
      }
    }
  }

  function throwFailure(): void {
    const found = failure
    failure = undefined
    if (found !== undefined) throw found.error
  }

  function insertLater(prompt: NewPrompt): void {
    if (batch !== undefined) {
      batch.push(prompt)
      return
    }
    const own = [prompt]
    batch = own
    last = last.then(nextTask).then(() => {
      if (batch === own) batch = undefined
      return insert(own)
    })
  }

  async function insert(added: readonly NewPrompt[]): Promise<void> {
    const prompts = added.flatMap(prepare)
    try {
      if (prompts.length > 0) await store.insert(prompts)
    } catch (error) {
      report(error)
    }
  }

  function prepare(added: NewPrompt): NewPrompt[] {
    try {
      const prompt = toStored(redact === undefined ? added.prompt : redact(added.prompt))
      return prompt === "" ? [] : [{ ...added, prompt }]
    } catch (error) {
      report(error)
      return []
    }
  }

  function checkOpen(): void {
    if (closing !== undefined) throw new StorageError("closed", "The history is closed: create another one.")
  }

  /** Runs after the writes before it, and before what is added later. */
  function inOrder<T>(work: () => Promise<T>): Promise<T> {
    batch = undefined
    const done = last.then(work)
    last = done.catch(() => undefined)
    return done
  }

  const history: PromptHistory = {
    add(prompt, o = {}) {
      try {
        checkOpen()
        checkOptions("add", o, ADD)
        const cwd = checkCwd(o.cwd)
        if (typeof prompt !== "string") throw invalidError("`prompt` must be a string.")
        const text = prompt.startsWith(" ") ? "" : toStored(prompt)
        if (text === "") return
        insertLater({ prompt: text, at: Math.floor(Date.now() / 1000), cwd })
      } catch (error) {
        report(error)
      }
    },
    async recent(o = {}) {
      checkOpen()
      checkOptions("recent", o, RECENT)
      const page = { limit: checkLimit(o.limit), cwd: checkCwd(o.cwd), before: checkId("before", o.before) }
      await last
      return store.recent(page)
    },
    async search(text, o = {}) {
      checkOpen()
      if (typeof text !== "string") throw invalidError("search takes a string.")
      checkOptions("search", o, SEARCH)
      const page = { limit: checkLimit(o.limit), cwd: checkCwd(o.cwd) }
      const words = toWords(withoutNul(text))
      await last
      return words === undefined ? store.recent(page) : store.search(words, page)
    },
    async delete(id) {
      checkOpen()
      if (checkId("id", id) === undefined) throw invalidError("delete takes the id of a prompt.")
      return inOrder(() => store.delete(id))
    },
    async clear(o = {}) {
      checkOpen()
      checkOptions("clear", o, CLEAR)
      const before = checkTime(o.olderThan)
      return inOrder(() => store.clear(before))
    },
    async flush() {
      checkOpen()
      await last
      throwFailure()
    },
    close() {
      closing ??= last.then(() => store.close()).then(throwFailure)
      return closing
    },
    [Symbol.asyncDispose]: () => history.close(),
  }
  return history
}

/** A task of its own, so that the work of the turn comes first. */
function nextTask(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}

function toStored(prompt: unknown): string {
  if (typeof prompt !== "string") throw invalidError("`redact` must return a string.")
  // Some databases store a lone surrogate as U+FFFD.
  return withoutNul(prompt)
    .replace(/\p{Cs}/gu, "\ufffd")
    .trim()
}

/** Some libraries cut a text at its first NUL. */
function withoutNul(text: string): string {
  return text.replaceAll("\0", "")
}

function checkLimit(limit: unknown = DEFAULT_LIMIT): number {
  if (Number.isSafeInteger(limit) && (limit as number) >= 1) return Math.min(limit as number, MOST)
  throw invalidError(`\`limit\` must be a whole number from 1, not ${String(limit)}.`)
}

function checkCwd(cwd: unknown): string | undefined {
  if (cwd === undefined || typeof cwd === "string") return cwd
  throw invalidError("`cwd` must be a string.")
}

function checkId(name: string, id: unknown): number | undefined {
  if (id === undefined || Number.isSafeInteger(id)) return id as number | undefined
  throw invalidError(`\`${name}\` must be the id of a prompt, a whole number.`)
}

/** In unix seconds, like the times of the prompts: one of the same second is not older. */
function checkTime(time: unknown): number | undefined {
  if (time === undefined) return undefined
  // Not `instanceof`: it may be the Date of another frame.
  const isDate = Object.prototype.toString.call(time) === "[object Date]"
  if (isDate && !Number.isNaN(Number(time))) return Math.floor(Number(time) / 1000)
  throw invalidError("`olderThan` must be a valid Date.")
}

function invalidError(message: string): StorageError {
  return new StorageError("invalid", message)
}
