/** Documents and blobs: rows of the tables `doc` and `blob`. */
import {
  type BlobAdapter,
  type BlobInfo,
  type DocumentAdapter,
  fromUtf8,
  parseDocKey,
  StorageError,
  toUtf8,
} from "@sessions/core/storage"
import type { Database } from "./database.ts"
import { settle } from "./errors.ts"
import { NOW } from "./heads.ts"
import type { Tables } from "./schema.ts"

/** Keys or blobs of one page. */
const PAGE = 1000

export function createDocuments(db: Database, { doc }: Tables): DocumentAdapter {
  const select = `SELECT body FROM ${doc} WHERE key = $1`
  const insert = `INSERT INTO ${doc} (key, session, body) VALUES ($1, $2, $3::bytea) ON CONFLICT DO NOTHING RETURNING 1`
  const update = `UPDATE ${doc} SET body = $3::bytea WHERE key = $1 AND body = $2::bytea RETURNING 1`
  const remove = `DELETE FROM ${doc} WHERE key = $1 AND body = $2::bytea RETURNING 1`
  const keys = `SELECT key FROM ${doc} WHERE starts_with(key, $1) AND key > $2 COLLATE "C" ORDER BY key LIMIT ${PAGE}`

  async function get(key: string): Promise<string | undefined> {
    const [row] = await db.query<{ readonly body: Uint8Array }>(select, [key])
    return row && fromUtf8(row.body, `document ${key}`)
  }

  return {
    get,

    async compareAndSet(key, from, to) {
      const [old, body] = [from === null ? null : toUtf8(from), to === null ? null : toUtf8(to)]
      const change =
        old === null
          ? db.make(insert, [key, parseDocKey(key).session ?? null, body])
          : body === null
            ? db.run(remove, [key, old])
            : db.run(update, [key, old, body])
      const { rows, lost } = await change
      if (rows.length > 0) return true
      if (lost === undefined) return false
      // The lost attempt may have made the change, and another writer may have changed the document since.
      const found = await settle(lost, () => get(key))
      if ((found ?? null) === to) {
        if (from === null) await settle(lost, () => db.awaitStandby())
        return true
      }
      throw new StorageError(
        "indeterminate",
        "The answer to the change of the document was lost, and by now it has another text; read it again.",
      )
    },

    async *list(prefix) {
      for (let after = ""; ; ) {
        const rows = await db.query<{ readonly key: string }>(keys, [prefix, after])
        yield rows.map(({ key }) => key)
        after = rows.at(-1)?.key ?? after
        if (rows.length < PAGE) return
      }
    },
  }
}

export function createBlobs(db: Database, { blob }: Tables): BlobAdapter {
  const hash = "decode($1::text, 'hex')"
  const renew = `UPDATE ${blob} SET put_at = greatest(put_at, ${NOW}) WHERE hash = ${hash} RETURNING 1`
  const insert = `INSERT INTO ${blob} (hash, bytes, put_at, body) VALUES (${hash}, length($2::bytea), ${NOW}, $2::bytea)
    ON CONFLICT (hash) DO UPDATE SET put_at = greatest(${blob}.put_at, excluded.put_at)`
  const select = `SELECT body FROM ${blob} WHERE hash = ${hash}`
  const exists = `SELECT 1 FROM ${blob} WHERE hash = ${hash}`
  const remove = `DELETE FROM ${blob} WHERE hash = ${hash} RETURNING 1`
  const removeOlder = `DELETE FROM ${blob} WHERE hash = ${hash} AND put_at < $2::bigint RETURNING 1`
  const page = `SELECT encode(hash, 'hex') AS hash, bytes, put_at FROM ${blob} WHERE hash > ${hash} ORDER BY hash LIMIT ${PAGE}`

  return {
    async put(name, bytes) {
      // An existing blob is not sent again.
      const renewed = await db.query(renew, [name])
      if (renewed.length === 0) await db.query(insert, [name, bytes])
    },

    async get(name) {
      const [row] = await db.query<{ readonly body: Uint8Array }>(select, [name])
      return row && new Uint8Array(row.body)
    },

    has: async (name) => (await db.query(exists, [name])).length > 0,

    async delete(name, { ifPutBefore }) {
      const older = Number.isFinite(ifPutBefore)
      const { rows, lost } = await (older
        ? db.run(removeOlder, [name, Math.ceil(ifPutBefore)])
        : db.run(remove, [name]))
      // If the blob is gone after a lost answer, this call or another collector has removed it.
      if (rows.length > 0 || lost === undefined) return rows.length > 0
      return (await settle(lost, () => db.query(exists, [name]))).length === 0
    },

    async *list() {
      for (let after = ""; ; ) {
        const rows = await db.query<Record<keyof BlobInfo | "put_at", string>>(page, [after])
        yield rows.map((row) => ({ hash: row.hash, bytes: Number(row.bytes), putAt: Number(row.put_at) }))
        after = rows.at(-1)?.hash ?? after
        if (rows.length < PAGE) return
      }
    },
  }
}
