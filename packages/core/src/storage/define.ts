/** Turns a {@link StorageAdapter} into a `SessionStorage`: argument checks, error details, signals and disposal, the same for all adapters. */
import { createCalls, type Calls } from "./calls.ts"
import {
  checkAppendOptions,
  checkDocText,
  checkHash,
  checkLines,
  checkListOptions,
  checkRange,
  checkSessionId,
  isHead,
  parseDocKey,
} from "./checks.ts"
import type {
  BlobStore,
  CallOptions,
  Capabilities,
  Chunk,
  DocStore,
  Head,
  ListRow,
  SessionStorage,
  Swept,
} from "./contract.ts"
import { invalidError, StorageError } from "./errors.ts"
import { addInfoLater } from "./info-later.ts"
import { isBytes } from "./realm.ts"
import { sha256Hex } from "./hash.ts"
import type { AdapterListRow, BlobAdapter, DocumentAdapter, StorageAdapter } from "./adapter.ts"

type Optional = "sync" | "watch" | "replace" | "sweep"
/** The storage of an adapter. It has the optional methods that the adapter has. */
export type Defined<P extends StorageAdapter> = SessionStorage &
  Required<Pick<SessionStorage, Extract<keyof P, Optional>>>

/**
 * Makes a storage of an adapter. Before the adapter is called it rejects calls after disposal (`closed`), signals that have fired
 * (`aborted`) and wrong arguments (`invalid`, `unsupported`). It adds storage, session and key to the adapter's errors, rejects calls
 * and readers whose signal fires, ends readers when the storage is closed, and its disposal waits for pending calls. Bytes and lines
 * are copied before the first `await`.
 *
 * Pass `calls` to share them with methods that a storage has beyond the contract.
 */
export function defineStorage<P extends StorageAdapter>(adapter: P, calls: Calls = createCalls(adapter)): Defined<P> {
  const { call, each, enter } = calls
  const { watch } = adapter
  const capabilities: Capabilities = {
    ...adapter.capabilities,
    sync: adapter.sync !== undefined,
    watch: watch !== undefined,
    replace: adapter.replace !== undefined,
  }
  const storage: SessionStorage = {
    capabilities,
    description: adapter.description,
    docs: docsOf(adapter.docs, calls),
    blobs: blobsOf(adapter.blobs, calls),

    append: (session, lines, o) =>
      call({ doing: "append to the log", session, writes: true }, o, () => {
        checkSessionId(session)
        checkAppendOptions(o)
        const copy = Array.isArray(lines) ? lines.slice() : lines
        checkLines(copy, capabilities)
        return adapter.append(session, copy, o)
      }),

    head: (session, o = {}) =>
      call({ doing: "read the head of the log", session }, o, () => {
        checkSessionId(session)
        return adapter.head(session, o)
      }),

    read: (session, range, o = {}) =>
      each({ doing: "read the log", session }, o, () => {
        checkSessionId(session)
        return adapter.read(session, checkRange(range), o)
      }),

    list(o = {}) {
      const { after = "", limit = Number.POSITIVE_INFINITY } = o
      const open = (): AsyncIterable<readonly AdapterListRow[]> => {
        checkListOptions(o, capabilities)
        return adapter.list({ ...o, after, limit })
      }
      return rowsOf(calls, "list the sessions", o, () => explained(calls, open()), limit)
    },

    delete: (session, o = {}) =>
      call({ doing: "delete the session", session, writes: true }, o, () => {
        checkSessionId(session)
        if (o.expect !== undefined && !(capabilities.deleteIf && isHead(o.expect)))
          throw unsupportedExpectError(capabilities)
        return adapter.delete(session, o)
      }),

    ...(adapter.sweep && {
      sweep: (o = {}) =>
        call({ doing: "sweep the storage", writes: true }, o, () => adapter.sweep?.(o) as Promise<Swept>),
    }),

    ...(adapter.sync && {
      sync: (session, o = {}) =>
        call({ doing: "sync the log", session }, o, () => {
          checkSessionId(session)
          return adapter.sync?.(session, o)
        }),
    }),

    ...(adapter.replace && {
      replace: (session, chunks, o) =>
        call({ doing: "replace the log", session, writes: true }, o, () => {
          checkSessionId(session)
          if (!isHead(o?.expect)) throw invalidError("A replace needs `expect`: the head of the log to replace.")
          const log = logOf(chunks, capabilities, () => enter(o))
          return adapter.replace?.(session, log, o) as Promise<Head>
        }),
    }),

    ...(watch && { watch: (session, o) => watch(session, o, calls) }),

    [Symbol.asyncDispose]: () => calls.close(() => adapter.close?.()),
  }
  if (adapter.infoLater === true) addInfoLater(storage)
  return storage as Defined<P>
}

function unsupportedExpectError({ deleteIf }: Capabilities): StorageError {
  return new StorageError(deleteIf ? "invalid" : "unsupported", "A delete cannot take this `expect`.")
}

