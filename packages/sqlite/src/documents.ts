/** Documents and blobs. */
import { type BlobAdapter, type BlobInfo, type DocumentAdapter, fromUtf8, toUtf8 } from "@sessions/core/storage"
import type { Connection } from "./driver/connection.ts"
import { toBlob } from "./driver/library.ts"
import type { Database } from "./database.ts"

const PAGE = 1000

const TEXT = "SELECT body FROM doc WHERE key = ?"
const MAKE = "INSERT INTO doc (key, body) VALUES (?, ?) ON CONFLICT DO NOTHING"
const CHANGE = "UPDATE doc SET body = ? WHERE key = ? AND body = ?"
const REMOVE = "DELETE FROM doc WHERE key = ? AND body = ?"
const KEYS = `SELECT key FROM doc WHERE key >= ? AND key < ? ORDER BY key LIMIT ${PAGE}`

export function createDocs(db: Database): DocumentAdapter {
  return {
    get: (key, o) => db.read((tx) => textOf(tx, key), o),

    compareAndSet: (key, from, to, { signal }) =>
      db.write((tx) => changeDoc(tx, key, from, to) > 0, {
        signal,
        isStored(tx) {
          const current = textOf(tx, key) ?? null
          return current === to || (current === from && from !== null ? false : undefined)
        },
      }),

    async *list(prefix, o) {
      const [first, end] = keysOf(prefix)
      for (let from: string | undefined = first; from !== undefined; ) {
        const start: string = from
        const rows = await db.read((tx) => tx.query<{ key: string }>(KEYS).all(start, end), o)
        yield rows.map(({ key }) => key)
        from = rows.length < PAGE ? undefined : `${rows.at(-1)?.key}\0`
      }
    },
  }
}

/** The bounds of all keys with a prefix: the first, and one after the last. Keys are ASCII. */
export function keysOf(prefix: string): [string, string] {
  return [prefix, `${prefix}\u{7f}`]
}

function changeDoc(tx: Connection, key: string, from: string | null, to: string | null): number {
  if (from === null) return to === null ? 0 : tx.run(MAKE, key, bodyOf(to))
  return to === null ? tx.run(REMOVE, key, bodyOf(from)) : tx.run(CHANGE, bodyOf(to), key, bodyOf(from))
}

function bodyOf(text: string): Uint8Array {
  return toBlob(toUtf8(text))
}

function textOf(tx: Connection, key: string): string | undefined {
  const row = tx.query<{ body: Uint8Array }>(TEXT).get(key)
  return row && fromUtf8(row.body, key)
}

const RENEW = "UPDATE blob SET put_at = max(put_at, ?) WHERE hash = ?"
const PUT = "INSERT INTO blob (hash, bytes, put_at, body) VALUES (?, ?, ?, ?)"
const BYTES = "SELECT body FROM blob WHERE hash = ?"
const HAS = "SELECT 1 FROM blob WHERE hash = ?"
const DROP = "DELETE FROM blob WHERE hash = ? AND put_at < ?"
const BLOBS = `SELECT hash, bytes, put_at AS putAt FROM blob WHERE hash > ? ORDER BY hash LIMIT ${PAGE}`

export function createBlobs(db: Database): BlobAdapter {
  const has = (tx: Connection, hash: string): boolean => tx.query(HAS).get(hash) !== undefined
  return {
    put(hash, bytes, { signal }) {
      const now = Date.now()
      return db.write(
        (tx) => {
          if (tx.run(RENEW, now, hash) === 0) tx.run(PUT, hash, bytes.length, now, toBlob(bytes))
        },
        { signal, isStored: (tx) => tx.query(`${HAS} AND put_at >= ?`).get(hash, now) !== undefined },
      )
    },
    get: (hash, o) => db.read((tx) => tx.query<{ body: Uint8Array }>(BYTES).get(hash)?.body, o),
    has: (hash, o) => db.read((tx) => has(tx, hash), o),
    delete: (hash, { ifPutBefore, signal }) =>
      db.write((tx) => tx.run(DROP, hash, ifPutBefore) > 0, { signal, isStored: (tx) => !has(tx, hash) }),
    async *list(o) {
      for (let after: string | undefined = ""; after !== undefined; ) {
        const last: string = after
        const rows = await db.read((tx) => tx.query<BlobInfo>(BLOBS).all(last), o)
        yield rows.map(({ hash, bytes, putAt }) => ({ hash, bytes, putAt }))
        after = rows.length < PAGE ? undefined : rows.at(-1)?.hash
      }
    },
  }
}
