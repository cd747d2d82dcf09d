/** Runs work in a transaction: opens the connection, retries when it was lost, and settles with the transaction's own outcome. */
import { hasStorageCode, StorageError } from "@sessions/core/storage"
import type { Connection } from "./connection.ts"
import { isLost, isQuota, unknownOutcome } from "./errors.ts"
import type { Database, ReadTransaction, StoreName, WriteTransaction } from "./schema.ts"

/** What the operations on one storage object share. */
export interface DatabaseContext {
  readonly connection: Connection
  readonly durability: "relaxed" | "strict"
}

/**
 * Reads in one transaction. If the connection turns out to be lost, tries once more on a new one.
 *
 * Rejects with the error of IndexedDB or of `work`.
 */
export function readTransaction<T>(
  { connection }: Pick<DatabaseContext, "connection">,
  stores: readonly StoreName[],
  work: (tx: ReadTransaction) => Promise<T>,
): Promise<T> {
  return retryIfLost(async () => {
    const { db, tx } = await begin(connection, (db) => db.transaction([...stores], "readonly"))
    tx.done.catch(() => undefined)
    try {
      return await work(tx)
    } catch (error) {
      if (isLost(error)) connection.discard(db)
      throw error
    }
  })
}

/**
 * Writes in one transaction and resolves when it has committed. If it rejects, nothing was written, unless the error {@link isLost}:
 * then the outcome is unknown. An error from `work` aborts the transaction.
 */
export async function writeTransaction<T>(
  { connection, durability }: DatabaseContext,
  stores: readonly StoreName[],
  work: (tx: WriteTransaction) => Promise<T>,
): Promise<T> {
  const { db, tx } = await begin(connection, (db) => db.transaction([...stores], "readwrite", { durability }))
  const completed = completionOf(tx)
  try {
    const result = await work(tx)
    commit(tx)
    await completed
    return result
  } catch (error) {
    abort(tx)
    if (error instanceof StorageError) throw error
    // The error of a request is not always the reason: a full disk is reported by the transaction alone.
    const reason = await completed.then(
      () => error,
      () => tx.error ?? error,
    )
    if (isLost(reason)) connection.discard(db)
    throw reason
  }
}

/**
 * Like {@link writeTransaction}, but if the connection was lost, so that the outcome is unknown, `work` runs once more with `isRepeat`. The
 * engine runs the second transaction after the first one, if that still goes on, so `work` finds what the first one did. Rejects with
 * `indeterminate` if that was not found out.
 */
export function writeRepeatably<T>(
  context: DatabaseContext,
  stores: readonly StoreName[],
  work: (tx: WriteTransaction, isRepeat: boolean) => Promise<T>,
): Promise<T> {
  const attempt = (isRepeat: boolean): Promise<T> => writeTransaction(context, stores, (tx) => work(tx, isRepeat))
  return attempt(false).catch((lost: unknown) => {
    if (!isLost(lost)) throw lost
    return attempt(true).catch((error: unknown) => {
      // These come after `work` has looked; any other error says nothing about the first transaction.
      throw isQuota(error) || hasStorageCode(error, "conflict") ? error : unknownOutcome(error)
    })
  })
}

/** Marks a request that need not be awaited: if it fails, its transaction aborts with the reason. */
export function unawaited(request: Promise<unknown>): void {
  request.catch(() => undefined)
}

async function retryIfLost<T>(attempt: () => Promise<T>): Promise<T> {
  try {
    return await attempt()
  } catch (error) {
    if (!isLost(error)) throw error
    return attempt()
  }
}

/**
 * Starts a transaction. If the connection is already closing, because another tab asked for it or the browser dropped it, nothing was
 * sent yet, so a new connection is opened.
 */
function begin<T>(connection: Connection, start: (db: Database) => T): Promise<{ db: Database; tx: T }> {
  return retryIfLost(async () => {
    const db = await connection.get()
    try {
      return { db, tx: start(db) }
    } catch (error) {
      if (isLost(error)) connection.discard(db)
      throw error
    }
  })
}

/** Resolves on `complete` and rejects on `abort`: these two events alone decide the outcome. */
function completionOf(tx: WriteTransaction): Promise<void> {
  tx.done.catch(() => undefined)
  const completed = new Promise<void>((resolve, reject) => {
    tx.addEventListener("complete", () => resolve())
    tx.addEventListener("abort", () =>
      reject(tx.error ?? new DOMException("The transaction was aborted", "AbortError")),
    )
  })
  completed.catch(() => undefined)
  return completed
}

/** Commits now; the engine would otherwise wait a tick for further requests. */
function commit(tx: WriteTransaction): void {
  try {
    tx.commit()
  } catch {
    // It has already ended: its `complete` or `abort` event gives the outcome.
  }
}

function abort(tx: WriteTransaction): void {
  try {
    tx.abort()
  } catch {
    // It has already ended.
  }
}
