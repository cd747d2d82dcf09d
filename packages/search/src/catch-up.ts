/**
 * Brings an index up to date with the logs. The heads of the sessions say which logs have changed; no other log is read. Several
 * processes may do this with one index: a change is refused if another one was faster, and the session is looked at again.
 */
import { hasCode } from "@sessions/core"
import { type CallOptions, type SessionStorage, StorageError } from "@sessions/core/storage"
import { Batch } from "./batch.ts"
import { extractionOf } from "./content.ts"
import { createReader, type SessionReader } from "./read-session.ts"
import type { DatedHead, Heads, IndexChange, IndexedHead, SearchIndex } from "./search-index.ts"
import type { CatchUpOptions, SearchOptions } from "./types.ts"

/** A log that is replaced, or an index that others change, so often while one session is read, is not waited for. */
const MOST_TRIES = 20

export interface AllRead {
  /** The heads that the index has at least reached. */
  readonly required: ReadonlyMap<string, DatedHead>
  readonly epoch: string
  /** How many sessions had changed. */
  readonly sessions: number
}

interface Failure {
  readonly error: unknown
  /** Of the log that cannot be read as it is; undefined if a later call may read it without a change of the log. */
  readonly head: DatedHead | undefined
}

/** Errors of the log itself. Any other passes, or somebody mends it, such as a right that is missing, and the log stays as it is. */
const LASTING = ["corrupt", "unsupported", "not_a_session", "newer_version", "older_version", "too_large"] as const

/** How reading a session ended: `again` if its log was replaced, or another process was faster. */
type Outcome = "read" | "again"

export class CatchUp {
  readonly #storage: SessionStorage
  readonly #index: SearchIndex
  readonly #reader: SessionReader
  readonly #extraction: number
  /** Sessions that could not be read. A damaged log is not read again before it has changed. */
  readonly #failures = new Map<string, Failure>()
  /** Whether the store may have rows that no answer has any more. At first there may be some of a process that was killed. */
  needsPurge = true

  constructor({ storage, index, toMessage }: SearchOptions) {
    this.#storage = storage
    this.#index = index
    this.#reader = createReader(storage, toMessage)
    this.#extraction = extractionOf(toMessage)
  }

  get failures(): ReadonlyMap<string, { readonly error: unknown }> {
    return this.#failures
  }

