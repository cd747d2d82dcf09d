import { createSessions } from "@sessions/core"
import type { Head, ListRow, StorageError } from "@sessions/core/storage"
import { collectBlobs, continueRecent } from "@sessions/core/transfer"
import { expect, test } from "vitest"
import {
  createS3ObjectStore,
  createS3Storage,
  ObjectStoreError,
  type S3Storage,
  type StoreFailure,
} from "../src/index.ts"
import { toObjectStoreError } from "../src/object-store/s3-errors.ts"
import { FakeBucket } from "./fake-bucket.ts"
import { openStorage, type Options, readLines, SHORT_PATIENCE } from "./open-storage.ts"
import { linesOf } from "./lines.ts"

const PROBING: Options = { etags: undefined as never }

const message = (content: string) => ({ type: "message", message: { role: "user", content } }) as const

async function refusal(call: Promise<unknown>): Promise<StorageError> {
  return call.then(
    () => expect.fail("the call was not refused"),
    (error: StorageError) => error,
  )
}

async function rowsOf(storage: S3Storage): Promise<ListRow[]> {
  const rows: ListRow[] = []
  for await (const row of storage.list()) rows.push(row)
  return rows
}

function contents(bucket: FakeBucket): string[] {
  return [...bucket.objects].map(([key, { etag }]) => `${key} ${etag}`).sort()
}

function edit(bucket: FakeBucket, key: string, change: (text: string) => string): void {
  const text = new TextDecoder().decode(bucket.objects.get(key)?.bytes)
  bucket.put(key, new TextEncoder().encode(change(text)))
}

/**
 * A writer with a cached tail sends its append and is refused. The unreadable tail does not say whether the append was committed
 * before somebody changed it, so that `indeterminate` is correct, too.
 */
async function expectCachedWriterRefused(storage: S3Storage, head: Head, why: RegExp): Promise<void> {
  for (const expected of [head, 0] as const) {
    const error = await refusal(storage.append("a", ["{}"], { expect: expected }))
    expect(["indeterminate", "unsupported", "corrupt"]).toContain(error.code)
    expect(error.message).toMatch(why)
  }
}

test.each([
  ["on any write", "none"],
  ["on replacing an object", "ignored"],
] as const)(
  "a store that ignores conditions %s is refused before anything is written, and the error names the option",
  async (_, etags) => {
    const bucket = new FakeBucket({ etags })
    const { storage } = openStorage(bucket, PROBING)
    const error = await refusal(storage.append("a", ["{}"], { expect: 0 }))
    expect(error).toMatchObject({ code: "unsupported", message: expect.stringContaining("unsafeSingleWriter") })
    expect(await storage.probe()).toMatchObject({ safe: false, etags: "none" })
    await expect(storage.docs.put("x", "{}", { expect: null })).rejects.toMatchObject({ code: "unsupported" })
    expect(bucket.objects.size).toBe(0)
  },
)

test("with `unsafeSingleWriter` such a store is used, and its sessions stay marked as unsafe", async () => {
  const bucket = new FakeBucket({ etags: "none" })
  const { storage } = openStorage(bucket, { ...PROBING, unsafeSingleWriter: true })
  expect(storage.capabilities.writers).toBe("instance")
  const head = await storage.append("a", linesOf(2), { expect: 0 })
  await storage.append("a", linesOf(1, 2), { expect: head })
  await expect(storage.append("a", ["{}"], { expect: 0 })).rejects.toMatchObject({ code: "conflict" })
  expect(await readLines(storage, "a")).toEqual(linesOf(3))
  const { storage: safe } = openStorage(bucket, PROBING)
  const after = (await safe.head("a")) ?? head
  const error = await refusal(safe.append("a", ["{}"], { expect: { next: after.next, log: after.log } }))
  expect(error).toMatchObject({ code: "unsupported", message: expect.stringContaining("unsafeSingleWriter") })
  expect(await readLines(safe, "a")).toEqual(linesOf(3))
})

