/** The designs that are simulated: the adapter, and plausible designs whose faults the simulation must find. */
import { type Head, type SessionStorage, StorageError } from "@sessions/core/storage"
import { createObjectStorage, type ObjectStore, ObjectStoreError, type S3Storage, type Time } from "../../src/index.ts"

import { LATEST } from "./faulty-store.ts"

export type Simulated = Pick<SessionStorage, "append" | "head" | "read" | "delete" | "replace"> & {
  collect(session?: string): Promise<unknown>
}

export interface Design {
  readonly name: string
  /** It has tails, which the observed bucket checks, and implements delete and replace. */
  readonly tails: boolean
  open(store: ObjectStore, time: Time): Simulated
}

/** Small enough that a few dozen lines cause sealing and merging. */
export const SIZES = { tailBytes: 900, segmentBytes: 400, mergedBytes: 1_600, cacheBytes: 50_000 }
/** Longer than any request of the simulation is late. */
const KEEP_TOMBSTONES = 2 * LATEST
export const SESSION = "session"
const SEGMENTS = `segments/${SESSION}/`

export const adapter: Design = { name: "the adapter", tails: true, open: openAdapter }

export function openAdapter(store: ObjectStore, time: Time): S3Storage {
  return openWith(store, time, KEEP_TOMBSTONES)
}

function openWith(store: ObjectStore, time: Time, keepTombstones: number): S3Storage {
  const settings = { ...SIZES, requestTimeout: 1_000, patience: 6_000, etags: "quoted", keepTombstones } as const
  return createObjectStorage({ store, time, name: "simulated", ...settings })
}

/** Removes tombstones at once, so that a creation that arrives late brings a deleted session back. */
export const forgottenDeletions: Design = {
  ...adapter,
  name: "a collector that removes tombstones at once",
  open: (store, time) => openWith(store, time, 1),
}

/** Removes the segments that the newest tail does not name, without a fence against writers that are about to name them. */
export const unfencedCollector: Design = {
  ...adapter,
  name: "a collector without a fence",
  open: (store, time) => ({
    ...adapter.open(store, time),
    async collect() {
      try {
        const found = await store.get(`tails/${SESSION}`)
        if (found === undefined || found === "unchanged") return
        let text = ""
        for await (const piece of found.body) text += new TextDecoder().decode(piece)
        const { objects } = await store.list(SEGMENTS)
        for (const { key } of objects) if (!text.includes(key.slice(key.lastIndexOf("/") + 1))) await store.delete(key)
      } catch (error) {
        if (!(error instanceof ObjectStoreError)) throw error
      }
    },
  }),
}

/** Acknowledges an append before its tail is written. */
export const earlyAcknowledgement: Design = {
  ...adapter,
  name: "acknowledgement before the write of the tail",
  open(store, time) {
    const inner = adapter.open(store, time)
    return {
      ...inner,
      async append(session, lines, o) {
        const writing = inner.append(session, lines, o)
        if (o.expect === 0) return writing
        writing.catch(() => undefined)
        return { next: o.expect.next + lines.length, log: o.expect.log }
      },
    }
  },
}

/** One object per batch, named by the expected seq and created with `If-None-Match: *`; every failure is retried blindly. */
export const keysBySeq: Design = {
  name: "keys named by the expected seq, and blind retries",
  tails: false,
  open: (store, time) => createKeysBySeq(store, time),
}

function createKeysBySeq(store: ObjectStore, time: Time): Simulated {
  const keyOf = (seq: number): string => `batches/${String(seq).padStart(8, "0")}`
  const withRetries = async <T>(send: () => Promise<T>): Promise<T> => {
    for (let tries = 0; ; tries++) {
      try {
        return await Promise.race([send(), time.sleep(1_000).then(() => Promise.reject(new Error("timeout")))])
      } catch (error) {
        if (error instanceof ObjectStoreError && error.failure === "precondition") {
          throw new StorageError("conflict", "taken", { cause: error })
        }
        if (tries > 8) throw new StorageError("indeterminate", "given up", { cause: error })
        await time.sleep(100)
      }
    }
  }
  const readAll = async (): Promise<string[]> => {
    const lines: string[] = []
    const { objects } = await withRetries(() => store.list("batches/"))
    for (const { key } of objects) {
      const text = await withRetries(async () => {
        const found = await store.get(key)
        if (found === undefined || found === "unchanged") return ""
        let content = ""
        for await (const piece of found.body) content += new TextDecoder().decode(piece)
        return content
      })
      lines.push(...text.split("\n").slice(0, -1))
    }
    return lines
  }
  return {
    async append(_session, lines, { expect }): Promise<Head> {
      const seq = expect === 0 ? 0 : expect.next
      const bytes = new TextEncoder().encode(`${lines.join("\n")}\n`)
      await withRetries(() => store.put(keyOf(seq), bytes, { condition: { kind: "absent" } }))
      return { next: seq + lines.length, log: "one" }
    },
    async head() {
      const lines = await readAll()
      return lines.length === 0 ? undefined : { next: lines.length, log: "one", bytes: 0, updatedAt: 0 }
    },
    async *read(_session, range) {
      const from = range !== undefined && "from" in range ? (range.from ?? 0) : 0
      const lines = (await readAll()).slice(from)
      if (lines.length > 0) yield { from, lines }
    },
    delete: async () => ({ bytes: 0, parts: 0, purged: true }),
    replace: async () => ({ next: 0, log: "" }),
    collect: async () => undefined,
  }
}
