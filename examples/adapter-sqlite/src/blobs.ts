/** The blobs of the storage. */
import type { BlobInfo, BlobAdapter } from "@sessions/core/storage"
import type { Database } from "./database.ts"

const PUT = "INSERT INTO blobs VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET putAt = max(putAt, excluded.putAt)"
const GET = "SELECT bytes FROM blobs WHERE hash = ?"
const DELETE = "DELETE FROM blobs WHERE hash = ? AND putAt < ?"
const LIST = "SELECT hash, length(bytes) AS bytes, putAt FROM blobs"

export function createBlobs(db: Database): BlobAdapter {
  return {
    put: (hash, bytes) => db.write((driver) => driver.prepare(PUT).run(hash, bytes, Date.now())),
    get: (hash) => db.read((driver) => driver.prepare<{ bytes: Uint8Array }>(GET).all(hash)[0]?.bytes),
    has: (hash) => db.read((driver) => driver.prepare("SELECT 1 FROM blobs WHERE hash = ?").all(hash).length > 0),
    delete: (hash, { ifPutBefore }) => db.write((driver) => driver.prepare(DELETE).run(hash, ifPutBefore).changes > 0),
    async *list() {
      yield await db.read((driver) => driver.prepare<BlobInfo>(LIST).all())
    },
  }
}
