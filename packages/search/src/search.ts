/** Creates the search of a storage. Start here. */
import { SessionError } from "@sessions/core"
import {
  type CallOptions,
  checkOptions,
  checkSessionId,
  checkSignal,
  type Head,
  type OptionNames,
  StorageError,
  unlessAborted,
} from "@sessions/core/storage"
import { isVersioned } from "./content.ts"
import { type AllRead, CatchUp } from "./catch-up.ts"
import type { IndexAnswer, IndexQuery, SearchIndex } from "./search-index.ts"
import { snippetOf } from "./snippet.ts"
import type {
  CatchUpOptions,
  FindOptions,
  Search,
  SearchHit,
  SearchOptions,
  SearchPage,
  UnreadableSession,
} from "./types.ts"
import { queryWords } from "./words.ts"

const OPTIONS: OptionNames<SearchOptions> = { storage: true, index: true, toMessage: true }
const FIND: OptionNames<FindOptions> = {
  cwd: true,
  role: true,
  order: true,
  limit: true,
  cursor: true,
  catchUp: true,
  signal: true,
}
const CATCH_UP: OptionNames<CatchUpOptions> = { onProgress: true, signal: true }
const CALL: OptionNames<CallOptions> = { signal: true }

const MOST_LIMIT = 200
/** SQLite refuses expressions of more than 256. */
const MOST_WORDS = 100
/** An answer that others outdate each time before it is given. */
const MOST_TRIES = 20

/** Throws `invalid` for unknown options and wrong values. Nothing is read or written before the first call. */
export function createSearch(options: SearchOptions): Search {
  checkOptions("createSearch", options, OPTIONS)
  const { storage, index, toMessage } = options
  if (typeof storage?.list !== "function")
    throw invalidError('createSearch: `storage` must be a storage, such as createFileStorage({ root: "./.sessions" })')
  if (typeof index?.query !== "function")
    throw invalidError('createSearch: `index` must be an index, such as createSqliteIndex({ folder: "./search" })')
  if (toMessage !== undefined && !(typeof toMessage === "function" && isVersioned(toMessage)))
    throw invalidError(
      "createSearch: `toMessage` must be a function; its `version` is a whole number from 1 to 999,999",
    )
  return new StorageSearch(options)
}

class StorageSearch implements Search {
  readonly hooks: Search["hooks"]
  readonly #index: SearchIndex
  readonly #catchUp: CatchUp
  /** Sessions that this process has changed, and that the index may not have read since. */
  readonly #changed = new Set<string>()
  readonly #closing = new AbortController()
  readonly #running = new Set<Promise<unknown>>()
  #allRunning: Promise<AllRead> | undefined
  #allNext: Promise<AllRead> | undefined
  #purging: Promise<void> | undefined
  /** The index that was once brought up to date as a whole. */
  #epoch: string | undefined

  constructor(options: SearchOptions) {
    this.#index = options.index
    this.#catchUp = new CatchUp(options)
    const changed = ({ session }: { readonly session: string }): void => void this.#changed.add(session)
    this.hooks = { save: changed, create: changed, merge: changed, delete: changed }
  }

