/** The designs of documents and blobs that are simulated: the adapter, and plausible designs whose faults the simulation must find. */
import { type BlobStore, type DocStore, sha256Hex, StorageError } from "@sessions/core/storage"
import { createToken } from "../../src/base/time.ts"
import { decodeEnvelope, encodeEnvelope } from "../../src/format/envelope.ts"
import { createTombstone, isTombstone } from "../../src/format/tombstone.ts"
import { type ObjectStore, ObjectStoreError, type PutCondition, type Time } from "../../src/index.ts"
import { openAdapter } from "./designs.ts"

export interface ObjectDesign {
  readonly name: string
  open(
    store: ObjectStore,
    time: Time,
  ): {
    readonly docs: Pick<DocStore, "get" | "put" | "delete">
    readonly blobs: Pick<BlobStore, "get" | "put" | "delete">
    collect(): Promise<unknown>
  }
}

export const adapter: ObjectDesign = { name: "the adapter", open: openAdapter }

/** Reports every refused condition as a conflict, also that of a request which a proxy repeated. */
export const refusalIsConflict: ObjectDesign = {
  name: "documents for which every refusal is a conflict",
  open: (store, time) => ({ ...adapter.open(store, time), docs: createPlainDocs(store, time, true) }),
}

/** Compares the text that it has read, and then writes without a condition. */
export const unconditionalDocuments: ObjectDesign = {
  name: "documents written without a condition",
  open: (store, time) => ({ ...adapter.open(store, time), docs: createPlainDocs(store, time, false) }),
}

/** Looks how old a blob is, and then deletes it without a condition. */
export const unconditionalCollector: ObjectDesign = {
  name: "a collector of blobs without a condition",
  open(store, time) {
    const { blobs, ...others } = adapter.open(store, time)
    return {
      ...others,
      blobs: {
        ...blobs,
        delete: (hash, o) =>
          withErrors(async () => {
            const found = await store.head(keyOf(hash))
            if (found === undefined || isTombstone(found.size)) return false
            if (found.lastModified + 999 >= (o?.ifPutBefore ?? Number.POSITIVE_INFINITY)) return false
            await store.delete(keyOf(hash))
            return true
          }),
      },
    }
  },
}

/** Does not write a blob that is there already, so a collector that looked at it before deletes it. */
export const skippedPuts: ObjectDesign = {
  name: "a put that skips an existing blob",
  open(store, time) {
    const { blobs, ...others } = adapter.open(store, time)
    return {
      ...others,
      blobs: {
        ...blobs,
        async put(bytes, o) {
          const hash = await sha256Hex(bytes)
          const found = await withErrors(() => store.head(keyOf(hash)))
          return found === undefined || isTombstone(found.size) ? blobs.put(bytes, o) : hash
        },
      },
    }
  },
}

function createPlainDocs(store: ObjectStore, time: Time, isConditional: boolean): DocsOf<ObjectDesign> {
  const atOf = (key: string): string => `docs/${key}`
  const read = async (key: string): Promise<{ etag?: string; text?: string }> => {
    const found = await withErrors(() => store.get(atOf(key)))
    if (found === undefined || found === "unchanged") return {}
    const parts: Uint8Array[] = []
    await withErrors(async () => {
      for await (const part of found.body) parts.push(part)
    })
    const content = decodeEnvelope(Uint8Array.from(parts.flatMap((part) => [...part])))?.content
    return content === undefined ? { etag: found.etag } : { etag: found.etag, text: new TextDecoder().decode(content) }
  }
  const write = async (key: string, expect: string | null, bytes: Uint8Array): Promise<void> => {
    const { etag, text } = await read(key)
    if ((text === undefined ? null : `v:${text}`) !== expect) throw new StorageError("conflict", "another version")
    const condition: PutCondition = etag === undefined ? { kind: "absent" } : { kind: "match", etag, form: "quoted" }
    await withErrors(() => store.put(atOf(key), bytes, isConditional ? { condition } : {}))
  }
  return {
    async get(key) {
      const { text } = await read(key)
      return text === undefined ? undefined : { text, version: `v:${text}` }
    },
    async put(key, text, { expect }) {
      await write(key, expect, encodeEnvelope(new TextEncoder().encode(text), createToken(time)))
      return `v:${text}`
    },
    async delete(key, { expect }) {
      const [generation, token, createdBy] = [createToken(time), createToken(time), createToken(time)]
      await write(key, expect, createTombstone({ generation, token, createdBy }))
    },
  }
}

type DocsOf<D extends ObjectDesign> = ReturnType<D["open"]>["docs"]

async function withErrors<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    const { failure = "network", certain = false } = error instanceof ObjectStoreError ? error : {}
    const code = failure === "precondition" ? "conflict" : certain ? "unavailable" : "indeterminate"
    throw new StorageError(code, `simulated: ${failure}`, { cause: error })
  }
}

function keyOf(hash: string): string {
  return `blobs/${hash.slice(0, 2)}/${hash}`
}
