/** Conditional writes are proven at each store, and only by what it does. */
import { S3Client } from "@aws-sdk/client-s3"
import type { Chunk, Head, StorageError } from "@sessions/core/storage"
import { expect, test } from "vitest"
import { createObjectStorage, createS3ObjectStore, ObjectStoreError, type StoreFailure } from "../src/index.ts"
import { FakeBucket } from "./fake-bucket.ts"
import { createFakeStore, type FakeStore, type StoreFault } from "./fake-store.ts"
import { linesOf } from "./lines.ts"
import { readLines, SHORT_PATIENCE, takeCounts } from "./open-storage.ts"

type Opened = { readonly storage: ReturnType<typeof createObjectStorage>; readonly store: FakeStore }

function open(bucket: FakeBucket, place: string, options: object = {}): Opened {
  const store = createFakeStore(bucket)
  return { store, storage: createObjectStorage({ store, name: place, ...options }) }
}

/** All objects of a bucket, as `rclone` or `aws s3 sync` copy them. */
function copyOf(bucket: FakeBucket, options: ConstructorParameters<typeof FakeBucket>[0] = {}): FakeBucket {
  const copy = new FakeBucket(options)
  for (const [key, object] of bucket.objects) copy.objects.set(key, object)
  return copy
}

/** Checks the condition, and writes after a moment in which others are checked. */
function writesLater(bucket: FakeBucket): StoreFault {
  return async ({ method, key }, proceed) => {
    if (method !== "put") return proceed()
    const before = bucket.objects.get(key)
    const result = proceed()
    const after = bucket.objects.get(key)
    if (before === undefined) bucket.objects.delete(key)
    else bucket.objects.set(key, before)
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
    if (after !== undefined) bucket.objects.set(key, after)
    return result
  }
}

function failing(failure: StoreFailure, message: string, certain = true): ObjectStoreError {
  return new ObjectStoreError(failure, message, { certain })
}

async function* oneChunk(): AsyncGenerator<Chunk> {
  yield { from: 0, lines: linesOf(1) }
}

async function errorOf(call: Promise<unknown>): Promise<StorageError> {
  return call.then(
    () => expect.fail("the call was not refused"),
    (error: StorageError) => error,
  )
}

test("a session that was copied to a store that ignores conditions is not written to, nor are new ones", async () => {
  const bucket = new FakeBucket()
  const head = await open(bucket, "first").storage.append("a", linesOf(1), { expect: 0 })
  const leftover = `segments/a/${"0".repeat(12)}/${"x".repeat(12)}`
  bucket.put(leftover, new Uint8Array(1))
  const copy = copyOf(bucket, { etags: "none" })
  for (const write of [
    (s: Opened["storage"]) => s.append("a", linesOf(1, 1), { expect: head }),
    (s: Opened["storage"]) => s.delete("a"),
    (s: Opened["storage"]) => s.collect("a"),
    async (s: Opened["storage"]) => s.replace?.("a", oneChunk(), { expect: head }),
    async (s: Opened["storage"]) => (await s.head("a"), s.append("b", ["{}"], { expect: 0 })),
    async (s: Opened["storage"]) => (await s.head("a"), s.docs.put("x", "{}", { expect: null })),
    async (s: Opened["storage"]) => (await s.head("a"), s.blobs.put(new Uint8Array(1))),
  ]) {
    const error = await errorOf(write(open(copy, "second").storage))
    expect(error).toMatchObject({ code: "unsupported", message: expect.stringMatching(/^second ignores the cond/) })
  }
  expect([...copy.objects.keys()]).toEqual([...bucket.objects.keys()])
  expect(await readLines(open(copy, "second").storage, "a")).toEqual(linesOf(1))
})

