import {
  type BlobInfo,
  connectOnce,
  defineStorage,
  headAfter,
  type HeadInfo,
  listPages,
  readPages,
  type SessionStorage,
  StorageError,
  takeChunk,
  windowStart,
} from "@sessions/core/storage"
import { connect, type Disk, type Store, type Transaction } from "./store.ts"

/** The rows by their keys: by session id, by log and seq, by document key, by hash. */
interface Tables {
  heads: HeadInfo
  lines: string
  docs: string
  blobs: { bytes: Uint8Array; putAt: number }
}
type Tx = Transaction<Tables>

/** A key after all keys that start with `prefix`. Keys are ASCII. */
const after = (prefix: string) => `${prefix}\u{7f}`
/** Keys that sort in the order of the seqs. */
const lineKey = (log: string, seq: number) => `${log}/${String(seq).padStart(16, "0")}`

export function createMyStorage(disk: Disk): SessionStorage {
  const db = connectOnce({ open: () => connect<Tables>(disk), close: (store: Store<Tables>) => store.close() })
  const read = async <T>(work: (tx: Tx) => T) => (await db.get()).read(work)
  const write = async <T>(work: (tx: Tx) => T) => (await db.get()).write(work)
  const head = (session: string) => read((tx) => tx.get("heads", session))

  return defineStorage({
    description: "mine",
    capabilities: {
      durability: "os",
      atomicBatch: "all",
      writers: "host",
      listOrder: "id",
      maxLineBytes: 49_999_999,
      maxBatchBytes: 50_000_000,
      maxSessionBytes: 200_000_000,
    },
    toError: (cause, { doing }) =>
      new StorageError("unavailable", `Could not ${doing} (${String(cause)}); is the store running?`, { cause }),

    append: (session, lines, o) =>
      write((tx) => {
        const head = headAfter(tx.get("heads", session), lines, o)
        const { next, log } = head
        tx.put("heads", session, head)
        for (const [i, line] of lines.entries()) tx.put("lines", lineKey(log, next - lines.length + i), line)
        return { next, log }
      }),

    head,

    read: readPages(
      head,
      (_, log, from, to) => read((tx) => takeChunk(linesOf(tx, log, from, to))),
      (_, log, before, maxBytes) => read((tx) => windowStart(linesOf(tx, log, 0, before, true), before, maxBytes)),
    ),

    list: listPages((last, limit) =>
      read((tx) => {
        const rows = [...tx.rows("heads", `${last}\0`, after(""))].slice(0, limit)
        return rows.map(([id, head]) => ({ id, ...head }))
      }),
    ),

    delete: (session) =>
      write((tx) => {
        const head = tx.get("heads", session)
        tx.delete("heads", session)
        if (head) for (const [key] of tx.rows("lines", lineKey(head.log, 0), after(head.log))) tx.delete("lines", key)
        const docs = `sessions/${session}/`
        for (const [key] of tx.rows("docs", docs, after(docs))) tx.delete("docs", key)
        return { bytes: head?.bytes ?? 0, parts: head ? 1 : 0, purged: true }
      }),

    docs: {
      get: (key) => read((tx) => tx.get("docs", key)),
      compareAndSet: (key, from, to) =>
        write((tx) => {
          if ((tx.get("docs", key) ?? null) !== from) return false
          if (to === null) tx.delete("docs", key)
          else tx.put("docs", key, to)
          return true
        }),
      async *list(prefix) {
        yield await read((tx) => [...tx.rows("docs", prefix, after(prefix))].map(([key]) => key))
      },
    },

    blobs: {
      put: (hash, bytes) =>
        write((tx) => {
          const putAt = Math.max(tx.get("blobs", hash)?.putAt ?? 0, Date.now())
          tx.put("blobs", hash, { bytes, putAt })
        }),
      get: (hash) => read((tx) => tx.get("blobs", hash)?.bytes.slice()),
      has: (hash) => read((tx) => tx.get("blobs", hash) !== undefined),
      delete: (hash, { ifPutBefore }) =>
        write((tx) => {
          const blob = tx.get("blobs", hash)
          if (!blob || blob.putAt >= ifPutBefore) return false
          tx.delete("blobs", hash)
          return true
        }),
      async *list() {
        yield await read((tx) => [...tx.rows("blobs", "", after(""))].map(toBlobInfo))
      },
    },

    close: db.close,
  })
}

function* linesOf(tx: Tx, log: string, from: number, to: number, newestFirst = false): Iterable<string> {
  for (const [, line] of tx.rows("lines", lineKey(log, from), lineKey(log, to), newestFirst)) yield line
}

function toBlobInfo([hash, { bytes, putAt }]: readonly [string, Tables["blobs"]]): BlobInfo {
  return { hash, bytes: bytes.length, putAt }
}
