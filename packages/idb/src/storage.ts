import {
  type CallOptions,
  type Capabilities,
  checkAppendOptions,
  checkLines,
  checkListOptions,
  checkRange,
  checkSessionId,
  isHead,
  type SessionStorage,
  StorageError,
} from "@sessions/core/storage"
import { append } from "./append.ts"
import { createBells } from "./bells.ts"
import { createBlobs } from "./blobs.ts"
import { createCalls } from "./calls.ts"
import { createConnection } from "./connection.ts"
import type { Reading, StoreName } from "./database.ts"
import { createDocs } from "./docs.ts"
import type { Environment } from "./environment.ts"
import { type Folded, foldLog } from "./fold.ts"
import { headRow, infoOf } from "./heads.ts"
import { createIdle } from "./idle.ts"
import { listSessions } from "./list.ts"
import { checkOptions, type IndexedDbStorageOptions } from "./options.ts"
import { readLog } from "./read.ts"
import { removeSession } from "./remove.ts"
import { replace } from "./replace.ts"
import { estimate, persist, persisted, type Room } from "./room.ts"
import { reading, sent, writingTwice } from "./transact.ts"
import { watchLog } from "./watch.ts"

export type { Folded } from "./fold.ts"

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
  const capabilities = capabilitiesOf(durability, limits)
  const description = `indexeddb:${database}`
  const calls = createCalls(description)
  const connection = createConnection({ database, description })
  const bells = createBells(database)
  const env: Environment = { description, durability, connection, bells, enter: calls.enter, call: calls.call }
  const idle = createIdle((session) => foldLog(env, session, () => calls.enter(undefined)))

  const read =
    (doing: string, session: string, stores: readonly StoreName[], o: CallOptions | undefined) =>
    <T>(work: (tx: Reading) => Promise<T>): Promise<T> =>
      env.call({ doing, session }, o, () => reading(connection, stores, work))

  const headOf: IndexedDbStorage["head"] = (session, o) =>
    env.call({ doing: "look at a session", session }, o, async () => {
      checkSessionId(session)
      const row = await reading(connection, ["heads"], (tx) => headRow(tx, session))
      return row === undefined ? undefined : infoOf(row)
    })

  return {
    capabilities,
    description,
    docs: createDocs(env),
    blobs: createBlobs(env),
    persist,
    persisted,
    estimate,
    head: headOf,

    append(session, lines, o) {
      return env.call({ doing: "append", session, writes: true }, o, async () => {
        checkSessionId(session)
        checkAppendOptions(o)
        checkLines(lines, capabilities)
        const head = await append(env, session, lines, o)
        bells.ring(session)
        idle.note(session)
        return head
      })
    },

    async *read(session, range, o) {
      calls.enter(o)
      checkSessionId(session)
      yield* readLog(session, checkRange(range), {
        transaction: read("read the log", session, ["heads", "log"], o),
        enter: () => calls.enter(o),
        scattered: () => idle.note(session, Number.POSITIVE_INFINITY),
      })
    },

    async *list(o = {}) {
      calls.enter(o)
      checkListOptions(o, capabilities)
      const transaction = <T>(work: (tx: Reading) => Promise<T>): Promise<T> =>
        env.call({ doing: "list sessions" }, o, () => reading(connection, ["heads"], work))
      yield* listSessions(o, transaction, () => calls.enter(o))
    },

    delete(session, o) {
      return env.call({ doing: "delete a session", session, writes: true }, o, async () => {
        checkSessionId(session)
        const deleted = await writingTwice(connection, ["heads", "log", "docs", "staged"], durability, (tx) =>
          removeSession(tx, session),
        )
        bells.ring(session)
        return deleted
      })
    },

    sync(session, o) {
      return env.call({ doing: "sync", session }, o, async () => {
        checkSessionId(session)
        await writingTwice(connection, ["meta"], "strict", async (tx) => {
          sent(tx.objectStore("meta").put(Date.now(), "synced"))
        })
      })
    },

    replace(session, chunks, o) {
      return env.call({ doing: "replace a log", session, writes: true }, o, async () => {
        checkSessionId(session)
        if (!isHead(o.expect)) {
          throw new StorageError("invalid", "A replace needs `expect`: the head of the log it replaces.")
        }
        const enter = (): void => calls.enter(o)
        const head = await replace(env, session, chunks, { expect: o.expect, capabilities, enter })
        bells.ring(session)
        return head
      })
    },

    watch(session, o) {
      calls.enter(undefined)
      checkSessionId(session)
      const look = (): ReturnType<typeof headOf> => headOf(session)
      return watchLog({ session, bells, signal: o?.signal, closed: calls.closed, look })
    },

    fold(session, o) {
      return env.call({ doing: "fold a log", session }, o, async () => {
        checkSessionId(session)
        return foldLog(env, session, () => calls.enter(o))
      })
    },

    async [Symbol.asyncDispose]() {
      idle.close()
      await calls.close(() => bells.close())
      await connection.close()
    },
  }
}

function capabilitiesOf(
  durability: "relaxed" | "strict",
  { maxBatchBytes, maxSessionBytes }: { maxBatchBytes: number; maxSessionBytes: number },
): Capabilities {
  return {
    durability: durability === "strict" ? "disk" : "os",
    atomicBatch: "all",
    writers: "host",
    listOrder: "updatedAt",
    sync: true,
    watch: true,
    replace: true,
    maxLineBytes: maxBatchBytes - 1,
    maxBatchBytes,
    maxSessionBytes,
  }
}
