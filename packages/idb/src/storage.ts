/** The storage object: an adapter over the operations of the other folders. */
import {
  type CallOptions,
  checkSessionId,
  createCalls,
  defineStorage,
  type HeadInfo,
  type SessionStorage,
  type StorageAdapter,
  watchHeads,
} from "@sessions/core/storage"
import { createNotifier } from "./browser/notifier.ts"
import { estimate, persist, persisted, type StorageEstimate } from "./browser/storage-estimate.ts"
import { createConnection } from "./database/connection.ts"
import { toStorageError } from "./database/errors.ts"
import { free, readTransaction, unawaited, writeRepeatably } from "./database/transaction.ts"
import { createBlobs } from "./documents/blobs.ts"
import { createDocuments } from "./documents/documents.ts"
import { append } from "./log/append.ts"
import { type CompactedRows, compactRows } from "./log/compact-rows.ts"
import { deleteSession, deleteStaged } from "./log/delete.ts"
import { getHead, listHeads, toHeadInfo } from "./log/heads.ts"
import { createIdleCompaction } from "./log/idle-compaction.ts"
import { readLog } from "./log/read.ts"
import { replace } from "./log/replace.ts"
import { checkOptions, type IndexedDbStorageOptions } from "./options.ts"
import { type DatabaseContext, databaseOf } from "./schema.ts"

/** A {@link SessionStorage} in IndexedDB, with the browser's functions for its space. */
export interface IndexedDbStorage extends Required<Omit<SessionStorage, typeof Symbol.asyncDispose>>, AsyncDisposable {
  /**
   * Merges the rows of many small appends into few large ones, which are read faster and take less space. Happens automatically when a
   * session has been quiet for two seconds. Changes no line, seq or head. A crash leaves the log as it was or compacted in part.
   */
  compactRows(session: string, o?: CallOptions): Promise<CompactedRows>
  /**
   * Asks the browser to keep this site's data when the disk fills up; otherwise it may clear all of it. False if the browser refuses
   * or cannot be asked (workers, insecure pages, engines without `navigator.storage`).
   */
  persist(): Promise<boolean>
  /** Whether the browser has promised to keep the data; false if that is unknown. */
  persisted(): Promise<boolean>
  /** How many bytes the site uses and may use, as estimated by the browser; undefined if it gives no estimate. */
  estimate(): Promise<StorageEstimate | undefined>
}

/**
 * Stores sessions in IndexedDB: in pages, workers, shared workers and service workers, in any number of tabs at once.
 *
 * Throws `invalid` for unknown options and wrong values. The database is opened, created or upgraded on first use.
 */
export function createIndexedDbStorage(options: IndexedDbStorageOptions = {}): IndexedDbStorage {
  const { database, durability, ...limits } = checkOptions(options)
  const opened = databaseOf(database)
  const { description } = opened
  const context: DatabaseContext = { connection: createConnection(opened), durability }
  const notifier = createNotifier(database)
  const calls = createCalls({
    description,
    toError: (error, { doing }) => toStorageError(error, opened, `${doing} in`),
  })

  const compact: IndexedDbStorage["compactRows"] = (session, o) =>
    calls.call({ doing: "compact the rows", session }, o, async () => {
      checkSessionId(session)
      return compactRows(context, session, () => calls.enter(o))
    })
  const idleCompaction = createIdleCompaction(compact)

  const head = (session: string): Promise<HeadInfo | undefined> =>
    readTransaction(context, ["heads"], async (tx) => {
      const row = await getHead(tx, session)
      return row && toHeadInfo(row)
    })

  const storage = defineStorage(
    {
      description,
      capabilities: capabilitiesOf(durability, limits),
      docs: createDocuments(context),
      blobs: createBlobs(context),
      head,

      async append(session, lines, o) {
        const head = await append(context, session, lines, o)
        notifier.emit(session)
        idleCompaction.count(session)
        return head
      },

      read: (session, range, o) =>
        readLog(session, range, {
          // A page that is loaded in advance is a call of its own, which a disposal waits for.
          transaction: (work) =>
            calls.call({ doing: "read the log", session }, o, () => readTransaction(context, ["heads", "log"], work)),
          onManySmallRows: () => idleCompaction.count(session, Number.POSITIVE_INFINITY),
        }),

      list: ({ limit }) => listHeads(limit, (work) => readTransaction(context, ["heads"], work)),

      async delete(session, { expect }) {
        const deleted = await deleteSession(context, session, expect)
        notifier.emit(session)
        return deleted
      },

      sweep: ({ dryRun }) =>
        free(context, ["log", "staged"], async (tx) => ({
          removed: await deleteStaged(tx, undefined, dryRun),
          bytes: 0,
          left: 0,
        })),

      sync: () =>
        writeRepeatably({ ...context, durability: "strict" }, ["meta"], async (tx) => {
          unawaited(tx.objectStore("meta").put(Date.now(), "synced"))
        }),

      async replace(session, chunks, o) {
        const head = await replace(context, session, chunks, o)
        notifier.emit(session)
        return head
      },

      watch: watchHeads({
        head,
        subscribe(session, emit) {
          // Without a channel no event reports what another tab wrote between the first look and now.
          if (!notifier.reachesOtherTabs()) emit()
          return notifier.subscribe(session, emit)
        },
        interval: () => (notifier.reachesOtherTabs() ? FALLBACK_MS : POLL_MS),
      }),

      async close() {
        idleCompaction.close()
        notifier.close()
        await context.connection.close()
      },
    },
    calls,
  )
  return { ...storage, compactRows: compact, persist, persisted, estimate }
}

/** How often a watcher reads the head if other tabs cannot notify it. */
const POLL_MS = 250
/** How often it reads the head otherwise: a tab that is closed right after a commit sends no notification. */
const FALLBACK_MS = 5_000

function capabilitiesOf(
  durability: "relaxed" | "strict",
  { maxBatchBytes, maxSessionBytes }: { maxBatchBytes: number; maxSessionBytes: number },
): StorageAdapter["capabilities"] {
  return {
    durability: durability === "strict" ? "disk" : "os",
    atomicBatch: "all",
    writers: "host",
    listOrder: "updatedAt",
    deleteIf: true,
    maxLineBytes: maxBatchBytes - 1,
    maxBatchBytes,
    maxSessionBytes,
  }
}