test("the first write to a copied session proves the conditions there, and its manifest keeps the proof", async () => {
  const bucket = new FakeBucket()
  const created = await open(bucket, "first").storage.append("a", linesOf(1), { expect: 0 })
  const copy = copyOf(bucket, { etags: "bare" })
  const there = open(copy, "second")
  const head = await there.storage.append("a", linesOf(1, 1), { expect: created })
  expect(takeCounts(there.store)).toEqual({ get: 1, put: 13, delete: 1 })
  const later = open(copy, "second")
  await later.storage.append("a", linesOf(1, 2), { expect: head })
  await later.storage.append("b", ["{}"], { expect: 0 })
  expect(takeCounts(later.store)).toEqual({ get: 1, put: 2 })
})

test("a manifest keeps the proof of four places, and one that is used under two of them is proven at each once", async () => {
  const bucket = new FakeBucket()
  let head: Head | 0 = 0
  for (const [n, place] of ["p1", "p2", "p1", "p2", "p3", "p4", "p1", "p5", "p1"].entries()) {
    const { storage, store } = open(bucket, place)
    head = await storage.append("a", linesOf(1, n), { expect: head })
    expect([n, (takeCounts(store)["put"] ?? 0) > 1]).toEqual([n, [0, 1, 4, 5, 7, 8].includes(n)])
  }
})

test("`etags` of a deployment spares the proof, and proves nothing to a process without it", async () => {
  const bucket = new FakeBucket()
  const told = open(bucket, "p", { etags: "quoted" })
  const head = await told.storage.append("a", linesOf(1), { expect: 0 })
  expect(takeCounts(told.store)).toEqual({ put: 1 })
  const other = open(bucket, "p")
  await other.storage.append("a", linesOf(1, 1), { expect: head })
  expect(takeCounts(other.store)).toEqual({ get: 1, put: 9, delete: 1 })
})

test("a store whose checks are not atomic is refused, although it is right about each write alone", async () => {
  const bucket = new FakeBucket()
  const { storage, store } = open(bucket, "p")
  store.fault = writesLater(bucket)
  const problem = /does not check a condition and write in one step/
  expect(await storage.probe()).toMatchObject({ safe: false, etags: "none", problem: expect.stringMatching(problem) })
  expect(await errorOf(storage.append("a", ["{}"], { expect: 0 }))).toMatchObject({ code: "unsupported" })
  // Creations alone may be atomic.
  store.fault = (call, proceed, signal) =>
    bucket.objects.has(call.key) ? writesLater(bucket)(call, proceed, signal) : proceed()
  expect(await storage.probe()).toMatchObject({ safe: false, problem: expect.stringMatching(problem) })
  expect(bucket.objects.size).toBe(0)
})

test.each([
  ["busy", "409 ConditionalRequestConflict"],
  ["slow", "429 Reduce your concurrent request rate for the same object"],
  ["slow", "503 SlowDown"],
] as const)(
  "a write that the store puts off because of others (%s, %s) is sent again, alone",
  async (failure, message) => {
    const bucket = new FakeBucket()
    const { storage, store } = open(bucket, "p")
    let running = 0
    store.fault = async ({ method }, proceed) => {
      if (method !== "put") return proceed()
      running++
      for (let turn = 0; turn < 10; turn++) await Promise.resolve()
      const alone = running === 1
      running--
      if (alone) return proceed()
      throw failing(failure, message)
    }
    expect(await storage.probe()).toEqual({ safe: true, etags: "quoted", versioned: false })
  },
)

test.each([
  [
    "501 NotImplemented Header 'x-amz-checksum-crc32' is not implemented",
    /requestChecksumCalculation: "WHEN_REQUIRED"/,
  ],
  [
    "400 InvalidArgument Unsupported header: x-amz-sdk-checksum-algorithm",
    /responseChecksumValidation: "WHEN_REQUIRED"/,
  ],
  ["400 InvalidRequest Content-MD5 is required for a PUT with Object Lock", /object lock/],
  ["400 InvalidRequest something else", /documentation of the store/],
])("a store that refuses every write (%s) is not told as one that ignores conditions", async (message, advice) => {
  const { storage, store } = open(new FakeBucket(), "p", { unsafeSingleWriter: true })
  store.fault = ({ method }, proceed) => {
    if (method === "put") throw failing("refused", message)
    return proceed()
  }
  for (const call of [storage.append("a", ["{}"], { expect: 0 }), storage.probe()]) {
    const error = await errorOf(call)
    expect(error.message).toContain(message)
    expect(error.message).toMatch(advice)
    expect(error.message).not.toMatch(/ignores|unsafeSingleWriter/)
  }
})

