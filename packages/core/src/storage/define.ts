/** Storages made of what is their own: everything that does not depend on the store is done here, once for all of them. */
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
  ListedSession,
  SessionStorage,
} from "./contract.ts"
import { StorageError } from "./errors.ts"
import { sha256Hex } from "./hash.ts"
import type { BlobPort, DocPort, StoragePort } from "./port.ts"

type Optional = "sync" | "watch" | "replace"
/** The storage of a port: of the optional methods it has those that the port has. */
export type Defined<P extends StoragePort> = SessionStorage & Required<Pick<SessionStorage, Extract<keyof P, Optional>>>

/**
 * The storage that a port makes. It refuses what is wrong before the port hears of it: calls after the disposal (`closed`), signals
 * that have fired (`aborted`), arguments (`invalid`, `unsupported`). It turns what the port throws into errors that say where they
 * come from, ends the waiting of calls and readers whose signal fires or whose storage is closed, and its disposal waits for the calls
 * under way. Bytes and lines are copied before anything is waited for.
 *
 * `calls` are for methods that a storage has beyond the contract.
 */
export function defineStorage<P extends StoragePort>(port: P, calls: Calls = createCalls(port)): Defined<P> {
  const { call, each, enter } = calls
  const { watch } = port
  const capabilities: Capabilities = {
    ...port.capabilities,
    sync: port.sync !== undefined,
    watch: watch !== undefined,
    replace: port.replace !== undefined,
  }
  const storage: SessionStorage = {
    capabilities,
    description: port.description,
    docs: docsOf(port.docs, calls),
    blobs: blobsOf(port.blobs, calls),

    append: (session, lines, o) =>
      call({ doing: "append to the log", session, writes: true }, o, () => {
        checkSessionId(session)
        checkAppendOptions(o)
        const copy = Array.isArray(lines) ? lines.slice() : lines
        checkLines(copy, capabilities)
        return port.append(session, copy, o)
      }),

    head: (session, o = {}) =>
      call({ doing: "look at the log", session }, o, () => {
        checkSessionId(session)
        return port.head(session, o)
      }),

    read: (session, range, o = {}) =>
      each({ doing: "read the log", session }, o, () => {
        checkSessionId(session)
        return port.read(session, checkRange(range), o)
      }),

    list(o = {}) {
      const { after = "", limit = Number.POSITIVE_INFINITY } = o
      const open = (): AsyncIterable<readonly ListedSession[]> => {
        checkListOptions(o, capabilities)
        return port.list({ ...o, after, limit })
      }
      return rowsOf(calls, "list the sessions", o, open, limit)
    },

    delete: (session, o = {}) =>
      call({ doing: "delete the session", session, writes: true }, o, () => {
        checkSessionId(session)
        return port.delete(session, o)
      }),

    ...(port.sync && {
      sync: (session, o = {}) =>
        call({ doing: "sync the log", session }, o, () => {
          checkSessionId(session)
          return port.sync?.(session, o)
        }),
    }),

    ...(port.replace && {
      replace: (session, chunks, o) =>
        call({ doing: "replace the log", session, writes: true }, o, () => {
          checkSessionId(session)
          if (!isHead(o?.expect)) throw invalid("A replace needs `expect`: the head of the log it replaces.")
          const log = logOf(chunks, capabilities, () => enter(o))
          return port.replace?.(session, log, o) as Promise<Head>
        }),
    }),

    ...(watch && { watch: (session, o) => watch(session, o, calls) }),

    [Symbol.asyncDispose]: () => calls.close(() => port.close?.()),
  }
  return storage as Defined<P>
}

function docsOf(port: DocPort, calls: Calls): DocStore {
  const { call } = calls
  return {
    get: (key, o = {}) =>
      call({ doing: "read the document", at: key }, o, async () => {
        parseDocKey(key)
        const text = await port.get(key, o)
        return text === undefined ? undefined : { text, version: versionOf(text) }
      }),
    put: (key, text, o) =>
      call({ doing: "write the document", at: key, writes: true }, o, async () => {
        parseDocKey(key)
        checkDocText(text)
        await swap(port, key, o?.expect, text, o)
        return versionOf(text)
      }),
    delete: (key, o) =>
      call({ doing: "delete the document", at: key, writes: true }, o, async () => {
        parseDocKey(key)
        await swap(port, key, o?.expect, null, o)
      }),
    list: (prefix = "", o = {}) => rowsOf(calls, "list the documents", o, () => port.list(prefix, o)),
  }
}

/** The text itself, marked: exactly as equal as the texts are, and at hand in pages without Web Crypto. */
function versionOf(text: string): string {
  return `v:${text}`
}

/** The mark keeps a caller that mistakes the text for its version from getting away with it. */
async function swap(port: DocPort, key: string, expect: unknown, to: string | null, o: CallOptions): Promise<void> {
  if (typeof expect !== "string" && (expect !== null || to === null))
    throw invalid("A change of a document needs `expect`: its version, or null for none.")
  const isVersion = expect === null || expect.startsWith("v:")
  if (isVersion && (await port.swap(key, expect && expect.slice(2), to, o))) return
  const found = expect === null ? "is there already" : "has another version, or is not there"
  throw new StorageError("conflict", `The document ${key} ${found}. Get it again.`)
}

function blobsOf(port: BlobPort, calls: Calls): BlobStore {
  const { call, enter } = calls
  return {
    put: (bytes, o = {}) =>
      call({ doing: "keep the blob", writes: true }, o, async () => {
        if (!(bytes instanceof Uint8Array)) throw invalid("A blob is a Uint8Array.")
        // Hashing takes a turn of the event loop, in which the caller may change its array.
        const copy = bytes.slice()
        const hash = await sha256Hex(copy)
        enter(o)
        await port.put(hash, copy, o)
        return hash
      }),
    get: (hash, o = {}) =>
      call({ doing: "read the blob", at: hash }, o, () => {
        checkHash(hash)
        return port.get(hash, o)
      }),
    has: (hash, o = {}) =>
      call({ doing: "look for the blob", at: hash }, o, () => {
        checkHash(hash)
        return port.has(hash, o)
      }),
    delete: (hash, o = {}) =>
      call({ doing: "delete the blob", at: hash, writes: true }, o, () => {
        checkHash(hash)
        return port.delete(hash, { ...o, ifPutBefore: o.ifPutBefore ?? Number.POSITIVE_INFINITY })
      }),
    list: (o = {}) => rowsOf(calls, "list the blobs", o, () => port.list(o)),
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

/** The chunks of a replace; throws where they are no log. */
async function* logOf(
  chunks: AsyncIterable<Chunk>,
  capabilities: Capabilities,
  enter: () => void,
): AsyncGenerator<Chunk, void, undefined> {
  let next = 0
  for await (const chunk of chunks) {
    enter()
    if (chunk.from !== next) throw invalid(`A chunk starts at ${chunk.from} where ${next} comes next.`)
    checkLines(chunk.lines, { ...capabilities, maxBatchBytes: Number.POSITIVE_INFINITY })
    next += chunk.lines.length
    yield chunk
  }
  enter()
  if (next === 0) throw invalid("A log has at least one line; to remove a session, delete it.")
}

function invalid(message: string): StorageError {
  return new StorageError("invalid", message)
}
