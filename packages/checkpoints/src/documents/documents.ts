/**
 * The stored snapshots of a session: reading them, creating one, adding records to one, evicting the oldest. It keeps what it has read;
 * every change is a compare-and-set, so several processes may use one session.
 */
import { type CallOptions, type SessionStorage, StorageError } from "@sessions/core/storage"
import { forEachOf } from "../for-each-of.ts"
import type { FileRecord } from "../record.ts"
import {
  decode,
  type DocumentContent,
  type DocumentKey,
  encode,
  keyOf,
  parseKey,
  prefixOf,
  type SnapshotHead,
} from "./format.ts"
import { deleteDocument, putDocument } from "./put.ts"

export interface StoredSnapshot {
  readonly id: string
  readonly head: SnapshotHead
  readonly files: ReadonlyMap<string, FileRecord>
}

interface Document extends DocumentContent {
  readonly version: string
}

/** Records in a document: 30 KB with paths of 40 characters, so that adding one does not put much again. */
const DOCUMENT_RECORDS = 200
/** Documents that are read at once. */
const CONCURRENT = 16
/** Each repetition means that another process has changed something meanwhile; no race lasts so long. */
const ATTEMPTS = 100

export class SnapshotDocuments {
  readonly #storage: SessionStorage
  readonly #session: string
  /** By snapshot, in ascending order, and number. */
  #documents = new Map<string, ReadonlyMap<number, Document>>()
  #snapshots: readonly StoredSnapshot[] | undefined
  /** The records of all documents together. They are in a new map once one of them changes. */
  readonly #merged = new WeakMap<ReadonlyMap<number, Document>, StoredSnapshot>()

  constructor(storage: SessionStorage, session: string) {
    this.#storage = storage
    this.#session = session
  }

  /** Oldest first, as last read. One that is being evicted is included: its records are still needed. */
  get snapshots(): readonly StoredSnapshot[] {
    return (this.#snapshots ??= [...this.#documents].flatMap(([id, documents]) => this.#merge(id, documents) ?? []))
  }

  /** Reads all documents. Eviction moves records to newer snapshots, so if a document disappears meanwhile all are read again. */
  async load(o: CallOptions = {}): Promise<void> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const found = await this.#read(prefixOf(this.#session), o)
      if (found === undefined) continue
      this.#documents = found
      this.#snapshots = undefined
      return
    }
    throw busyError(this.#session)
  }