test.each(["quoted", "bare"] as const)(
  "the form of ETag (%s) is probed once and kept in the manifest",
  async (etags) => {
    const bucket = new FakeBucket({ etags })
    const { storage } = openStorage(bucket, PROBING)
    expect(await storage.probe()).toEqual({ safe: true, etags, versioned: false })
    const head = await storage.append("a", linesOf(1), { expect: 0 })
    const { storage: other, store } = openStorage(bucket, PROBING)
    await other.append("a", linesOf(1, 1), { expect: head })
    expect(store.calls.map(({ method }) => method)).toEqual(["get", "put"])
  },
)

test("after a move to a store with another form of ETag the bucket is probed again, and manifests keep the result", async () => {
  const { storage, bucket } = openStorage()
  const head = await storage.append("a", linesOf(1), { expect: 0 })
  await storage.append("b", linesOf(1), { expect: 0 })
  const moved = new FakeBucket({ etags: "bare" })
  for (const [key, object] of bucket.objects) moved.objects.set(key, object)
  const { storage: there } = openStorage(moved, PROBING)
  const next = await there.append("a", linesOf(1, 1), { expect: head })
  const { storage: later, store } = openStorage(moved, PROBING)
  await later.append("a", linesOf(1, 2), { expect: next })
  expect(store.calls.map(({ method }) => method)).toEqual(["get", "put"])
  expect(await openStorage(moved, PROBING).storage.delete("b")).toMatchObject({ parts: 1 })
  expect(await readLines(later, "a")).toEqual(linesOf(3))
})

test("after such a move documents and blobs can be replaced and deleted", async () => {
  const { storage, bucket } = openStorage()
  await storage.append("a", linesOf(1), { expect: 0 })
  const version = await storage.docs.put("x", "{}", { expect: null })
  const hash = await storage.blobs.put(new Uint8Array(3))
  const moved = new FakeBucket({ etags: "bare" })
  for (const [key, object] of bucket.objects) moved.objects.set(key, object)
  const { storage: writer } = openStorage(moved)
  await writer.docs.put("x", "[]", { expect: version })
  expect((await openStorage(moved).storage.docs.get("x"))?.text).toBe("[]")
  expect(await openStorage(moved).storage.blobs.delete(hash)).toBe(true)
  expect(await storage.blobs.has(hash)).toBe(true)
  expect(await writer.blobs.has(hash)).toBe(false)
})

test("a versioned bucket is refused, unless `allowVersions` is set", async () => {
  const bucket = new FakeBucket({ versioned: true })
  const { storage } = openStorage(bucket, PROBING)
  const error = await refusal(storage.append("a", ["{}"], { expect: 0 }))
  expect(error).toMatchObject({ code: "unsupported", message: expect.stringContaining("allowVersions") })
  expect(error.message).toContain("lifecycle")
  expect(bucket.objects.size).toBe(0)
  const { storage: allowed } = openStorage(bucket, { ...PROBING, allowVersions: true })
  await expect(allowed.append("a", ["{}"], { expect: 0 })).resolves.toMatchObject({ next: 1 })
})

test("with `etags` given, a versioned bucket is refused from the first answer that shows it", async () => {
  const bucket = new FakeBucket({ versioned: true })
  const { storage } = openStorage(bucket)
  const head = await storage.append("a", linesOf(2), { expect: 0 })
  const before = contents(bucket)
  const { storage: deleting } = openStorage(bucket)
  const { storage: reading } = openStorage(bucket)
  await reading.head("a")
  for (const call of [
    // After the answer to its own write.
    () => storage.append("a", ["{}"], { expect: head }),
    () => storage.docs.put("x", "{}", { expect: null }),
    () => storage.blobs.put(new Uint8Array(3)),
    // After the answer to reading the tail, which a deletion and an append by another process do first.
    () => deleting.delete("a"),
    () => openStorage(bucket).storage.append("a", ["{}"], { expect: head }),
    () => reading.append("b", ["{}"], { expect: 0 }),
  ]) {
    const error = await refusal(call())
    expect(error).toMatchObject({ code: "unsupported", message: expect.stringContaining("allowVersions") })
  }
  expect(contents(bucket)).toEqual(before)
  expect(await readLines(reading, "a")).toEqual(linesOf(2))
  expect(await reading.probe()).toMatchObject({ safe: false, versioned: true })
})