  search(text: string, o: FindOptions = {}): Promise<SearchPage> {
    return this.#run(o, () => {
      if (typeof text !== "string") throw invalidError("search: the words must be a string")
      checkFindOptions(o)
      const words = queryWords(text)
      if (words.length > MOST_WORDS) throw invalidError(`search: more than ${MOST_WORDS} different words`)
      return words.length === 0 ? Promise.resolve({ hits: [], unreadable: [] }) : this.#find(words, o)
    })
  }

  catchUp(o: CatchUpOptions = {}): Promise<{ sessions: number; unreadable: readonly UnreadableSession[] }> {
    return this.#run(o, async () => {
      checkOptions("catchUp", o, CATCH_UP)
      const { sessions } = await this.#all(o.onProgress)
      await this.#purge()
      return { sessions, unreadable: this.#unreadable() }
    })
  }

  update(session: string, o: CallOptions = {}): Promise<void> {
    return this.#run(o, async () => {
      checkOptions("update", o, CALL)
      checkSessionId(session)
      this.#changed.delete(session)
      await this.#catchUp.one(session, this.#signal)
      this.#purgeLater()
    })
  }

  clear(): Promise<void> {
    return this.#run({}, () => this.#index.clear())
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return
    this.#closing.abort()
    await Promise.allSettled([...this.#running, this.#purging])
    await this.#index.close()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  get #signal(): CallOptions {
    return { signal: this.#closing.signal }
  }

  /** A caller's signal ends its waiting alone: others may wait for the same work. */
  async #run<T>({ signal }: CallOptions, work: () => Promise<T>): Promise<T> {
    if (this.#closing.signal.aborted) throw closedError()
    checkSignal(signal)
    const running = work()
    this.#running.add(running)
    try {
      return await unlessAborted(running, signal, () => false)
    } catch (error) {
      throw this.#closing.signal.aborted ? closedError() : error
    } finally {
      void running.catch(() => undefined).finally(() => this.#running.delete(running))
    }
  }

  async #find(words: readonly string[], o: FindOptions): Promise<SearchPage> {
    const { cwd, role, order = "newest", limit = 20, cursor } = o
    for (let attempt = 0; attempt < MOST_TRIES; attempt++) {
      const required = await this.#read(o.catchUp ?? "all")
      const query: IndexQuery = {
        words,
        order,
        limit,
        without: new Set(this.#catchUp.failures.keys()),
        ...(cwd === undefined ? {} : { cwd }),
        ...(role === undefined ? {} : { role }),
        ...(cursor === undefined ? {} : { cursor }),
      }
      const answer = await this.#index.query(query)
      if (!(await this.#isCurrent(answer, required))) continue
      const hits = answer.hits.map((hit) => toHit(hit, words))
      return { hits, ...(answer.next === undefined ? {} : { next: answer.next }), unreadable: this.#unreadable() }
    }
    throw new StorageError("unavailable", "The sessions or the index change all the time. Search again later.")
  }

  /** The heads that the answer must have reached; undefined if those of its hits are to be looked at. */
  async #read(what: "all" | "own"): Promise<AllRead["required"] | undefined> {
    const isKnown = what === "own" && this.#epoch === (await this.#index.heads()).epoch
    if (!isKnown) return (await this.#all()).required
    const changed = [...this.#changed]
    this.#changed.clear()
    try {
      for (const id of changed)
        await this.#catchUp.one(id, this.#signal).catch((error: unknown) => {
          if (!this.#catchUp.failures.has(id)) throw error
        })
      this.#keepUnread()
    } catch (error) {
      for (const id of changed) this.#changed.add(id)
      throw error
    }
    this.#purgeLater()
    return undefined
  }

  /** Whether the index was, when it answered, where the logs are. If not, it was changed meanwhile, or has lost everything. */
  async #isCurrent({ hits, heads }: IndexAnswer, required: ReadonlyMap<string, Head> | undefined): Promise<boolean> {
    if (required === undefined) {
      const sessions = new Set(hits.map(({ session }) => session))
      const current = await Promise.all([...sessions].map((id) => this.#catchUp.isRead(id, heads, this.#signal)))
      return current.every(Boolean)
    }
    const { failures } = this.#catchUp
    for (const [id, { log, next }] of required) {
      const indexed = heads.get(id)
      if (indexed?.log === log && indexed.next >= next) continue
      if (!failures.has(id)) return false
    }
    return true
  }

  /** One at a time. A call that comes while one runs needs the next one, whose list begins after the call. */
  #all(onProgress?: CatchUpOptions["onProgress"]): Promise<AllRead> {
    if (this.#allRunning === undefined) return this.#startAll(onProgress)
    this.#allNext ??= this.#allRunning
      .catch(() => undefined)
      .then(() => {
        this.#allNext = undefined
        return this.#startAll(onProgress)
      })
    return this.#allNext
  }

  #startAll(onProgress: CatchUpOptions["onProgress"]): Promise<AllRead> {
    const all = (async () => {
      const changed = [...this.#changed]
      this.#changed.clear()
      try {
        const read = await this.#catchUp.all({ ...this.#signal, ...(onProgress === undefined ? {} : { onProgress }) })
        this.#epoch = read.epoch
        this.#keepUnread()
        this.#purgeLater()
        return read
      } catch (error) {
        for (const id of changed) this.#changed.add(id)
        throw error
      } finally {
        this.#allRunning = undefined
      }
    })()
    this.#allRunning = all
    return all
  }

  /** Sessions that could not be read, or for which the index had no space, are read as soon as that has passed. */
  #keepUnread(): void {
    for (const id of this.#catchUp.unread) this.#changed.add(id)
  }

  #purgeLater(): void {
    // If it fails, the next one tries again.
    void this.#purge().catch(() => undefined)
  }

  async #purge(): Promise<void> {
    if (!this.#catchUp.needsPurge) return this.#purging
    this.#catchUp.needsPurge = false
    this.#purging = (this.#purging ?? Promise.resolve())
      .catch(() => undefined)
      .then(() => this.#index.purge(this.#closing.signal))
      .catch((error: unknown) => {
        this.#catchUp.needsPurge = true
        throw error
      })
    await this.#purging
  }

  #unreadable(): UnreadableSession[] {
    return [...this.#catchUp.failures].map(([id, { error }]) => ({ id, error }))
  }
}

function toHit({ text, ...hit }: IndexAnswer["hits"][number], words: readonly string[]): SearchHit {
  return { ...hit, snippet: snippetOf(text, words) }
}

function checkFindOptions(o: FindOptions): void {
  checkOptions("search", o, FIND)
  const { cwd, role, order = "newest", limit = 20, cursor, catchUp = "all" } = o
  for (const [name, value] of Object.entries({ cwd, role, cursor })) {
    if (value !== undefined && typeof value !== "string") throw invalidError(`search: \`${name}\` must be a string`)
  }
  if (order !== "newest" && order !== "best") throw invalidError('search: `order` is "newest" or "best"')
  if (catchUp !== "all" && catchUp !== "own") throw invalidError('search: `catchUp` is "all" or "own"')
  if (Number.isSafeInteger(limit) && limit >= 1 && limit <= MOST_LIMIT) return
  throw invalidError(`search: \`limit\` must be a whole number from 1 to ${MOST_LIMIT}`)
}

function invalidError(problem: string): SessionError {
  return new SessionError("invalid", `${problem}.`)
}

function closedError(): SessionError {
  return new SessionError("closed", "This search was closed. Call createSearch() again.")
}
