/** What is simulated: the adapter, and designs that look as good and are not. */
import type { Head, SessionStorage } from "@sessions/core/storage"
import { StorageError } from "@sessions/core/storage"
import type { ObjectStore, Time } from "../../src/index.ts"
import { createObjectStorage, ObjectStoreError } from "../../src/index.ts"

export type Simulated = Pick<SessionStorage, "append" | "head" | "read" | "delete" | "replace"> & {
  collect(session: string): Promise<unknown>
}

export interface Design {
  readonly name: string
  /** It keeps tails, so that the bucket can be watched, and can delete and replace. */
  readonly tails: boolean
  open(store: ObjectStore, time: Time): Simulated
}

/** Small enough that everything rolls and merges within some dozen lines. */
export const SIZES = { tailBytes: 900, segmentBytes: 400, mergedBytes: 1_600, cacheBytes: 50_000 }
export const SESSION = "session"
const SEGMENTS = `segments/${SESSION}/`

export const adapter: Design = {
  name: "the adapter",
  tails: true,
  open: (store, time) =>
    createObjectStorage({
      store,
      time,
      name: "simulated",
      ...SIZES,
      requestTimeout: 1_000,
      patience: 6_000,
      etags: "quoted",
    }),
}

/** Removes what the newest tail does not name, without keeping out whoever is about to name it. */
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

/** Tells of an append before the tail that holds it is written. */
export const hastyAcknowledgement: Design = {
  ...adapter,
  name: "acknowledgement before the tail",
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

/** An object a batch, named by the seq that its writer expects, made if it is not there; whatever fails is sent again. */
export const keysBySeq: Design = {
  name: "keys named by the expected seq, and blind retry",
  tails: false,
  open: (store, time) => createKeysBySeq(store, time),
}

function createKeysBySeq(store: ObjectStore, time: Time): Simulated {
  const keyOf = (seq: number): string => `batches/${String(seq).padStart(8, "0")}`
  const persistently = async <T>(act: () => Promise<T>): Promise<T> => {
    for (let tries = 0; ; tries++) {
      try {
        return await Promise.race([act(), time.sleep(1_000).then(() => Promise.reject(new Error("late")))])
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
    const { objects } = await persistently(() => store.list("batches/"))
    for (const { key } of objects) {
      const text = await persistently(async () => {
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
      await persistently(() => store.put(keyOf(seq), bytes, { condition: { kind: "absent" } }))
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
    delete: async () => ({ bytes: 0, parts: 0 }),
    replace: async () => ({ next: 0, log: "" }),
    collect: async () => undefined,
  }
}
