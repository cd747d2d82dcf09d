import type { Head, StorageError } from "@sessions/core/storage"
import { expect, test } from "vitest"
import type { S3Storage, StoreFailure } from "../src/index.ts"
import { createS3Storage, ObjectStoreError } from "../src/index.ts"
import { FakeBucket } from "./fake-bucket.ts"
import type { Options } from "./open-storage.ts"
import { linesOf } from "./lines.ts"
import { openOn, readLines } from "./open-storage.ts"

const PROBING: Options = { etags: undefined as never }

async function refusal(call: Promise<unknown>): Promise<StorageError> {
  return call.then(
    () => expect.fail("nothing was refused"),
    (error: StorageError) => error,
  )
}

function contents(bucket: FakeBucket): string[] {
  return [...bucket.objects].map(([key, { etag }]) => `${key} ${etag}`).sort()
}

/** Lets `edit` change an object's text. */
function edit(bucket: FakeBucket, key: string, change: (text: string) => string): void {
  const text = new TextDecoder().decode(bucket.objects.get(key)?.bytes)
  bucket.put(key, new TextEncoder().encode(change(text)))
}

/**
 * Who has not looked since sends, and is refused; what it then finds says nothing of its own lines, which somebody may have
 * taken away.
 */
async function expectRefusedBlindly(storage: S3Storage, head: Head, why: RegExp): Promise<void> {
  for (const expected of [head, 0] as const) {
    const error = await refusal(storage.append("a", ["{}"], { expect: expected }))
    expect(["indeterminate", "unsupported", "corrupt"]).toContain(error.code)
    expect(error.message).toMatch(why)
  }
}

test.each([
  ["at all", "none"],
  ["when it replaces", "ignored"],
] as const)(
  "a store that does not compare %s is refused before anything is made, with the way out by name",
  async (_, etags) => {
    const bucket = new FakeBucket({ etags })
    const { storage } = openOn(bucket, PROBING)
    const error = await refusal(storage.append("a", ["{}"], { expect: 0 }))
    expect(error).toMatchObject({ code: "unsupported", message: expect.stringContaining("unsafeSingleWriter") })
    expect(await storage.probe()).toMatchObject({ safe: false, etags: "none" })
    await expect(storage.docs.put("x", "{}", { expect: null })).rejects.toMatchObject({ code: "unsupported" })
    expect(bucket.objects.size).toBe(0)
  },
)

test("told that there is one writer, it is used all the same, and says so for good", async () => {
  const bucket = new FakeBucket({ etags: "none" })
  const { storage } = openOn(bucket, { ...PROBING, unsafeSingleWriter: true })
  expect(storage.capabilities.writers).toBe("instance")
  const head = await storage.append("a", linesOf(2), { expect: 0 })
  await storage.append("a", linesOf(1, 2), { expect: head })
  await expect(storage.append("a", ["{}"], { expect: 0 })).rejects.toMatchObject({ code: "conflict" })
  expect(await readLines(storage, "a")).toEqual(linesOf(3))
  const { storage: safe } = openOn(bucket, PROBING)
  const after = (await safe.head("a")) ?? head
  const error = await refusal(safe.append("a", ["{}"], { expect: { next: after.next, log: after.log } }))
  expect(error).toMatchObject({ code: "unsupported", message: expect.stringContaining("unsafeSingleWriter") })
  expect(await readLines(safe, "a")).toEqual(linesOf(3))
})

test.each(["quoted", "bare"] as const)(
  "how a bucket compares, %s, is found out once and kept in the session",
  async (etags) => {
    const bucket = new FakeBucket({ etags })
    const { storage } = openOn(bucket, PROBING)
    expect(await storage.probe()).toEqual({ safe: true, etags, versioned: false })
    const head = await storage.append("a", linesOf(1), { expect: 0 })
    const { storage: other, store } = openOn(bucket, PROBING)
    await other.append("a", linesOf(1, 1), { expect: head })
    expect(store.calls.map(({ method }) => method)).toEqual(["get", "put"])
  },
)

test("a bucket whose objects came from a store that compares otherwise is tried out anew, and remembers", async () => {
  const { storage, bucket } = openOn()
  const head = await storage.append("a", linesOf(1), { expect: 0 })
  await storage.append("b", linesOf(1), { expect: 0 })
  const moved = new FakeBucket({ etags: "bare" })
  for (const [key, object] of bucket.objects) moved.objects.set(key, object)
  const { storage: there } = openOn(moved, PROBING)
  const next = await there.append("a", linesOf(1, 1), { expect: head })
  const { storage: later, store } = openOn(moved, PROBING)
  await later.append("a", linesOf(1, 2), { expect: next })
  expect(store.calls.map(({ method }) => method)).toEqual(["get", "put"])
  expect(await openOn(moved, PROBING).storage.delete("b")).toMatchObject({ parts: 1 })
  expect(await readLines(later, "a")).toEqual(linesOf(3))
})

test("documents and blobs of a bucket that was moved are tried out anew, too", async () => {
  const { storage, bucket } = openOn()
  await storage.append("a", linesOf(1), { expect: 0 })
  const version = await storage.docs.put("x", "{}", { expect: null })
  const hash = await storage.blobs.put(new Uint8Array(3))
  const moved = new FakeBucket({ etags: "bare" })
  for (const [key, object] of bucket.objects) moved.objects.set(key, object)
  const { storage: writer } = openOn(moved)
  await writer.docs.put("x", "[]", { expect: version })
  expect((await openOn(moved).storage.docs.get("x"))?.text).toBe("[]")
  expect(await openOn(moved).storage.blobs.delete(hash)).toBe(true)
  expect(await storage.blobs.has(hash)).toBe(true)
  expect(await writer.blobs.has(hash)).toBe(false)
})