  /** Sessions that the next call is to read although their heads may be the same. */
  get unread(): readonly string[] {
    return [...this.#failures].flatMap(([id, { error }]) => (isLasting(error) ? [] : [id]))
  }

  /** Lists the storage and reads every session that has changed. */
  async all({ onProgress, ...o }: CatchUpOptions): Promise<AllRead> {
    const required = await this.#list(o)
    const { heads, epoch } = await this.#index.heads()
    const changed = [...required].filter(([id, head]) => !this.#isCurrent(heads.get(id), head))
    const again = [...heads.keys()].filter((id) => !required.has(id) && !this.#failures.has(id))
    const of = changed.length + again.length
    let sessions = 0
    const batch = this.#batch()
    for (const [id, head] of changed) {
      const indexed = heads.get(id)
      // The index may be ahead of the list, so the head is asked again.
      const outcome = isBehind(head, indexed) ? "again" : await this.#read(batch, id, indexed, head, o)
      if (outcome === "again") again.push(id)
      if (batch.isFull) again.push(...(await this.#write(batch)))
      onProgress?.({ sessions: ++sessions, of })
    }
    again.push(...(await this.#write(batch)))
    for (const id of new Set(again)) await this.#readAlone(id, o)
    if (sessions < of) onProgress?.({ sessions: of, of })
    return { required, epoch, sessions: of }
  }

  /** Reads one session. Rejects with the error of a session that cannot be read. */
  async one(id: string, o: CallOptions): Promise<void> {
    await this.#readAlone(id, o)
    const failure = this.#failures.get(id)
    if (failure !== undefined) throw failure.error
  }

  /** Whether `heads` has all of a session. If not, the session is read. */
  async isRead(id: string, heads: Heads, o: CallOptions): Promise<boolean> {
    const head = await this.#head(id, o)
    if (head !== undefined && this.#isCurrent(heads.get(id), head)) return true
    await this.#readAlone(id, o)
    return false
  }

  async #list(o: CallOptions): Promise<Map<string, DatedHead>> {
    const required = new Map<string, DatedHead>()
    const failures = new Map<string, Failure>()
    for await (const { id, error, log, next, updatedAt } of this.#storage.list(o)) {
      if (error === undefined) required.set(id, { log, next, updatedAt })
      else failures.set(id, { head: undefined, error })
    }
    for (const [id, { head }] of this.#failures) if (head === undefined || !required.has(id)) this.#failures.delete(id)
    for (const [id, failure] of failures) this.#failures.set(id, failure)
    return required
  }

  async #readAlone(id: string, o: CallOptions): Promise<void> {
    for (let attempt = 0; attempt < MOST_TRIES; attempt++) {
      const head = await this.#head(id, o)
      if (head === undefined && this.#failures.has(id)) return
      const indexed = (await this.#index.heads()).heads.get(id)
      if (head === undefined) {
        if (indexed === undefined || (await this.#remove(id, indexed))) return
        continue
      }
      if (this.#isCurrent(indexed, head)) return
      const batch = this.#batch()
      const outcome = await this.#read(batch, id, indexed, head, o)
      const refused = await this.#write(batch)
      if (outcome === "read" && refused.length === 0) return
    }
    throw new StorageError(
      "unavailable",
      `The session ${id} changes all the time while it is read. Search again later.`,
    )
  }

  /** The head of a session; undefined if there is none, or if it cannot be read, which is noted. */
  async #head(id: string, o: CallOptions): Promise<DatedHead | undefined> {
    try {
      const head = await this.#storage.head(id, o)
      if (head === undefined || this.#failures.get(id)?.head === undefined) this.#failures.delete(id)
      return head
    } catch (error) {
      this.#note(id, undefined, error)
      return undefined
    }
  }

  /** Adds what is new of a session to the batch. A session that cannot be read is noted, and counts as read. */
  async #read(
    batch: Batch,
    id: string,
    indexed: IndexedHead | undefined,
    head: DatedHead,
    o: CallOptions,
  ): Promise<Outcome> {
    const failed = this.#failures.get(id)?.head
    if (failed !== undefined && isSameHead(failed, head)) return "read"
    this.#failures.delete(id)
    const changes = this.#reader.changes(id, indexed, head, o)
    for (;;) {
      let step: IteratorResult<IndexChange, void>
      try {
        step = await changes.next()
      } catch (error) {
        if (hasCode(error, "conflict")) return "again"
        this.#note(id, head, error)
        return "read"
      }
      if (step.done === true) return "read"
      batch.add(step.value)
      if (!batch.isFull) continue
      if ((await this.#write(batch)).length > 0) return "again"
      if (this.#failures.has(id)) return "read"
    }
  }

  /** Writes the batch. Sessions for which the index has no space are noted, and read again by the next call; the others are searched. */
  #write(batch: Batch): Promise<readonly string[]> {
    return this.#unlessFull(batch.sessions, () => batch.write(), [])
  }

  async #unlessFull<T>(sessions: readonly string[], write: () => Promise<T>, otherwise: T): Promise<T> {
    try {
      return await write()
    } catch (error) {
      if (!hasCode(error, "quota")) throw error
      for (const id of sessions) this.#failures.set(id, { head: undefined, error })
      return otherwise
    }
  }

  #note(id: string, head: DatedHead | undefined, error: unknown): void {
    if (hasCode(error, "aborted") || hasCode(error, "closed") || hasCode(error, "unavailable")) throw error
    // `not_found`: deleted meanwhile.
    if (!hasCode(error, "not_found")) this.#failures.set(id, { head: isLasting(error) ? head : undefined, error })
  }

  #batch(): Batch {
    return new Batch(this.#index, () => {
      this.needsPurge = true
    })
  }

  #isCurrent(indexed: IndexedHead | undefined, head: DatedHead): boolean {
    return indexed !== undefined && indexed.extraction >= this.#extraction && isSameHead(indexed, head)
  }

  #remove(session: string, expect: IndexedHead): Promise<boolean> {
    this.needsPurge = true
    const change: IndexChange = { session, expect, head: undefined, reset: true, removed: [], rows: [] }
    return this.#unlessFull([session], () => this.#index.write([change]), true)
  }
}

function isLasting(error: unknown): boolean {
  return LASTING.some((code) => hasCode(error, code))
}

/** An undamaged copy that was put back has the same identity and as many lines, and another time. */
function isSameHead(one: DatedHead, other: DatedHead): boolean {
  return one.log === other.log && one.next === other.next && one.updatedAt === other.updatedAt
}

/** Whether the index has more of the log: the list is older, or the log was restored from a backup. */
function isBehind(head: DatedHead, indexed: IndexedHead | undefined): boolean {
  return indexed !== undefined && indexed.log === head.log && indexed.next > head.next
}