  /** Stores a snapshot. A crash leaves all of it or nothing that is read. */
  async create(id: string, head: SnapshotHead, files: ReadonlyMap<string, FileRecord>): Promise<void> {
    const documents = new Map<number, Document>()
    const [last = new Map(), ...others] = inDocuments(files)
    let number = others.length
    for (const part of others) documents.set(number, await this.#create(id, number--, { files: part }))
    documents.set(0, await this.#create(id, 0, { head, files: last }))
    this.#documents.set(id, documents)
    this.#snapshots = undefined
  }

  /** Adds those records whose files the snapshot does not have. False if the snapshot is gone, or being evicted. */
  async add(id: string, files: ReadonlyMap<string, FileRecord>): Promise<boolean> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const documents = this.#documents.get(id)
      const first = documents?.get(0)
      if (documents === undefined || first?.head === undefined || first.head.evicted === true) return false
      const all = [...documents.values()]
      const has = (path: string): boolean => all.some((one) => one.files.has(path))
      const added = [...files].filter(([path]) => !has(path))
      if (added.length === 0) return true
      if (await this.#extend(id, documents, first as Document & { head: SnapshotHead }, new Map(added))) return true
      await this.#reload(id)
    }
    throw busyError(this.#session)
  }

  /**
   * Leaves `max` snapshots: moves the records of the oldest that the next one lacks into the next one, then deletes the oldest.
   * A crash at any step loses no record, and the next call completes the rest. `keep`: a snapshot that stays.
   */
  async evict(max: number, keep?: string): Promise<void> {
    for (let failures = 0; failures < ATTEMPTS; ) {
      const kept = this.snapshots.filter(({ head }) => head.evicted !== true)
      const excess = kept.length > max ? kept.find(({ id }) => id !== keep) : undefined
      // Of several, the newest: its records are newer than those that the others move to the same snapshot.
      const victim = this.snapshots.findLast(({ head }) => head.evicted === true) ?? excess
      const next = victim && this.snapshots[this.snapshots.indexOf(victim) + 1]
      if (victim === undefined || next === undefined) return this.#deleteIncomplete(kept[0]?.id)
      const isMarked = victim.head.evicted === true || (await this.#mark(victim))
      const isMoved = isMarked && (await this.#moveFirst(victim)) && (await this.add(next.id, victim.files))
      if (isMoved) await this.#delete(victim.id)
      else {
        failures++
        await this.load()
      }
    }
    throw busyError(this.#session)
  }

  /** An older snapshot that stays needs the first records of files, which the next one may have newer records of. */
  async #moveFirst(victim: StoredSnapshot): Promise<boolean> {
    const older = this.snapshots.filter(({ id }) => id < victim.id)
    const last = older.findLast(({ head }) => head.evicted !== true)
    const first = [...victim.files].filter(([path]) => !older.some(({ files }) => files.has(path)))
    return last === undefined || first.length === 0 || this.add(last.id, new Map(first))
  }

  /** Deletes all documents. */
  async deleteAll(o: CallOptions = {}): Promise<void> {
    for (const key of await this.#keys(prefixOf(this.#session), o)) await deleteDocument(this.#storage, key)
    this.#documents.clear()
    this.#snapshots = undefined
  }

  /** Deletes the document that has the head last: until then the eviction can be completed. */
  async #delete(id: string): Promise<void> {
    const keys = await this.#keys(`${prefixOf(this.#session)}${id}.`)
    const first = keyOf(this.#session, { snapshot: id, number: 0 })
    for (const key of keys.filter((key) => key !== first)) await deleteDocument(this.#storage, key)
    await deleteDocument(this.#storage, first)
    this.#documents.delete(id)
    this.#snapshots = undefined
  }

  /** Documents of a snapshot whose creation was interrupted. A newer one may still be in the making. */
  async #deleteIncomplete(oldest: string | undefined): Promise<void> {
    for (const [id, documents] of this.#documents) {
      if (oldest !== undefined && id < oldest && !documents.has(0)) await this.#delete(id)
    }
  }

  /** From here on nothing is added to the snapshot: every addition puts the document with the head. */
  async #mark({ id, head }: StoredSnapshot): Promise<boolean> {
    const first = this.#documents.get(id)?.get(0) as Document
    return this.#replace(id, { head: { ...head, evicted: true }, files: first.files }, first)
  }

  /** Full documents are put before the one with the head. It alone says that records were added. */
  async #extend(
    id: string,
    documents: ReadonlyMap<number, Document>,
    first: Document & { readonly head: SnapshotHead },
    added: ReadonlyMap<string, FileRecord>,
  ): Promise<boolean> {
    const [last = new Map(), ...full] = inDocuments(new Map([...first.files, ...added]))
    const all = new Map(documents)
    for (const part of full) {
      const number = Math.max(...all.keys()) + 1
      const key = keyOf(this.#session, { snapshot: id, number })
      const content = { files: part }
      const version = await putDocument(this.#storage, key, encode(content), null)
      if (version === undefined) return false
      all.set(number, { ...content, version })
    }
    this.#documents.set(id, all)
    return this.#replace(id, { head: first.head, files: last }, first)
  }

  async #replace(id: string, content: DocumentContent, { version: expect }: Document): Promise<boolean> {
    const key = keyOf(this.#session, { snapshot: id, number: 0 })
    const version = await putDocument(this.#storage, key, encode(content), expect)
    if (version === undefined) return false
    this.#documents.set(id, new Map(this.#documents.get(id)).set(0, { ...content, version }))
    this.#snapshots = undefined
    return true
  }

  async #create(snapshot: string, number: number, content: DocumentContent): Promise<Document> {
    const key = keyOf(this.#session, { snapshot, number })
    const version = await putDocument(this.#storage, key, encode(content), null)
    if (version !== undefined) return { ...content, version }
    throw new StorageError("conflict", `There is a document ${key} already; begin again.`, { at: key })
  }

  #merge(id: string, documents: ReadonlyMap<number, Document>): StoredSnapshot | undefined {
    const head = documents.get(0)?.head
    if (head === undefined) return undefined
    const merged = this.#merged.get(documents) ?? { id, head, files: filesOf(documents) }
    this.#merged.set(documents, merged)
    return merged
  }

  async #reload(id: string): Promise<void> {
    const documents = (await this.#read(`${prefixOf(this.#session)}${id}.`, {}))?.get(id)
    // One that is partly deleted is being evicted.
    if (documents === undefined) this.#documents.delete(id)
    else this.#documents.set(id, documents)
    this.#snapshots = undefined
  }

  /** By snapshot; undefined if a document was deleted between the list and its reading. */
  async #read(prefix: string, o: CallOptions): Promise<Map<string, ReadonlyMap<number, Document>> | undefined> {
    const found = new Map<string, Map<number, Document>>()
    const keys = await this.#keys(prefix, o)
    const read = new Map<string, Document>()
    await forEachOf(keys, CONCURRENT, async (key) => {
      const { snapshot, number } = parseKey(this.#session, key) as DocumentKey
      const known = this.#documents.get(snapshot)?.get(number)
      // Only the document with the head is ever put again.
      if (known !== undefined && number > 0) read.set(key, known)
      else {
        const stored = await this.#storage.docs.get(key, o)
        const isKnown = known !== undefined && known.version === stored?.version
        if (stored !== undefined)
          read.set(key, isKnown ? known : { ...decode(key, stored.text), version: stored.version })
      }
    })
    if (read.size < keys.length) return undefined
    for (const key of keys) {
      const { snapshot, number } = parseKey(this.#session, key) as DocumentKey
      const documents = found.get(snapshot) ?? new Map<number, Document>()
      found.set(snapshot, documents.set(number, read.get(key) as Document))
    }
    return new Map([...found].map(([id, documents]) => [id, this.#unchanged(id, documents) ?? documents]))
  }

  /** The known documents of a snapshot, if they are the same. */
  #unchanged(id: string, documents: ReadonlyMap<number, Document>): ReadonlyMap<number, Document> | undefined {
    const known = this.#documents.get(id)
    const isSame = known?.size === documents.size && [...documents].every(([number, one]) => known.get(number) === one)
    return isSame ? known : undefined
  }

  /** In ascending order, and so by snapshot. */
  async #keys(prefix: string, o: CallOptions = {}): Promise<string[]> {
    const keys: string[] = []
    for await (const key of this.#storage.docs.list(prefix, o)) {
      if (parseKey(this.#session, key) !== undefined) keys.push(key)
    }
    return keys
  }
}

/** The first part is the one that grows, and has less than all records of a full document. */
function inDocuments(files: ReadonlyMap<string, FileRecord>): Map<string, FileRecord>[] {
  const records = [...files]
  const parts: Map<string, FileRecord>[] = []
  while (records.length > DOCUMENT_RECORDS) parts.push(new Map(records.splice(0, DOCUMENT_RECORDS)))
  return [new Map(records), ...parts]
}

function filesOf(documents: ReadonlyMap<number, Document>): Map<string, FileRecord> {
  const files = new Map<string, FileRecord>()
  for (const { files: part } of documents.values()) {
    for (const [path, record] of part) if (!files.has(path)) files.set(path, record)
  }
  return files
}

function busyError(session: string): StorageError {
  const message = `Other processes keep changing the checkpoints of ${session}; try again.`
  return new StorageError("unavailable", message, { session })
}