test("a versioned bucket is refused, unless somebody has thought of its versions", async () => {
  const bucket = new FakeBucket({ versioned: true })
  const { storage } = openOn(bucket, PROBING)
  const error = await refusal(storage.append("a", ["{}"], { expect: 0 }))
  expect(error).toMatchObject({ code: "unsupported", message: expect.stringContaining("allowVersions") })
  expect(error.message).toContain("lifecycle")
  expect(bucket.objects.size).toBe(0)
  const { storage: allowed } = openOn(bucket, { ...PROBING, allowVersions: true })
  await expect(allowed.append("a", ["{}"], { expect: 0 })).resolves.toMatchObject({ next: 1 })
})

test("a tail of a newer version is neither read nor overwritten", async () => {
  const { storage, bucket } = openOn()
  const head = await storage.append("a", linesOf(2), { expect: 0 })
  edit(bucket, "tails/a", (text) => text.replace('"v":1', '"v":2'))
  const before = contents(bucket)
  const { storage: fresh } = openOn(bucket)
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
  await expectRefusedBlindly(storage, head, /use a newer one/)
  expect(contents(bucket)).toEqual(before)
})

test.each([
  ["not JSON", () => "hello\nworld\n".repeat(20)],
  ["a line removed", (text: string) => `${text.split("\n").slice(0, -2).join("\n")}\n`],
  ["a line changed in length", (text: string) => text.replace(/xxx(?="\}\n$)/, "xx")],
  ["the first line changed in the manifest", (text: string) => text.replace("xxx", "xxy")],
  ["another count in the manifest", (text: string) => text.replace('"next":3', '"next":4')],
  ["cut off in the middle", (text: string) => text.slice(0, -100)],
  ["64 bytes that are no tombstone", () => "x".repeat(64)],
])("a tail changed by hand (%s) is said to be so, and left alone", async (_, change) => {
  const { storage, bucket } = openOn()
  const head = await storage.append("a", linesOf(3), { expect: 0 })
  edit(bucket, "tails/a", change)
  const before = contents(bucket)
  for (const call of [
    () => openOn(bucket).storage.head("a"),
    () => openOn(bucket).storage.append("a", ["{}"], { expect: head }),
    () => storage.delete("a"),
  ]) {
    const error = await refusal(call())
    expect(error).toMatchObject({ code: "corrupt", session: "a", at: "tails/a" })
    expect(error.message).toMatch(/left as it is; put back/)
  }
  await expectRefusedBlindly(storage, head, /left as it is; put back/)
  expect(contents(bucket)).toEqual(before)
})

test.each([
  ["longer", (text: string) => `${text}{}\n`],
  ["with a line split", (text: string) => text.replace("xx", "\nx")],
  ["gone", undefined],
])(
  "a segment changed by hand (%s) is said to be so where it is read; the rest is read, and appended to",
  async (_, change) => {
    const sizes = { tailBytes: 6_000, segmentBytes: 4_000, mergedBytes: 16_000 }
    const { storage, bucket } = openOn(undefined, sizes)
    const head = await storage.append("a", linesOf(3), { expect: 0 })
    const key = [...bucket.objects.keys()].find((name) => name.startsWith("segments/")) ?? ""
    if (change === undefined) bucket.objects.delete(key)
    else edit(bucket, key, change)
    const { storage: fresh } = openOn(bucket, sizes)
    const error = await refusal(readLines(fresh, "a"))
    expect(error).toMatchObject({ code: "corrupt", at: key })
    expect(error.message).toMatch(/[Pp]ut the object back|[Pp]ut back the object/)
    expect(await readLines(fresh, "a", { from: 2 })).toEqual(linesOf(1, 2))
    const damaged = bucket.objects.get(key)?.etag
    let now = head
    // Enough for a merge, which would take it along.
    for (let n = 0; n < 20; n++) now = await fresh.append("a", linesOf(1, now.next), { expect: now })
    expect(bucket.objects.get(key)?.etag).toBe(damaged)
  },
)

const failures: readonly (readonly [StoreFailure, string, RegExp])[] = [
  ["denied", "unavailable", /s3:ListBucket/],
  ["credentials", "unavailable", /credentials/],
  ["bucket", "unavailable", /create it/],
  ["clock", "unavailable", /clock/],
  ["quota", "quota", /make room/],
]

test.each(failures)(
  "a store that refuses (%s) gives %s, with what to do, and keeps its objects",
  async (failure, code, advice) => {
    const { storage, store, bucket } = openOn()
    const head = await storage.append("a", linesOf(2), { expect: 0 })
    const before = contents(bucket)
    store.fault = () => {
      throw new ObjectStoreError(failure, "as the store says", { certain: true })
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
      expect(error.message).toContain("as the store says")
    }
    expect(contents(bucket)).toEqual(before)
    store.fault = undefined
    await expect(storage.append("a", ["{}"], { expect: head })).resolves.toMatchObject({ next: 3 })
  },
)

test("options that make no sense are refused at once, by name", () => {
  const make = (options: Options): unknown => openOn(undefined, options)
  expect(() => make({ shard: 5 })).toThrow(/shard/)
  expect(() => make({ tailBytes: 1_000 })).toThrow(/segmentBytes/)
  expect(() => make({ mergedBytes: 300_000 })).toThrow(/mergedBytes/)
  expect(() => make({ patience: -1 })).toThrow(/patience/)
  expect(() => make({ requestTimeout: 0.5 })).toThrow(/requestTimeout/)
  const client = { send: async () => undefined } as never
  expect(() => createS3Storage({ client, bucket: "" })).toThrow(/bucket/)
  expect(() => createS3Storage({ bucket: "b" } as never)).toThrow(/client/)
})
