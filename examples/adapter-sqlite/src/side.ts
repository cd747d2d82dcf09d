import type { BlobInfo, BlobStore, DocStore } from "@sessions/core/storage"
import { checkDocText, checkHash, parseDocKey, sha256Hex, StorageError } from "@sessions/core/storage"
import type { Database } from "./database.ts"
import { toBytes, toText, within } from "./texts.ts"

export function createDocs(db: Database, storage: string): DocStore {
  const checkChange = (key: string, expect: unknown) => {
    parseDocKey(key)
    if (typeof expect === "string") return
    throw new StorageError("invalid", "A change of a document needs `expect`, the version it has.")
  }
  const demand = (changes: number | bigint, at: string) => {
    if (changes > 0) return
    throw new StorageError("conflict", "The document is not the one you expect; get it again.", { storage, at })
  }
  return {
    get: (key, o) =>
      db.use(o, [parseDocKey, key], (driver) => {
        const rows = driver.prepare("SELECT version, text FROM docs WHERE key = ?").all(key)
        return (rows as { version: string; text: Uint8Array }[]).map((row) => ({
          ...row,
          text: toText(row.text, key),
        }))[0]
      }),
    put(key, text, o) {
      const check = () => {
        checkChange(key, o?.expect === null ? "" : o?.expect)
        checkDocText(text)
        return sha256Hex(text)
      }
      const create = "INSERT OR IGNORE INTO docs (version, text, key) VALUES (?, ?, ?)"
      const update = "UPDATE docs SET version = ?, text = ? WHERE key = ? AND version = ?"
      return db.write(o, [check], (driver, version) => {
        const [sql, expect] = o.expect === null ? [create, []] : [update, [o.expect]]
        demand(driver.prepare(sql).run(version, toBytes(text), key, ...expect).changes, key)
        return version
      })
    },
    delete: (key, o) =>
      db.write(o, [checkChange, key, o?.expect], (driver) => {
        demand(driver.prepare("DELETE FROM docs WHERE key = ? AND version = ?").run(key, o.expect).changes, key)
      }),
    async *list(prefix = "", o) {
      const sql = "SELECT key FROM docs WHERE key BETWEEN ? AND ? ORDER BY key"
      const rows = await db.use(o, [within, prefix], (driver, range) => driver.prepare(sql).all(...range))
      for (const { key } of rows as { key: string }[]) yield key
    },
  }
}

export function createBlobs(db: Database): BlobStore {
  return {
    put(bytes, o) {
      const check = async () => {
        if (!(bytes instanceof Uint8Array)) throw new StorageError("invalid", "A blob is a Uint8Array.")
        const copy = bytes.slice()
        return [await sha256Hex(copy), copy] as const
      }
      const sql = "INSERT INTO blobs VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET putAt = max(putAt, excluded.putAt)"
      return db.write(o, [check], (driver, [hash, copy]) => {
        driver.prepare(sql).run(hash, copy, Date.now())
        return hash
      })
    },
    get(hash, o) {
      const sql = "SELECT bytes FROM blobs WHERE hash = ?"
      return db.use(
        o,
        [checkHash, hash],
        (driver) => (driver.prepare(sql).all(hash) as { bytes: Uint8Array }[])[0]?.bytes,
      )
    },
    has(hash, o) {
      const sql = "SELECT 1 FROM blobs WHERE hash = ?"
      return db.use(o, [checkHash, hash], (driver) => driver.prepare(sql).all(hash).length > 0)
    },
    delete(hash, o) {
      const [sql, before] = ["DELETE FROM blobs WHERE hash = ? AND putAt < ?", o?.ifPutBefore ?? Infinity]
      return db.write(o, [checkHash, hash], (driver) => driver.prepare(sql).run(hash, before).changes > 0)
    },
    async *list(o) {
      const sql = "SELECT hash, length(bytes) AS bytes, putAt FROM blobs"
      yield* (await db.use(o, [String], (driver) => driver.prepare(sql).all())) as BlobInfo[]
    },
  }
}
