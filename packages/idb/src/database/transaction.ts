/** Runs work in a transaction: opens the connection, retries when it was lost, and settles with the transaction's own outcome. */
import { hasStorageCode, StorageError } from "@sessions/core/storage"
import type { DBSchema, IDBPDatabase, IDBPTransaction, StoreNames } from "idb"
import type { Connection } from "./connection.ts"
import { isGone, isLost, isQuota, timeout, unknownOutcomeError } from "./errors.ts"

/** Shared by the operations on one database. */
export interface DatabaseContext<S extends DBSchema> {
  readonly connection: Connection<S>
  readonly durability: "relaxed" | "strict"
}

export type Reading<S extends DBSchema> = IDBPTransaction<S, StoreNames<S>[]>
export type Writing<S extends DBSchema> = IDBPTransaction<S, StoreNames<S>[], "readwrite">

/** A transaction that another one keeps waiting, or that gets no answer, is given up after this time. */
const TRANSACTION_MS = 60_000

/**
 * Reads in one transaction. If the connection turns out to be lost, tries once more on a new one.
 *
 * Rejects with the error of IndexedDB or of `work`.
 */
export function readTransaction<S extends DBSchema, T>(
  { connection }: Pick<DatabaseContext<S>, "connection">,
  stores: readonly StoreNames<S>[],
  work: (tx: Reading<S>) => Promise<T>,
): Promise<T> {
  return retryIfLost(async () => {
    const { db, tx } = await begin(connection, (db) => db.transaction([...stores], "readonly"))
    const completed = completionOf(tx)
    try {
      return await work(tx)
    } catch (error) {
      throw await failed(connection, db, tx, completed, error)
    }
  })
}

/** How far a transaction that writes has come. */
interface Progress {
  /** It was asked to commit. Before that it has certainly written nothing. */
  committing?: true
}

/**
 * Writes in one transaction and resolves when it has committed. If it rejects, nothing was written, unless it was asked to commit and the
 * error {@link isLost}: then the outcome is unknown. What has written nothing is tried once more. An error from `work` aborts the transaction.
 */
export function writeTransaction<S extends DBSchema, T>(
  { connection, durability }: DatabaseContext<S>,
  stores: readonly StoreNames<S>[],
  work: (tx: Writing<S>) => Promise<T>,
  progress: Progress = {},
): Promise<T> {
  return retryIfLost(
    async () => {
      const { db, tx } = await begin(connection, (db) => db.transaction([...stores], "readwrite", { durability }))
      const completed = completionOf(tx)
      try {
        const result = await work(tx)
        progress.committing = true
        commit(tx)
        await completed
        return result
      } catch (error) {
        throw await failed(connection, db, tx, completed, error)
      }
    },
    () => progress.committing !== true,
  )
}

/**
 * Like {@link writeTransaction}, but if the outcome is unknown, `work` runs once more with `isRepeat`. The engine runs the second transaction
 * after the first one, if that still goes on, so `work` finds what the first one did. Rejects with `indeterminate` if that was not found out.
 */
export async function writeRepeatably<S extends DBSchema, T>(
  context: DatabaseContext<S>,
  stores: readonly StoreNames<S>[],
  work: (tx: Writing<S>, isRepeat: boolean) => Promise<T>,
): Promise<T> {
  const first: Progress = {}
  try {
    return await writeTransaction(context, stores, (tx) => work(tx, false), first)
  } catch (lost) {
    if (first.committing !== true || !(isLost(lost) || isGone(lost))) throw lost
    const second: Progress = {}
    return writeTransaction(context, stores, (tx) => work(tx, true), second).catch((error: unknown) => {
      // These come after `work` has looked; any other error says nothing about the first transaction.
      const hasLooked = hasStorageCode(error, "conflict") || (second.committing && isQuota(error))
      throw hasLooked ? error : unknownOutcomeError(error)
    })
  }
}

/**
 * Like {@link writeRepeatably}, for work that only deletes. Deleting takes space, too; Firefox, once the site was full, lets a transaction
 * exceed it that adds nothing.
 */
export function free<S extends DBSchema, T>(
  context: DatabaseContext<S>,
  stores: readonly StoreNames<S>[],
  work: (tx: Writing<S>, isRepeat: boolean) => Promise<T>,
): Promise<T> {
  const attempt = (): Promise<T> => writeRepeatably(context, stores, work)
  return attempt().catch((error: unknown) => {
    if (!isQuota(error)) throw error
    return attempt()
  })
}

/** Marks a request that need not be awaited: if it fails, its transaction aborts with the reason. */
export function unawaited(request: Promise<unknown>): void {
  request.catch(() => undefined)
}

async function retryIfLost<T>(attempt: () => Promise<T>, isAllowed: () => boolean = () => true): Promise<T> {
  try {
    return await attempt()
  } catch (error) {
    if (!isLost(error) || !isAllowed()) throw error
    return attempt()
  }
}

/**
 * Starts a transaction. If the connection is already closing, because another tab asked for it or the browser dropped it, nothing was
 * sent yet, so a new connection is opened.
 */
function begin<S extends DBSchema, T>(
  connection: Connection<S>,
  start: (db: IDBPDatabase<S>) => T,
): Promise<{ db: IDBPDatabase<S>; tx: T }> {
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

interface Ending extends EventTarget {
  readonly error: DOMException | null
  abort(): void
}

/** Resolves on `complete` and rejects on `abort`, with the reason if there is one: these two events alone decide the outcome. */
function completionOf(tx: Ending & { readonly done: Promise<void> }): Promise<void> {
  unawaited(tx.done)
  const completed = new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      reject(timeout("The transaction got no answer"))
      abort(tx)
    }, TRANSACTION_MS)
    tx.addEventListener("complete", () => {
      clearTimeout(timer)
      resolve()
    })
    tx.addEventListener("abort", () => {
      clearTimeout(timer)
      reject(tx.error)
    })
  })
  unawaited(completed)
  return completed
}

/** Ends a transaction after an error, and returns the reason. */
async function failed<S extends DBSchema>(
  connection: Connection<S>,
  db: IDBPDatabase<S>,
  tx: Ending,
  completed: Promise<void>,
  error: unknown,
): Promise<unknown> {
  abort(tx)
  if (error instanceof StorageError) return error
  // The error of a request is not always the reason: a full disk is reported by the transaction alone.
  const reason = await completed.then(
    () => error,
    (reason: unknown) => reason ?? error ?? new DOMException("The transaction was aborted", "AbortError"),
  )
  if (isGone(reason)) connection.discard(db)
  return reason
}

/** Commits now; the engine would otherwise wait a tick for further requests. */
function commit(tx: { commit(): void }): void {
  try {
    tx.commit()
  } catch {
    // It has already ended: its `complete` or `abort` event gives the outcome.
  }
}

function abort(tx: { abort(): void }): void {
  try {
    tx.abort()
  } catch {
    // It has already ended.
  }
}
