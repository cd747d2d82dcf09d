/** The index of a page in memory: MiniSearch over the rows that IndexedDB keeps. */
import MiniSearch from "minisearch"
import { byNewest, placeAfter, toPlace } from "../places.ts"
import type { IndexAnswer, IndexChange, IndexedHead, IndexHit, IndexQuery } from "../search-index.ts"
import { wordsOf } from "../words.ts"
import type { State, StoredRow } from "./database.ts"

interface Doc extends StoredRow {
  readonly key: number
  readonly session: string
  readonly seq: number
}

interface LoadedSession {
  readonly head: IndexedHead
  readonly cwd: string | undefined
  readonly docs: readonly Doc[]
}

type Row = StoredRow & { readonly seq: number; readonly words?: readonly string[] }

export class LoadedIndex {
  state: State
  readonly #sessions = new Map<string, LoadedSession>()
  readonly #docs = new Map<number, Doc>()
  #lastKey = 0
  readonly #words = new MiniSearch<{ readonly key: number; readonly words: readonly string[] }>({
    idField: "key",
    fields: ["words"],
    extractField: (doc, field) => (field === "key" ? doc.key : doc.words.join(" ")) as string,
    // Words come as they are compared.
    tokenize: (text) => text.split(" "),
    processTerm: (word) => word,
  })

  constructor(state: State) {
    this.state = state
  }

  heads(): Map<string, IndexedHead> {
    return new Map([...this.#sessions].map(([id, { head }]) => [id, head]))
  }

  /** Removes the sessions that are not among these. */
  keep(ids: ReadonlySet<string>): void {
    for (const id of this.#sessions.keys()) if (!ids.has(id)) this.#drop(id)
  }

  set(id: string, head: IndexedHead, cwd: string | undefined, rows: readonly Row[]): void {
    this.#drop(id)
    this.#sessions.set(id, { head, cwd, docs: rows.map((row) => this.#add(id, row)) })
  }

  apply({ session, head, reset, cwd, removed, rows }: IndexChange): void {
    if (reset) this.#drop(session)
    if (head === undefined) return
    const before = this.#sessions.get(session)
    const kept = (before?.docs ?? []).filter((doc) => {
      const isRemoved = removed.includes(doc.entryId)
      if (isRemoved) this.#remove(doc)
      return !isRemoved
    })
    const docs = [...kept, ...rows.map((row) => this.#add(session, row))]
    this.#sessions.set(session, { head, cwd: cwd ?? before?.cwd, docs })
  }

  query({ words, cwd, role, order, limit, cursor, without }: IndexQuery): IndexAnswer {
    const results = this.#words.search(words.join(" "), {
      prefix: true,
      combineWith: "AND",
      filter: ({ id }) => {
        const doc = this.#docs.get(id as number)
        if (doc === undefined || without.has(doc.session)) return false
        if (role !== undefined && doc.role !== role) return false
        return cwd === undefined || this.#sessions.get(doc.session)?.cwd === cwd
      },
    })
    // In the order of their scores.
    const found = results.map(({ id }) => this.#docs.get(id as number) as Doc)
    if (order === "newest") found.sort(byNewest)
    const from = cursor === undefined ? 0 : placeAfter(found, order, cursor)
    const page = found.slice(from, from + limit)
    const last = page.at(-1)
    const next = last !== undefined && from + limit < found.length ? toPlace(last, order, from + limit) : undefined
    const answer = { hits: page.map(toHit), heads: this.heads(), epoch: this.state.epoch }
    return next === undefined ? answer : { ...answer, next }
  }

  #add(session: string, { words, ...row }: Row): Doc {
    const { seq, entryId, role, timestamp, time, text } = row
    const doc: Doc = { key: ++this.#lastKey, session, seq, entryId, role, timestamp, time, text }
    this.#docs.set(doc.key, doc)
    this.#words.add({ key: doc.key, words: words ?? wordsOf(text) })
    return doc
  }

  #drop(id: string): void {
    for (const doc of this.#sessions.get(id)?.docs ?? []) this.#remove(doc)
    this.#sessions.delete(id)
  }

  #remove({ key }: Doc): void {
    this.#docs.delete(key)
    this.#words.discard(key)
  }
}

function toHit({ session, seq, entryId, role, timestamp, text }: Doc): IndexHit {
  return { session, seq, entryId, role, timestamp, text }
}
