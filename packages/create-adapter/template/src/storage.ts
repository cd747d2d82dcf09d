/** The storage: how sessions, documents and blobs are kept under the keys of the store. */
import {
  type BlobInfo,
  checkExpect,
  connectOnce,
  defineStorage,
  fromUtf8,
  headAfter,
  type HeadInfo,
  listPages,
  readRows,
  type SessionStorage,
  StorageError,
  toListRow,
  toUtf8,
} from "@sessions/core/storage"
import { type Change, type Location, openStore, type Row, type Store } from "./store.ts"

const headKey = (session: string) => `heads/${session}`
/** The identity of a log is never used again, so its lines are never those of another one. */
const lineKey = (log: string, seq: number) => `lines/${log}/${String(seq).padStart(16, "0")}`
const docKey = (key: string) => `docs/${key}`
const blobKey = (hash: string) => `blobs/${hash}`
const contentKey = (hash: string) => `contents/${hash}`
/** A key after all keys that start with `prefix`. */
const after = (prefix: string) => `${prefix}\u{7f}`

/** Stores sessions at a location. It connects at the first call. */
export function createMyStoreStorage(location: Location, open: typeof openStore = openStore): SessionStorage {
  const connection = connectOnce({ open: () => open(location), close: (store: Store) => store.close() })

  const get = async (key: string) => (await connection.get()).get(key)

  async function* rows(from: string, to: string, descending = false): AsyncGenerator<Row, void, undefined> {
    yield* (await connection.get()).rows(from, to, { descending })
  }

  /** Makes the changes that follow from the value of a key. If another writer has changed it meanwhile, it starts again. */
  async function update<T>(key: string, work: (value: Uint8Array | undefined) => Promise<Update<T>> | Update<T>) {
    const store = await connection.get()
    for (;;) {
      const value = await store.get(key)
      const { changes, result } = await work(value)
      if (changes.length === 0 || (await store.commit({ key, value }, changes))) return result
    }
  }

  const head = async (session: string) => {
    const value = await get(headKey(session))
    return value && toHead(headKey(session), value)
  }

  return defineStorage({
    description: "my-store",
    capabilities: {
      // Of the store in memory. Say here what yours guarantees with its default settings.
      durability: "none",
      writers: "host",
      atomicBatch: "all",
      listOrder: "id",
      deleteIf: true,
      maxLineBytes: 49_999_999,
      maxBatchBytes: 50_000_000,
      maxSessionBytes: 200_000_000,
    },

    // The errors of the database are known in store.ts. Any other one is a defect, and a write may have been made before it.
    toError: (cause, { doing, writes }) => {
      const message = `Could not ${doing}: ${String(cause)}. This is a defect of my-store: report it with the cause of this error.`
      return new StorageError(writes ? "indeterminate" : "unavailable", message, { cause })
    },

    append: (session, lines, o) =>
      update(headKey(session), (value) => {
        // Throws `conflict` if the log does not end where this append expects it.
        const head = headAfter(value && toHead(headKey(session), value), lines, o)
        const { next, log } = head
        const from = next - lines.length
        const written = lines.map((line, n) => ({ key: lineKey(log, from + n), value: toUtf8(line) }))
        return { result: { next, log }, changes: [{ key: headKey(session), value: toJson(head) }, ...written] }
      }),

    head,

    read: readRows(head, async function* (_session, log, { from, to, newestFirst }) {
      for await (const { key, value } of rows(lineKey(log, from), lineKey(log, to), newestFirst))
        yield fromUtf8(value, key)
    }),

    list: listPages(async (last, limit) => {
      const page = []
      // "!" sorts before every character of an id.
      for await (const { key, value } of rows(headKey(`${last}!`), after(headKey("")))) {
        page.push(toListRow(key.slice(headKey("").length), () => toHead(key, value)))
        if (page.length === limit) break
      }
      return page
    }),

    delete: (session, { expect }) =>
      update(headKey(session), async (value) => {
        const head = value && toHead(headKey(session), value)
        if (expect !== undefined) checkExpect(head, expect)
        const removed = head === undefined ? [] : [headKey(session)]
        for (let seq = 0; head !== undefined && seq < head.next; seq++) removed.push(lineKey(head.log, seq))
        const docs = docKey(`sessions/${session}/`)
        for await (const { key } of rows(docs, after(docs))) removed.push(key)
        // `purged`: your database holds nothing of the session any more, also not in a log or in free pages.
        const result = { bytes: head?.bytes ?? 0, parts: head === undefined ? 0 : 1, purged: true }
        return { result, changes: removed.map((key) => ({ key, value: undefined })) }
      }),

    docs: {
      async get(key) {
        const value = await get(docKey(key))
        return value && fromUtf8(value, docKey(key))
      },
      compareAndSet: (key, from, to) =>
        update(docKey(key), (value) => {
          const stored = value === undefined ? null : fromUtf8(value, docKey(key))
          if (stored !== from) return { result: false, changes: [] }
          return { result: true, changes: [{ key: docKey(key), value: to === null ? undefined : toUtf8(to) }] }
        }),
      async *list(prefix) {
        for await (const { key } of rows(docKey(prefix), after(docKey(prefix)))) yield [key.slice(docKey("").length)]
      },
    },

    blobs: {
      put: (hash, bytes) =>
        update(blobKey(hash), (value) => {
          const putAt = Math.max(value === undefined ? 0 : toBlob(blobKey(hash), value).putAt, Date.now())
          const blob = { key: blobKey(hash), value: toJson({ bytes: bytes.length, putAt }) }
          return { result: undefined, changes: [blob, { key: contentKey(hash), value: bytes }] }
        }),
      get: (hash) => get(contentKey(hash)),
      has: async (hash) => (await get(blobKey(hash))) !== undefined,
      delete: (hash, { ifPutBefore }) =>
        update(blobKey(hash), (value) => {
          if (value === undefined || toBlob(blobKey(hash), value).putAt >= ifPutBefore)
            return { result: false, changes: [] }
          const changes = [blobKey(hash), contentKey(hash)].map((key) => ({ key, value: undefined }))
          return { result: true, changes }
        }),
      async *list() {
        for await (const { key, value } of rows(blobKey(""), after(blobKey(""))))
          yield [{ hash: key.slice(blobKey("").length), ...toBlob(key, value) }]
      },
    },

    close: connection.close,
  })
}

/** Without changes nothing is committed. */
interface Update<T> {
  readonly result: T
  readonly changes: readonly Change[]
}

const toHead = (key: string, value: Uint8Array) => fromJson(key, value) as HeadInfo
const toBlob = (key: string, value: Uint8Array) => fromJson(key, value) as Omit<BlobInfo, "hash">

function toJson(value: object): Uint8Array {
  return toUtf8(JSON.stringify(value))
}

function fromJson(key: string, value: Uint8Array): unknown {
  try {
    return JSON.parse(fromUtf8(value, key))
  } catch (cause) {
    throw new StorageError("corrupt", `The value of ${key} is damaged; it is left as it is.`, { at: key, cause })
  }
}
