/** Cases of blobs. */
import type { BlobStore } from "@sessions/core/storage"
import { check, equal, equalBytes, rejects, until } from "../helpers/assert.ts"
import { type Case, casesOf } from "../case/case.ts"
import { collect, create } from "../helpers/lines.ts"
import { needs } from "../case/needs.ts"

export const blobs: readonly Case[] = casesOf("blobs", [
  {
    n: 1,
    clause: "blobs.named",
    title: "a put returns the SHA-256 of the bytes",
    async run({ storage: { blobs: store } }) {
      for (const [text, hash] of known)
        equal(await store.put(new TextEncoder().encode(text)), hash, `the hash of ${JSON.stringify(text)}`)
    },
  },
  {
    n: 2,
    clause: "blobs.named",
    title: "bytes come back exactly: none, all 256 values, a part of a larger buffer, a megabyte",
    async run({ storage: { blobs: store } }) {
      const every = Uint8Array.from({ length: 256 }, (_, n) => n)
      const long = new Uint8Array(1_000_000).map((_, n) => (n * 31) % 251)
      for (const bytes of [new Uint8Array(), every, every.subarray(13, 200), long]) {
        const hash = await store.put(bytes)
        equalBytes(await store.get(hash), bytes, `the blob of ${bytes.length} bytes`)
        equal(await store.has(hash), true, `has() of the blob of ${bytes.length} bytes`)
      }
    },
  },
  {
    n: 3,
    clause: "blobs.named",
    title: "a missing blob is `undefined`",
    async run({ storage: { blobs: store } }) {
      await store.put(new Uint8Array([1]))
      equal(await store.get("0".repeat(64)), undefined, "get()")
      equal(await store.has("0".repeat(64)), false, "has()")
      equal(await store.delete("0".repeat(64)), false, "delete()")
    },
  },
  {
    n: 4,
    clause: "blobs.list",
    title: "a blob that is put many times, also concurrently, exists once",
    async run({ writers, sizes }) {
      const [{ blobs: a }, { blobs: b }] = await writers()
      const bytes = new TextEncoder().encode("abc")
      const hashes = await Promise.all(Array.from({ length: sizes.race }, (_, n) => (n % 2 === 0 ? a : b).put(bytes)))
      equal([...new Set(hashes)], [known[1]?.[1]], "the distinct hashes from the puts")
      equal(
        (await collect(a.list())).map(({ hash, bytes: size }) => ({ hash, size })),
        [{ hash: hashes[0], size: 3 }],
        "list()",
      )
      equalBytes(await b.get(hashes[0] ?? ""), bytes, "the blob")
    },
  },
  {
    n: 5,
    clause: "blobs.young",
    title: "a put of an existing blob renews `putAt`",
    async run({ storage: { blobs: store }, sizes }) {
      const bytes = new Uint8Array([1, 2, 3])
      const hash = await store.put(bytes)
      const first = await putAtOf(store, hash)
      await until(sizes.waitMs, "a later putAt after further puts", async () => {
        await store.put(bytes)
        return (await putAtOf(store, hash)) > first
      })
    },
  },
  {
    n: 6,
    clause: "blobs.delete",
    title: "a delete returns whether it removed a blob, and is idempotent",
    async run({ storage: { blobs: store } }) {
      const hash = await store.put(new Uint8Array([1]))
      const other = await store.put(new Uint8Array([2]))
      equal(await store.delete(hash), true, "the first delete")
      equal(await store.delete(hash), false, "the second delete")
      equal(await store.has(hash), false, "has() after the delete")
      equal(await store.get(hash), undefined, "get() after the delete")
      equal(
        (await collect(store.list())).map((blob) => blob.hash),
        [other],
        "the hashes in list()",
      )
    },
  },
  {
    n: 7,
    clause: "blobs.delete",
    title: "with `ifPutBefore`, only a blob with an older last put is deleted",
    async run({ storage: { blobs: store } }) {
      const hash = await store.put(new Uint8Array([1]))
      const putAt = await putAtOf(store, hash)
      equal(await store.delete(hash, { ifPutBefore: putAt - 1 }), false, "a delete with an earlier instant")
      equal(await store.delete(hash, { ifPutBefore: putAt }), false, "a delete with the instant of the put")
      equal(await store.has(hash), true, "has() after both")
      equal(await store.delete(hash, { ifPutBefore: putAt + 60_000 }), true, "a delete with a later instant")
      equal(await store.has(hash), false, "has() after the third delete")
    },
  },
  {
    n: 8,
    clause: "blobs.young",
    title: "a blob that is put again after the collector read its time is not deleted",
    async run({ writers, sizes }) {
      const [{ blobs: collector }, { blobs: user }] = await writers()
      const bytes = new Uint8Array([9])
      const hash = await user.put(bytes)
      const seenAt = await putAtOf(collector, hash)
      await until(sizes.waitMs, "a later putAt after further puts", async () => {
        await user.put(bytes)
        return (await putAtOf(user, hash)) > seenAt
      })
      equal(await collector.delete(hash, { ifPutBefore: seenAt + 1 }), false, "the collector's delete")
      equalBytes(await user.get(hash), bytes, "the blob after it")
    },
  },
  {
    n: 9,
    clause: "blobs.list",
    title: "list returns every blob with its size and the time of its last put",
    async run({ storage: { blobs: store } }) {
      const sizes = new Map<string, number>()
      for (const length of [0, 1, 10, 5_000]) sizes.set(await store.put(new Uint8Array(length).fill(length)), length)
      const rows = await collect(store.list())
      equal(
        Object.fromEntries(rows.map(({ hash, bytes }) => [hash, bytes])),
        Object.fromEntries(sizes),
        "the hashes and sizes",
      )
      equal(rows.length, sizes.size, "the number of rows")
      for (const { putAt } of rows)
        check(Math.abs(putAt - Date.now()) < 86_400_000, "putAt", "milliseconds since 1970, about now", putAt)
    },
  },
  {
    n: 10,
    clause: "ids.checked",
    title: "an invalid hash is `invalid` in every method, and so is a blob that is not a byte array",
    async run({ storage: { blobs: store } }) {
      const hash = await store.put(new TextEncoder().encode("abc"))
      for (const bad of [
        "",
        "../x",
        hash.slice(1),
        `${hash}0`,
        hash.toUpperCase(),
        `sha256:${hash}`,
        `${hash.slice(0, 62)}/x`,
      ]) {
        await rejects("invalid", `get("${bad}")`, () => store.get(bad))
        await rejects("invalid", `has("${bad}")`, () => store.has(bad))
        await rejects("invalid", `delete("${bad}")`, () => store.delete(bad))
      }
      for (const bad of ["abc", undefined, [1, 2]]) {
        await rejects("invalid", `put(${JSON.stringify(bad)})`, () => store.put(bad as unknown as Uint8Array))
      }
      equal(await store.has(hash), true, "has() of the valid hash")
    },
  },
  {
    n: 11,
    clause: "blobs.named",
    title: "changing the array that was put, or one that was returned, does not change the blob",
    async run({ storage: { blobs: store } }) {
      const bytes = new TextEncoder().encode("abc")
      const putting = store.put(bytes)
      bytes.fill(0)
      const hash = await putting
      equal(hash, known[1]?.[1], "the hash of the bytes at the call")
      const got = await store.get(hash)
      got?.fill(0)
      equalBytes(await store.get(hash), new TextEncoder().encode("abc"), "the blob after a returned array was changed")
    },
  },
  {
    n: 12,
    clause: "delete.only",
    title: "a delete of a session keeps blobs",
    async run({ storage }) {
      const hash = await storage.blobs.put(new Uint8Array([1]))
      await create(storage, "a", [JSON.stringify({ blob: `blob:sha256:${hash}` })])
      await storage.delete("a")
      equal(await storage.blobs.has(hash), true, "has() after the delete")
    },
  },
  {
    n: 13,
    clause: "signal.before",
    title: "a call with an aborted signal is `aborted` and has no effect",
    async run({ storage: { blobs: store } }) {
      const hash = await store.put(new Uint8Array([1]))
      const signal = AbortSignal.abort()
      await rejects("aborted", "put()", () => store.put(new Uint8Array([2]), { signal }))
      await rejects("aborted", "get()", () => store.get(hash, { signal }))
      await rejects("aborted", "has()", () => store.has(hash, { signal }))
      await rejects("aborted", "delete()", () => store.delete(hash, { signal }))
      await rejects("aborted", "list()", () => collect(store.list({ signal })))
      equal(
        (await collect(store.list())).map((blob) => blob.hash),
        [hash],
        "the blobs after the aborted calls",
      )
    },
  },
  {
    n: 14,
    clause: "blobs.purged",
    title: "after a delete and a sweep that leaves nothing, nothing in the store contains bytes of the blob",
    needs: needs.contains,
    async run({ storage, contains }) {
      const secret = "A-SECRET-OF-THE-BLOB"
      const bytes = new TextEncoder().encode(`${secret} `.repeat(500))
      const hash = await storage.blobs.put(bytes)
      // The first write of a file may go elsewhere than later ones.
      await storage.blobs.put(bytes)
      equal(await contains(secret), true, "whether the store contains the blob before the delete")
      equal(await storage.blobs.delete(hash), true, "delete() of the blob")
      equal((await storage.sweep?.())?.left ?? 0, 0, "`left` of the sweep")
      equal(await contains(secret), false, `whether the store still contains ${secret}`)
    },
  },
])

const known: readonly (readonly [string, string])[] = [
  ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
  ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
]

async function putAtOf(store: BlobStore, hash: string): Promise<number> {
  const row = (await collect(store.list())).find((blob) => blob.hash === hash)
  check(row !== undefined, `the blob ${hash.slice(0, 8)}… in blobs.list()`, "to be there", undefined)
  return row.putAt
}
