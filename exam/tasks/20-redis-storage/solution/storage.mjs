import {
  batchBytes,
  checkExpect,
  connectOnce,
  defineStorage,
  headAfter,
  listPages,
  MAX_CHUNK_BYTES,
  readPages,
  StorageError,
  takeChunk,
  windowStart,
} from "@sessions/core/storage"

/** How many lines one request fetches. */
const BATCH = 64

export function createRedisStorage({ connect, prefix }) {
  const connection = connectOnce({ open: connect, close: (redis) => redis.quit() })
  const keys = {
    ids: `${prefix}ids`,
    docs: `${prefix}docs`,
    blobs: `${prefix}blobs`,
    head: (id) => `${prefix}head:${id}`,
    lines: (log) => `${prefix}lines:${log}`,
    doc: (key) => `${prefix}doc:${key}`,
    blob: (hash) => `${prefix}blob:${hash}`,
  }
  // Watched keys belong to the connection, so one transaction runs on it at a time.
  let last = Promise.resolve()
  function exclusive(work) {
    const result = last.then(work)
    last = result.catch(() => undefined)
    return result
  }

  /** `plan` reads and returns what to execute in one step, and the result. It runs again if a watched key was changed meanwhile. */
  function transaction(watched, plan) {
    return exclusive(async () => {
      const redis = await connection.get()
      for (;;) {
        await redis.watch(...watched)
        let planned
        try {
          planned = await plan(redis)
        } catch (error) {
          await redis.unwatch()
          throw error
        }
        const multi = redis.multi()
        planned.execute(multi)
        if ((await multi.exec()) !== null) return planned.result
      }
    })
  }

  async function headOf(id) {
    const redis = await connection.get()
    const text = await redis.get(keys.head(id))
    return text === null ? undefined : JSON.parse(text)
  }

  async function range(log, from, to) {
    const redis = await connection.get()
    return to <= from ? [] : redis.lrange(keys.lines(log), from, to - 1)
  }

  async function linesFrom(log, from, to) {
    const lines = []
    while (from + lines.length < to && batchBytes(lines) <= MAX_CHUNK_BYTES) {
      const start = from + lines.length
      const more = await range(log, start, Math.min(start + BATCH, to))
      if (more.length === 0) break
      lines.push(...more)
    }
    return takeChunk(lines)
  }

  async function startOfWindow(log, before, maxBytes) {
    const newestFirst = []
    let at = before
    while (at > 0 && batchBytes(newestFirst) <= maxBytes) {
      const from = Math.max(0, at - BATCH)
      const more = await range(log, from, at)
      if (more.length === 0) break
      newestFirst.push(...more.reverse())
      at = from
    }
    return windowStart(newestFirst, before, maxBytes)
  }

  async function isWritten(session, { next, log }, lines) {
    const head = await headOf(session)
    if (head?.log !== log || head.next < next) return false
    const stored = await range(log, next - lines.length, next)
    return stored.length === lines.length && stored.every((line, i) => line === lines[i])
  }

  return defineStorage({
    description: `redis:${prefix}`,
    capabilities: {
      durability: "os",
      atomicBatch: "all",
      writers: "any",
      listOrder: "id",
      deleteIf: true,
      maxLineBytes: 1_000_000,
      maxBatchBytes: 2_000_000,
      maxSessionBytes: 100_000_000,
    },
    toError: (cause, { doing }) =>
      new StorageError("unavailable", `Could not ${doing} (${cause?.message}); is Redis running?`, { cause }),

    async append(session, lines, o) {
      let head
      try {
        return await transaction([keys.head(session)], async (redis) => {
          head = undefined
          const stored = await redis.get(keys.head(session))
          head = headAfter(stored === null ? undefined : JSON.parse(stored), lines, o)
          const { next, log } = head
          return {
            result: { next, log },
            execute: (multi) =>
              multi
                .set(keys.head(session), JSON.stringify(head))
                .rpush(keys.lines(log), ...lines)
                .zadd(keys.ids, 0, session),
          }
        })
      } catch (cause) {
        if (cause?.code !== "ECONNRESET" || head === undefined) throw cause
        if (await isWritten(session, head, lines)) return { next: head.next, log: head.log }
        throw new StorageError(
          "indeterminate",
          "The connection to Redis broke during the append; it may have been written.",
          { cause },
        )
      }
    },

    head: headOf,

    read: readPages(
      headOf,
      (_, log, from, to) => linesFrom(log, from, to),
      (_, log, before, maxBytes) => startOfWindow(log, before, maxBytes),
    ),

    list: listPages(async (after, limit) => {
      const redis = await connection.get()
      const ids = await redis.zrangebylex(keys.ids, after === "" ? "-" : `(${after}`, "+", "LIMIT", 0, limit)
      const rows = await Promise.all(ids.map(async (id) => ({ id, head: await headOf(id) })))
      return rows.flatMap(({ id, head }) => (head === undefined ? [] : [{ id, ...head }]))
    }),

    delete: (session, { expect }) =>
      transaction([keys.head(session), keys.docs], async (redis) => {
        const stored = await redis.get(keys.head(session))
        const head = stored === null ? undefined : JSON.parse(stored)
        if (expect !== undefined) checkExpect(head, expect)
        const own = `sessions/${session}/`
        const docs = await redis.zrangebylex(keys.docs, `[${own}`, `(${own}\u{7f}`)
        return {
          result: { bytes: head?.bytes ?? 0, parts: head ? 1 : 0, purged: true },
          execute(multi) {
            multi.zrem(keys.ids, session).del(keys.head(session), ...docs.map(keys.doc))
            if (head !== undefined) multi.del(keys.lines(head.log))
            for (const key of docs) multi.zrem(keys.docs, key)
          },
        }
      }),

    docs: {
      async get(key) {
        const redis = await connection.get()
        return (await redis.get(keys.doc(key))) ?? undefined
      },
      compareAndSet: (key, from, to) =>
        transaction([keys.doc(key)], async (redis) => {
          if ((await redis.get(keys.doc(key))) !== from) return { result: false, execute: () => undefined }
          return {
            result: true,
            execute(multi) {
              if (to === null) multi.del(keys.doc(key)).zrem(keys.docs, key)
              else multi.set(keys.doc(key), to).zadd(keys.docs, 0, key)
            },
          }
        }),
      async *list(start) {
        const redis = await connection.get()
        yield await redis.zrangebylex(keys.docs, `[${start}`, `(${start}\u{7f}`)
      },
    },

    blobs: {
      put: (hash, bytes) =>
        transaction([keys.blob(hash)], async (redis) => {
          const stored = await redis.get(keys.blob(hash))
          const putAt = Math.max(stored === null ? 0 : JSON.parse(stored).putAt, Date.now())
          const text = JSON.stringify({ putAt, bytes: bytes.length, data: Buffer.from(bytes).toString("base64") })
          return { execute: (multi) => multi.set(keys.blob(hash), text).zadd(keys.blobs, 0, hash) }
        }),
      async get(hash) {
        const redis = await connection.get()
        const text = await redis.get(keys.blob(hash))
        return text === null ? undefined : new Uint8Array(Buffer.from(JSON.parse(text).data, "base64"))
      },
      async has(hash) {
        const redis = await connection.get()
        return (await redis.exists(keys.blob(hash))) > 0
      },
      delete: (hash, { ifPutBefore }) =>
        transaction([keys.blob(hash)], async (redis) => {
          const text = await redis.get(keys.blob(hash))
          if (text === null || JSON.parse(text).putAt >= ifPutBefore) return { result: false, execute: () => undefined }
          return { result: true, execute: (multi) => multi.del(keys.blob(hash)).zrem(keys.blobs, hash) }
        }),
      async *list() {
        const redis = await connection.get()
        for (const hash of await redis.zrangebylex(keys.blobs, "-", "+")) {
          const text = await redis.get(keys.blob(hash))
          if (text === null) continue
          const { bytes, putAt } = JSON.parse(text)
          yield [{ hash, bytes, putAt }]
        }
      },
    },

    close: connection.close,
  })
}
