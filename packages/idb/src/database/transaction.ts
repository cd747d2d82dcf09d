/** Transactions: what they throw, and when they are done. */
import { StorageError } from "@sessions/core/storage"
import type { Connection } from "./connection.ts"
import type { Database, Reading, StoreName, Writing } from "./schema.ts"
import { isLost } from "./errors.ts"

/**
 * Reads in one transaction. On a connection that turns out to be lost it is tried once more on another.
 *
 * Errors are those of IndexedDB, or what `work` throws.
 */
export function reading<T>(
  connection: Connection,
  stores: readonly StoreName[],
  work: (tx: Reading) => Promise<T>,
): Promise<T> {
  return again(async () => {
    const { db, tx } = await begin(connection, (db) => db.transaction([...stores], "readonly"))
    tx.done.catch(() => undefined)
    try {
      return await work(tx)
    } catch (error) {
      if (isLost(error)) connection.forget(db)
      throw error
    }
  })
}

/**
 * Writes in one transaction: resolves when it is complete. If it rejects, nothing of it was written, except where the error
 * {@link isLost}: then it may have been. What `work` throws ends the transaction.
 */
export async function writing<T>(
  connection: Connection,
  stores: readonly StoreName[],
  durability: IDBTransactionDurability,
  work: (tx: Writing) => Promise<T>,
): Promise<T> {
  const { db, tx } = await begin(connection, (db) => db.transaction([...stores], "readwrite", { durability }))
  const ended = endOf(tx)
  try {
    const result = await work(tx)
    commit(tx)
    await ended
    return result
  } catch (error) {
    abort(tx)
    if (error instanceof StorageError) throw error
    // What a request says on the way says too little: the transaction's own reason counts (a full disk shows only there).
    const reason = await ended.then(
      () => error,
      () => tx.error ?? error,
    )
    if (isLost(reason)) connection.forget(db)
    throw reason
  }
}

/** For writes that may be done twice: they are, where the connection was lost. */
export async function writingTwice<T>(...args: Parameters<typeof writing<T>>): Promise<T> {
  return again(() => writing(...args))
}

async function again<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt()
  } catch (error) {
    if (!isLost(error)) throw error
    return attempt()
  }
}

/** A connection may be closing, since another tab asked for that or the browser gave it up: then nothing was sent, and another one is made. */
async function begin<T>(connection: Connection, start: (db: Database) => T): Promise<{ db: Database; tx: T }> {
  const db = await connection.get()
  try {
    return { db, tx: start(db) }
  } catch (error) {
    if (!isLost(error)) throw error
    connection.forget(db)
    const other = await connection.get()
    return { db: other, tx: start(other) }
  }
}

/** Resolves with `complete` and rejects with `abort`, the two events that are certain. */
function endOf(tx: Writing): Promise<void> {
  tx.done.catch(() => undefined)
  const end = new Promise<void>((resolve, reject) => {
    tx.addEventListener("complete", () => resolve())
    tx.addEventListener("abort", () =>
      reject(tx.error ?? new DOMException("The transaction was aborted", "AbortError")),
    )
  })
  end.catch(() => undefined)
  return end
}

/** Says that no request follows, which the engine otherwise finds out a turn later. */
function commit(tx: Writing): void {
  try {
    tx.commit()
  } catch {
    // It has ended: one of its events tells how.
  }
}

function abort(tx: Writing): void {
  try {
    tx.abort()
  } catch {
    // It has ended already.
  }
}

/** A request whose failure ends its transaction, which tells of it. */
export function sent(request: Promise<unknown>): void {
  request.catch(() => undefined)
}