test("a store that refuses writes with a condition only has none", async () => {
  const bucket = new FakeBucket()
  const { storage, store } = open(bucket, "p")
  store.putFault = (condition) => {
    if (condition !== undefined) throw failing("refused", "501 NotImplemented If-None-Match")
  }
  const problem = /refuses the conditions of a write \(501 NotImplemented If-None-Match\)/
  expect(await storage.probe()).toMatchObject({ safe: false, etags: "none", problem: expect.stringMatching(problem) })
  expect(bucket.objects.size).toBe(0)
})

test("a store that refuses the ETags that it has given is told as that", async () => {
  const { storage, store } = open(new FakeBucket(), "p")
  store.putFault = (condition) => {
    if (condition?.kind === "match") throw failing("precondition", "412 PreconditionFailed")
  }
  const problem = /refuses If-Match with the ETag that it has given; .* a proxy that compresses/
  expect(await storage.probe()).toMatchObject({ safe: false, problem: expect.stringMatching(problem) })
})

test.each(["server", "network", "foreign"] as const)(
  "a moment of failures (%s) while the store is tried decides nothing: a session has conditions afterwards",
  async (failure) => {
    const bucket = new FakeBucket()
    const { storage, store } = open(bucket, "p", { unsafeSingleWriter: true })
    let left = 6
    store.fault = ({ method }, proceed) => {
      if (method === "put" && left-- > 0) throw failing(failure, "500 InternalError", false)
      return proceed()
    }
    await storage.append("a", ["{}"], { expect: 0 })
    expect(new TextDecoder().decode(bucket.objects.get("tails/a")?.bytes)).toContain('"etags":"quoted"')
  },
)

test.each(["server", "foreign"] as const)(
  "a store that only fails (%s) is unavailable, not one without conditions",
  async (failure) => {
    const { storage, store } = open(new FakeBucket(), "p", { ...SHORT_PATIENCE, unsafeSingleWriter: true })
    store.fault = () => {
      throw failing(failure, "500 InternalError", false)
    }
    expect(await errorOf(storage.append("a", ["{}"], { expect: 0 }))).toMatchObject({ code: "unavailable" })
    expect(await errorOf(storage.probe())).toMatchObject({ code: "unavailable" })
  },
)

test("a creation that is answered with a failure after it was done does not make its store one that refuses creations", async () => {
  const { storage, store } = open(new FakeBucket(), "p")
  let failed = false
  store.fault = ({ method }, proceed) => {
    const result = proceed()
    if (method !== "put" || failed) return result
    failed = true
    throw failing("server", "500 InternalError", false)
  }
  expect(await storage.probe()).toEqual({ safe: true, etags: "quoted", versioned: false })
})

test("an S3 client's store is named by its endpoint or its region, and by the bucket", async () => {
  const credentials = { accessKeyId: "a", secretAccessKey: "b" }
  const placeOf = (o: object) =>
    createS3ObjectStore(new S3Client({ region: "eu-west-1", credentials, ...o }), "b").place?.()
  expect(await placeOf({})).toBe("s3.eu-west-1/b")
  expect(await createS3ObjectStore({ send: () => undefined } as never, "b").place?.()).toBe("s3.aws/b")
  expect(await placeOf({ endpoint: "http://127.0.0.1:9000", forcePathStyle: true })).toBe("http://127.0.0.1:9000/b")
  expect(await placeOf({ endpoint: "https://gateway/s3" })).toBe("https://gateway/s3/b")
})
