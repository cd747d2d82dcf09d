/** The calls that the cases of a network make. */
import { type Chunk, type Head, type SessionStorage, sha256Hex, StorageError, toUtf8 } from "@sessions/core/storage"
import { bigLines, collect, create, line, linesTo, readLines } from "../helpers/lines.ts"

/** A write, of which `n` names what it changes. */
export interface Write {
  readonly name: string
  readonly prepare: (direct: SessionStorage, n: number) => Promise<Prepared>
}

interface Prepared {
  readonly act: (storage: SessionStorage) => Promise<unknown>
  /** What the store has now: what it had before, what the write makes of it once, or something else. */
  readonly state: () => Promise<"before" | "after" | "neither">
}

export interface Read {
  readonly name: string
  readonly act: (storage: SessionStorage) => Promise<unknown>
}

/** Compares texts of states. */
async function among(now: Promise<string>, before: string, after: string): Promise<"before" | "after" | "neither"> {
  const text = await now
  if (text === before) return "before"
  return text === after ? "after" : "neither"
}

const text = async (lines: Promise<readonly string[]>): Promise<string> => (await lines).join("\n")
const document = async (storage: SessionStorage, key: string): Promise<string> =>
  (await storage.docs.get(key))?.text ?? "(none)"
const hasBlob = async (storage: SessionStorage, hash: string): Promise<string> => String(await storage.blobs.has(hash))

export type WriteName =
  | "create"
  | "append"
  | "delete"
  | "replace"
  | "putDocument"
  | "changeDocument"
  | "deleteDocument"
  | "putBlob"
  | "deleteBlob"

export const WRITES: Readonly<Record<WriteName, Write>> = {
  create: {
    name: "a creation",
    prepare: async (direct, n) => ({
      act: (storage) => create(storage, `create${n}`, linesTo(3)),
      state: () => among(text(readLines(direct, `create${n}`)), "", linesTo(3).join("\n")),
    }),
  },
  append: {
    name: "an append",
    async prepare(direct, n) {
      const session = `append${n}`
      const expect: Head = await create(direct, session, linesTo(2))
      return {
        act: (storage) => storage.append(session, linesTo(2, 2), { expect }),
        state: () => among(text(readLines(direct, session)), linesTo(2).join("\n"), linesTo(4).join("\n")),
      }
    },
  },
  delete: {
    name: "a delete",
    async prepare(direct, n) {
      const session = `delete${n}`
      await create(direct, session, [line(n)])
      return {
        act: (storage) => storage.delete(session),
        state: () => among(text(readLines(direct, session)), line(n), ""),
      }
    },
  },
  replace: {
    name: "a replace",
    async prepare(direct, n) {
      const session = `replace${n}`
      const expect = await create(direct, session, linesTo(2))
      return {
        act: async (storage) => replacing(storage, session, expect),
        state: () => among(text(readLines(direct, session)), linesTo(2).join("\n"), linesTo(3, 5).join("\n")),
      }
    },
  },
  putDocument: {
    name: "a new document",
    prepare: async (direct, n) => ({
      act: (storage) => storage.docs.put(`new${n}`, "text", { expect: null }),
      state: () => among(document(direct, `new${n}`), "(none)", "text"),
    }),
  },
  changeDocument: {
    name: "a change of a document",
    async prepare(direct, n) {
      const key = `changed${n}`
      const expect = await direct.docs.put(key, "old", { expect: null })
      return {
        act: (storage) => storage.docs.put(key, "new", { expect }),
        state: () => among(document(direct, key), "old", "new"),
      }
    },
  },
  deleteDocument: {
    name: "a deletion of a document",
    async prepare(direct, n) {
      const key = `deleted${n}`
      const expect = await direct.docs.put(key, "old", { expect: null })
      return {
        act: (storage) => storage.docs.delete(key, { expect }),
        state: () => among(document(direct, key), "old", "(none)"),
      }
    },
  },
  putBlob: {
    name: "a blob",
    async prepare(direct, n) {
      const bytes = toUtf8(`blob ${n}`)
      const hash = await sha256Hex(bytes)
      return {
        act: (storage) => storage.blobs.put(bytes),
        state: () => among(hasBlob(direct, hash), "false", "true"),
      }
    },
  },
  deleteBlob: {
    name: "a deletion of a blob",
    async prepare(direct, n) {
      const hash = await direct.blobs.put(toUtf8(`deleted blob ${n}`))
      return {
        act: (storage) => storage.blobs.delete(hash),
        state: () => among(hasBlob(direct, hash), "true", "false"),
      }
    },
  },
}

async function replacing(storage: SessionStorage, session: string, expect: Head): Promise<Head> {
  if (storage.replace === undefined) throw new StorageError("unsupported", "It has no replace.")
  return storage.replace(session, chunkOf(linesTo(3, 5)), { expect })
}

async function* chunkOf(lines: readonly string[]): AsyncGenerator<Chunk> {
  yield { from: 0, lines }
}

const BLOB = toUtf8("the blob of the reads ".repeat(100))
const NO_HASH = "0".repeat(64)

/** What the reads find: a log, documents and a blob. */
export async function prepareReads(direct: SessionStorage): Promise<void> {
  const head = await create(direct, "read", bigLines(9_000))
  await direct.append("read", bigLines(9_000), { expect: head })
  await direct.docs.put("read", "text ".repeat(100), { expect: null })
  await direct.docs.put("sessions/read/x", "other text", { expect: null })
  await direct.blobs.put(BLOB)
}

export type ReadName =
  | "head"
  | "noHead"
  | "read"
  | "noLines"
  | "window"
  | "list"
  | "document"
  | "noDocument"
  | "documents"
  | "blob"
  | "noBlob"
  | "hasBlob"
  | "blobs"

export const READS: Readonly<Record<ReadName, Read>> = {
  head: { name: "head", act: (storage) => storage.head("read") },
  noHead: { name: "head of no session", act: (storage) => storage.head("none") },
  read: { name: "read", act: (storage) => readLines(storage, "read") },
  noLines: { name: "read of no session", act: (storage) => readLines(storage, "none") },
  window: { name: "read of a window", act: (storage) => readLines(storage, "read", { maxBytes: 3_000 }) },
  list: { name: "list", act: (storage) => collect(storage.list()) },
  document: { name: "docs.get", act: (storage) => storage.docs.get("read") },
  noDocument: { name: "docs.get of no document", act: (storage) => storage.docs.get("none") },
  documents: { name: "docs.list", act: (storage) => collect(storage.docs.list()) },
  blob: { name: "blobs.get", act: async (storage) => storage.blobs.get(await sha256Hex(BLOB)) },
  noBlob: { name: "blobs.get of no blob", act: (storage) => storage.blobs.get(NO_HASH) },
  hasBlob: { name: "blobs.has", act: async (storage) => storage.blobs.has(await sha256Hex(BLOB)) },
  blobs: { name: "blobs.list", act: (storage) => collect(storage.blobs.list()) },
}