test("a delete is not `purged` if the answer to its own write shows versions, or if they are allowed", async () => {
  const bucket = new FakeBucket()
  const { storage } = openStorage(bucket)
  for (const id of ["a", "b"]) await storage.append(id, linesOf(2), { expect: 0 })
  bucket.versioned = true
  expect(await storage.delete("a")).toMatchObject({ parts: 1, purged: false })
  const { storage: allowed } = openStorage(bucket, { allowVersions: true })
  expect(await allowed.delete("b")).toMatchObject({ parts: 1, purged: false })
  expect(await allowed.delete("b")).toEqual({ bytes: 0, parts: 0, purged: false })
})

test("the S3 client's answers to GET, HEAD and PUT show whether the bucket is versioned", async () => {
  for (const [VersionId, versioned] of [
    ["3sL4kqtJlcpXroDTDmJ", true],
    ["null", false],
    [undefined, false],
  ] as const) {
    const client = {
      send: async () => ({
        ETag: '"e"',
        ContentLength: 0,
        ContentRange: "bytes 0-0/1",
        LastModified: new Date(0),
        ...(VersionId !== undefined && { VersionId }),
      }),
    }
    const store = createS3ObjectStore(client as never, "b")
    for (const answer of [store.get("k"), store.head("k"), store.put("k", new Uint8Array(0))]) {
      expect(await answer).toMatchObject({ versioned })
    }
  }
})

test("a tail of a newer version is neither read nor overwritten", async () => {
  const { storage, bucket } = openStorage()
  const head = await storage.append("a", linesOf(2), { expect: 0 })
  edit(bucket, "tails/a", (text) => text.replace('"v":1', '"v":2'))
  const before = contents(bucket)
  const { storage: fresh } = openStorage(bucket)
  const calls = [
    () => fresh.head("a"),
    () => readLines(fresh, "a"),
    () => fresh.append("a", ["{}"], { expect: head }),
    () => fresh.delete("a"),
    () => fresh.collect("a"),
  ]
  for (const call of calls) {
    const error = await refusal(call())
    expect(error).toMatchObject({ code: "unsupported", at: "tails/a" })
    expect(error.message).toMatch(/use a newer one/)
  }
  await expectCachedWriterRefused(storage, head, /use a newer one/)
  expect(contents(bucket)).toEqual(before)
})

