/** A storage that counts its calls. */
import type { Capabilities, ListRow, SessionStorage } from "../src/storage/contract.ts"

export interface Counted {
  /** Lines returned by reads, and their characters. */
  lines: number
  units: number
  /** Rows returned by lists. */
  rows: number
  heads: number
  docsPut: number
  docsGot: number
  blobsGot: number
  syncs: number
}

export interface CountingStorage extends SessionStorage {
  readonly counted: Counted
  /** The counts since the last call. */
  take(): Counted
}

const NOTHING: Counted = { lines: 0, units: 0, rows: 0, heads: 0, docsPut: 0, docsGot: 0, blobsGot: 0, syncs: 0 }

/** With other capabilities, if given; with `listOrder: "id"` it lists in that order. */
export function createCountingStorage(inner: SessionStorage, pretend: Partial<Capabilities> = {}): CountingStorage {
  const counted: Counted = { ...NOTHING }
  const capabilities = { ...inner.capabilities, ...pretend }
  return {
    counted,
    take() {
      const taken = { ...counted }
      Object.assign(counted, NOTHING)
      return taken
    },
    capabilities,
    description: inner.description,
    append: (session, lines, o) => inner.append(session, lines, o),
    head: (session, o) => {
      counted.heads++
      return inner.head(session, o)
    },
    async *read(session, range, o) {
      for await (const chunk of inner.read(session, range, o)) {
        counted.lines += chunk.lines.length
        for (const line of chunk.lines) counted.units += line.length
        yield chunk
      }
    },
    async *list(o) {
      for await (const row of inOrder(inner.list(o), capabilities.listOrder)) {
        counted.rows++
        yield row
      }
    },
    delete: (session, o) => inner.delete(session, o),
    sync: async (session, o) => {
      counted.syncs++
      await inner.sync?.(session, o)
    },
    ...(inner.replace === undefined ? {} : { replace: inner.replace.bind(inner) }),
    ...(inner.watch === undefined ? {} : { watch: inner.watch.bind(inner) }),
    docs: {
      get: async (key, o) => {
        counted.docsGot++
        return inner.docs.get(key, o)
      },
      put: async (key, text, o) => {
        counted.docsPut++
        return inner.docs.put(key, text, o)
      },
      delete: (key, o) => inner.docs.delete(key, o),
      list: (prefix, o) => inner.docs.list(prefix, o),
    },
    blobs: {
      put: (bytes, o) => inner.blobs.put(bytes, o),
      get: async (hash, o) => {
        counted.blobsGot++
        return inner.blobs.get(hash, o)
      },
      has: (hash, o) => inner.blobs.has(hash, o),
      delete: (hash, o) => inner.blobs.delete(hash, o),
      list: (o) => inner.blobs.list(o),
    },
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  }
}

async function* inOrder(rows: AsyncIterable<ListRow>, order: Capabilities["listOrder"]): AsyncIterable<ListRow> {
  if (order === "updatedAt") return yield* rows
  const all: ListRow[] = []
  for await (const row of rows) all.push(row)
  yield* all.sort((a, b) => (a.id < b.id ? -1 : 1))
}
