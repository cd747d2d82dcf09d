import {
  type BlobAdapter,
  type CallOptions,
  checkSessionId,
  createCalls,
  defineStorage,
  type HeadInfo,
  type SessionStorage,
  type StorageAdapter,
  watchHeads,
} from "@sessions/core/storage"
import { append } from "./log/append.ts"
import { createBells } from "./browser/notifier.ts"
import type * as Blobs from "./documents/blobs.ts"
import { createConnection } from "./database/connection.ts"
import { createDocs } from "./documents/documents.ts"
import type { Environment } from "./environment.ts"
import { toStorageError } from "./database/errors.ts"
import type { Folded } from "./log/compact-rows.ts"
import { headRow, infoOf } from "./log/heads.ts"
import { createIdle } from "./log/idle-compaction.ts"
import { listSessions } from "./log/list.ts"
import { checkOptions, type IndexedDbStorageOptions } from "./options.ts"
import { readLog } from "./log/read.ts"
import { removeSession } from "./log/delete.ts"
import { estimate, persist, persisted, type Room } from "./browser/storage-estimate.ts"
import { rest } from "./rooms/rooms.ts"
import { reading, sent, writingTwice } from "./database/transaction.ts"

export type { Folded } from "./log/compact-rows.ts"

/** A {@link SessionStorage} in IndexedDB, with what a page can ask of its browser. */
export interface IndexedDbStorage extends Required<Omit<SessionStorage, typeof Symbol.asyncDispose>>, AsyncDisposable {
  /**
   * Folds the rows of many small appends into few large ones, which read faster and take less room. Happens by itself when a session
   * has been quiet for two seconds. Changes no line, seq or head. A crash leaves the log as it was or folded in part.
   */
  fold(session: string, o?: CallOptions): Promise<Folded>
  /**
   * Asks the browser to keep this site's data when the disk fills up; without that it may clear all of it. False where it refuses or
   * cannot be asked (workers, insecure pages, engines without `navigator.storage`).
   */
  persist(): Promise<boolean>
  /** Whether the browser has promised that; false where nobody can say. */
  persisted(): Promise<boolean>
  /** What the site uses and may use, in bytes, by the browser's estimate; missing where it does not say. */
  estimate(): Promise<Room | undefined>
}

/**
 * Sessions in IndexedDB: in pages, workers, shared workers and service workers, in any number of tabs at once.
 *
 * Throws `invalid` for options it does not know. The database is opened, made or upgraded at the first use.
 */
export function createIndexedDbStorage(options: IndexedDbStorageOptions = {}): IndexedDbStorage {
  const { database, durability, ...limits } = checkOptions(options)
  const description = `indexeddb:${database}`
  const connection = createConnection({ database, description })
  const bells = createBells(database)
  const env: Environment = { durability, connection, bells }
  const calls = createCalls({ description, toError: (error, { doing }) => toStorageError(error, doing, description) })

  const fold: IndexedDbStorage["fold"] = (session, o) =>
    calls.call({ doing: "fold the log", session }, o, async () => {
      checkSessionId(session)
      const { foldLog } = await rest.load()
      return foldLog(env, session, () => calls.enter(o))
    })
  const idle = createIdle(fold)

  const head = (session: string): Promise<HeadInfo | undefined> =>
    reading(connection, ["heads"], async (tx) => {
      const row = await headRow(tx, session)
      return row && infoOf(row)
    })

  const storage = defineStorage(
    {
      description,
      capabilities: capabilitiesOf(durability, limits),
      docs: createDocs(env),
      blobs: blobsOf(env),
      head,

      async append(session, lines, o) {
        const head = await append(env, session, lines, o)
        bells.ring(session)
        idle.note(session)
        return head
      },

      read: (session, range, o) =>
        readLog(session, range, {
          // What is read ahead is a call of its own, which a disposal waits for.
          transaction: (work) =>
            calls.call({ doing: "read the log", session }, o, () => reading(connection, ["heads", "log"], work)),
          scattered: () => idle.note(session, Number.POSITIVE_INFINITY),
        }),

      list: ({ limit }) => listSessions(limit, (work) => reading(connection, ["heads"], work)),

      async delete(session) {
        const deleted = await writingTwice(connection, ["heads", "log", "docs", "staged"], durability, (tx) =>
          removeSession(tx, session),
        )
        bells.ring(session)
        return deleted
      },

      sync: () =>
        writingTwice(connection, ["meta"], "strict", async (tx) => {
          sent(tx.objectStore("meta").put(Date.now(), "synced"))
        }),

      async replace(session, chunks, o) {
        const head = await (await rest.load()).replace(env, session, chunks, o)
        bells.ring(session)
        return head
      },

      watch: watchHeads({
        look: head,
        listen(session, ring) {
          // What another tab wrote while this one looked would be news that nobody rings for.
          if (!bells.reachesOthers) ring()
          return bells.add(session, ring)
        },
        every: () => (bells.reachesOthers ? FALLBACK_MS : POLL_MS),
      }),

      async close() {
        idle.close()
        bells.close()
        await connection.close()
      },
    },
    calls,
  )
  return { ...storage, fold, persist, persisted, estimate }
}

function blobsOf(env: Environment): BlobAdapter {
  const loaded = async (): Promise<typeof Blobs> => (await rest.load()).blobs
  return {
    put: async (hash, bytes) => (await loaded()).put(env, hash, bytes),
    get: async (hash) => (await loaded()).get(env, hash),
    has: async (hash) => (await loaded()).has(env, hash),
    delete: async (hash, { ifPutBefore }) => (await loaded()).remove(env, hash, ifPutBefore),
    async *list() {
      yield* (await loaded()).list(env)
    },
  }
}

/** How often a watcher looks where no other tab is heard. */
const POLL_MS = 250
/** How often it looks else: a tab that was closed after its transaction, and before it rang, is heard of so. */
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
    maxLineBytes: maxBatchBytes - 1,
    maxBatchBytes,
    maxSessionBytes,
  }
}