test.each([
  ["not JSON", () => "hello\nworld\n".repeat(20)],
  ["a line removed", (text: string) => `${text.split("\n").slice(0, -2).join("\n")}\n`],
  ["a line changed in length", (text: string) => text.replace(/xxx(?="\}\n$)/, "xx")],
  ["the first line changed in the manifest", (text: string) => text.replace("xxx", "xxy")],
  ["another count in the manifest", (text: string) => text.replace('"next":3', '"next":4')],
  ["cut off in the middle", (text: string) => text.slice(0, -100)],
  ["64 bytes that are not a tombstone", () => "x".repeat(64)],
])("a tail changed by hand (%s) is corrupt and not overwritten", async (_, change) => {
  const { storage, bucket } = openStorage()
  const head = await storage.append("a", linesOf(3), { expect: 0 })
  edit(bucket, "tails/a", change)
  const before = contents(bucket)
  for (const call of [
    () => openStorage(bucket).storage.head("a"),
    () => openStorage(bucket).storage.append("a", ["{}"], { expect: head }),
    () => storage.delete("a"),
  ]) {
    const error = await refusal(call())
    expect(error).toMatchObject({ code: "corrupt", session: "a", at: "tails/a" })
    expect(error.message).toMatch(/left as it is: look at it/)
  }
  await expectCachedWriterRefused(storage, head, /left as it is: look at it/)
  expect(contents(bucket)).toEqual(before)
})

test.each([
  ["of a newer version", (text: string) => text.replace('"v":1', '"v":2'), "unsupported"],
  ["not JSON", () => "hello\n", "corrupt"],
  ["empty", () => "", "corrupt"],
  ["without a line break", () => "x".repeat(100_000), "corrupt"],
  ["cut off in the middle", (text: string) => text.slice(0, -100), "corrupt"],
])("a tail that is %s is listed with the error of `head` and hides no other session", async (_, change, code) => {
  // In the past, so that every blob is old enough to be collected.
  let time = 1e12
  const { storage, bucket } = openStorage(new FakeBucket({ now: () => (time += 1_000) }))
  const sessions = createSessions({ storage })
  for (const id of ["a", "b", "c"]) await (await sessions.create({ id, cwd: "/x" })).append(message(id))
  await sessions.close()
  edit(bucket, "tails/b", change)

  const { storage: fresh } = openStorage(bucket)
  const rows = new Map((await rowsOf(fresh)).map((row) => [row.id, row]))
  expect([...rows.keys()].toSorted()).toEqual(["a", "b", "c"])
  expect(rows.get("b")?.error).toMatchObject({ code, session: "b", at: "tails/b" })
  expect((await refusal(fresh.head("b"))).message).toBe(rows.get("b")?.error?.message)
  const again = createSessions({ storage: fresh })
  expect(await again.list()).toMatchObject({ sessions: [{ id: "c" }, { id: "a" }], unreadable: [{ id: "b" }] })
  expect((await continueRecent(again, { cwd: "/x" })).id).toBe("c")
  await fresh.blobs.put(new Uint8Array(3))
  expect(await collectBlobs(fresh, { olderThan: 0, unreadable: ["b"] })).toMatchObject({ removed: 1 })
  await again.close()
})

test("a tail that the store denies is a row with that error; a store that does not answer ends the list", async () => {
  const { storage, store } = openStorage(undefined, { patience: 50 })
  for (const id of ["a", "b"]) await storage.append(id, linesOf(1), { expect: 0 })
  let failure: StoreFailure = "denied"
  store.fault = ({ key }, proceed) => {
    if (key !== "tails/a") return proceed()
    throw new ObjectStoreError(failure, "403 InvalidObjectState", { certain: true })
  }
  const rows = await rowsOf(storage)
  expect(rows.map(({ id, error }) => [id, error?.code])).toEqual([
    ["b", undefined],
    ["a", "misconfigured"],
  ])
  failure = "server"
  await expect(rowsOf(storage)).rejects.toMatchObject({ code: "unavailable" })
})

test.each([
  ["longer", (text: string) => `${text}{}\n`],
  ["with a line split", (text: string) => text.replace("xx", "\nx")],
  ["empty", () => ""],
  ["gone", undefined],
])(
  "a segment changed by hand (%s) is corrupt when it is read; other lines are read, and appends succeed",
  async (_, change) => {
    const sizes = { tailBytes: 6_000, segmentBytes: 4_000, mergedBytes: 16_000 }
    const { storage, bucket } = openStorage(undefined, sizes)
    const head = await storage.append("a", linesOf(3), { expect: 0 })
    const key = [...bucket.objects.keys()].find((name) => name.startsWith("segments/")) ?? ""
    if (change === undefined) bucket.objects.delete(key)
    else edit(bucket, key, change)
    const { storage: fresh } = openStorage(bucket, sizes)
    const error = await refusal(readLines(fresh, "a"))
    expect(error).toMatchObject({ code: "corrupt", at: key })
    expect(error.message).toMatch(/[Pp]ut the object back|[Pp]ut back the object/)
    expect(await readLines(fresh, "a", { from: 2 })).toEqual(linesOf(1, 2))
    const damaged = bucket.objects.get(key)?.etag
    let now = head
    // Enough appends for a merge, which must not rewrite the damaged segment.
    for (let n = 0; n < 20; n++) now = await fresh.append("a", linesOf(1, now.next), { expect: now })
    expect(bucket.objects.get(key)?.etag).toBe(damaged)
  },
)

const failures: readonly (readonly [StoreFailure, string, RegExp])[] = [
  ["denied", "misconfigured", /s3:ListBucket/],
  ["credentials", "misconfigured", /credentials/],
  ["bucket", "misconfigured", /create it/],
  ["clock", "misconfigured", /clock/],
  ["quota", "quota", /make room/],
]

test.each([
  ["archived", "misconfigured", /restore it/],
  ["redirected", "unavailable", /bucket's region/],
  ["checksum", "misconfigured", /responseChecksumValidation/],
  ["range", "corrupt", /shorter than it was written/],
  ["refused", "misconfigured", /says why/],
] as const)("a read that fails with %s rejects with %s and advice", async (failure, code, advice) => {
  const { storage, store } = openStorage()
  store.fault = () => {
    throw new ObjectStoreError(failure, "message of the store", { certain: true })
  }
  expect(await refusal(storage.head("a"))).toMatchObject({ code, message: expect.stringMatching(advice) })
})

test.each(failures)(
  "a store that fails with %s rejects with %s and advice, and keeps its objects",
  async (failure, code, advice) => {
    const { storage, store, bucket } = openStorage()
    const head = await storage.append("a", linesOf(2), { expect: 0 })
    const before = contents(bucket)
    store.fault = () => {
      throw new ObjectStoreError(failure, "message of the store", { certain: true })
    }
    for (const call of [
      () => storage.head("a"),
      () => storage.append("a", ["{}"], { expect: head }),
      () => storage.append("b", ["{}"], { expect: 0 }),
      () => storage.delete("a"),
      () => storage.docs.put("x", "{}", { expect: null }),
      () => storage.blobs.put(new Uint8Array(3)),
      () => storage.list()[Symbol.asyncIterator]().next() as Promise<unknown>,
    ]) {
      const error = await refusal(call())
      expect(error).toMatchObject({ code, storage: "s3:test" })
      expect(error.message).toMatch(advice)
      expect(error.message).toContain("message of the store")
    }
    expect(contents(bucket)).toEqual(before)
    store.fault = undefined
    await expect(storage.append("a", ["{}"], { expect: head })).resolves.toMatchObject({ next: 3 })
  },
)

test("options out of range are refused at once, by name", () => {
  const open = (options: Options): unknown => openStorage(undefined, options)
  expect(() => open({ shard: 5 })).toThrow(/shard/)
  expect(() => open({ tailBytes: 1_000 })).toThrow(/segmentBytes/)
  expect(() => open({ mergedBytes: 300_000 })).toThrow(/mergedBytes/)
  expect(() => open({ patience: -1 })).toThrow(/patience/)
  expect(() => open({ requestTimeout: 0.5 })).toThrow(/requestTimeout/)
  const client = { send: async () => undefined } as never
  expect(() => createS3Storage({ client, bucket: "" })).toThrow(/bucket/)
  expect(() => createS3Storage({ bucket: "b" } as never)).toThrow(/client/)
})

test.each([
  [400, "ExpiredTokenException", "credentials"],
  [403, "RequestExpired", "clock"],
  [307, "TemporaryRedirect", "redirected"],
  [403, "InvalidObjectState", "archived"],
  [416, "InvalidRange", "range"],
  [400, "RequestTimeout", "network"],
  [400, "BadDigest", "network"],
  [404, "NoSuchUpload", "refused"],
  [404, "NoSuchKey", "precondition"],
] as const)("an error document with %d %s is told as %s", (status, Code, failure) => {
  const error = Object.assign(new Error("said so"), { name: Code, Code, $metadata: { httpStatusCode: status } })
  expect(toObjectStoreError(error)).toMatchObject({ failure })
})

test("a checksum that does not match is one of the whole object if a part was asked for, else a damage on the way", () => {
  const mismatch = new Error('Checksum mismatch: expected "AAAAAA==" but received "Zm9vIA==" in response header')
  expect(toObjectStoreError(mismatch, { isPart: true })).toMatchObject({ failure: "checksum" })
  expect(toObjectStoreError(mismatch)).toMatchObject({ failure: "network" })
})

test("ETags that are changed on the way are told as that, not as other writers", async () => {
  const { storage, store } = openStorage(undefined, SHORT_PATIENCE)
  const head = await storage.append("a", linesOf(1), { expect: 0 })
  const version = await storage.docs.put("x", "{}", { expect: null })
  store.putFault = (condition) => {
    if (condition?.kind === "match") throw new ObjectStoreError("precondition", "412", { certain: true })
  }
  for (const call of [
    () => storage.append("a", linesOf(1, 1), { expect: head }),
    () => storage.delete("a"),
    () => storage.docs.put("x", "[]", { expect: version }),
  ]) {
    const error = await refusal(call())
    expect(error).toMatchObject({
      code: "unsupported",
      message: expect.stringMatching(/something on the way may change/),
    })
  }
})