function docsOf(adapter: DocumentAdapter, calls: Calls): DocStore {
  const { call } = calls
  return {
    get: (key, o = {}) =>
      call({ doing: "read the document", at: key }, o, async () => {
        parseDocKey(key)
        const text = await adapter.get(key, o)
        return text === undefined ? undefined : { text, version: versionOf(text) }
      }),
    put: (key, text, o) =>
      call({ doing: "write the document", at: key, writes: true }, o, async () => {
        parseDocKey(key)
        checkDocText(text)
        await compareAndSet(adapter, key, o?.expect, text, o)
        return versionOf(text)
      }),
    delete: (key, o) =>
      call({ doing: "delete the document", at: key, writes: true }, o, async () => {
        parseDocKey(key)
        await compareAndSet(adapter, key, o?.expect, null, o)
      }),
    list: (prefix = "", o = {}) => rowsOf(calls, "list the documents", o, () => adapter.list(prefix, o)),
  }
}

/**
 * The text itself with a prefix: two versions are equal exactly if the texts are, and pages without Web Crypto can make them. The
 * prefix rejects a caller that passes a text in place of its version.
 */
function versionOf(text: string): string {
  return `v:${text}`
}

async function compareAndSet(
  adapter: DocumentAdapter,
  key: string,
  expect: unknown,
  to: string | null,
  o: CallOptions,
): Promise<void> {
  if (typeof expect !== "string" && (expect !== null || to === null))
    throw invalidError("Changing a document needs `expect`: its version, or null if it must not exist.")
  const isVersion = expect === null || expect.startsWith("v:")
  if (isVersion && (await adapter.compareAndSet(key, expect && expect.slice(2), to, o))) return
  const found = expect === null ? "exists already" : "has another version, or does not exist"
  throw new StorageError("conflict", `The document ${key} ${found}. Read it again.`)
}

function blobsOf(adapter: BlobAdapter, calls: Calls): BlobStore {
  const { call, enter } = calls
  return {
    put: (bytes, o = {}) =>
      call({ doing: "store the blob", writes: true }, o, async () => {
        if (!isBytes(bytes)) throw invalidError(`A blob must be a Uint8Array, not ${typeof bytes}.`)
        // Hashing is asynchronous; the caller may change its array meanwhile.
        const copy = new Uint8Array(bytes)
        const hash = await sha256Hex(copy)
        enter(o)
        await adapter.put(hash, copy, o)
        return hash
      }),
    get: (hash, o = {}) =>
      call({ doing: "read the blob", at: hash }, o, () => {
        checkHash(hash)
        return adapter.get(hash, o)
      }),
    has: (hash, o = {}) =>
      call({ doing: "look for the blob", at: hash }, o, () => {
        checkHash(hash)
        return adapter.has(hash, o)
      }),
    delete: (hash, o = {}) =>
      call({ doing: "delete the blob", at: hash, writes: true }, o, () => {
        checkHash(hash)
        return adapter.delete(hash, { ...o, ifPutBefore: o.ifPutBefore ?? Number.POSITIVE_INFINITY })
      }),
    list: (o = {}) => rowsOf(calls, "list the blobs", o, () => adapter.list(o)),
  }
}

/** Converts the errors of unreadable rows. */
async function* explained(
  { explain }: Calls,
  pages: AsyncIterable<readonly AdapterListRow[]>,
): AsyncGenerator<readonly ListRow[], void, undefined> {
  for await (const page of pages) {
    yield page.map((row) => {
      if (row.error === undefined) return row
      const error = explain(row.error, { doing: "read the head of the log", session: row.id })
      return { id: row.id, error }
    })
  }
}

async function* rowsOf<T>(
  { each, enter }: Calls,
  doing: string,
  o: CallOptions,
  open: () => AsyncIterable<readonly T[]>,
  limit: number = Number.POSITIVE_INFINITY,
): AsyncGenerator<T, void, undefined> {
  let left = limit
  for await (const page of each({ doing }, o, open)) {
    for (const row of page) {
      if (left-- <= 0) return
      enter(o)
      yield row
    }
    if (left <= 0) return
  }
}

/** The chunks of a replace; throws if they are not contiguous from seq 0, have a wrong line, or are empty. */
async function* logOf(
  chunks: AsyncIterable<Chunk>,
  capabilities: Capabilities,
  enter: () => void,
): AsyncGenerator<Chunk, void, undefined> {
  let next = 0
  for await (const chunk of chunks) {
    enter()
    if (chunk.from !== next) throw invalidError(`A chunk starts at seq ${chunk.from}; ${next} comes next.`)
    checkLines(chunk.lines, { ...capabilities, maxBatchBytes: Number.POSITIVE_INFINITY })
    next += chunk.lines.length
    yield chunk
  }
  enter()
  if (next === 0) throw invalidError("A log must have at least one line; to remove a session, delete it.")
}
