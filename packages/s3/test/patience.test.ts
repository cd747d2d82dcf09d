/** How soon a call rejects if the store cannot be used, and with which error. In simulated time. */
import { createServer } from "node:net"
import { S3Client } from "@aws-sdk/client-s3"
import type { Head } from "@sessions/core/storage"
import { expect, test, vi } from "vitest"
import { createDice } from "../../core/test/dice.ts"
import { createObjectStorage, createS3ObjectStore, ObjectStoreError, type S3Storage } from "../src/index.ts"
import { realTime } from "../src/base/time.ts"
import { linesOf } from "./lines.ts"
import { type OpenedStorage, openStorage, type Options, readLines, SMALL_SIZES } from "./open-storage.ts"
import { type Clock, createClock } from "./simulation/clock.ts"

/** A request fails after 9 s, and the last retry may begin just before the patience is over. */
const REQUEST_MS = 9_000
const LIMITS = { requestTimeout: 10_000, patience: 20_000 }
const LONGEST = LIMITS.patience + REQUEST_MS

const head = { next: 2, log: "x" }
const hash = "0".repeat(64)

test.each([
  ["head", (s: S3Storage) => s.head("b"), "unavailable"],
  ["append", async (s: S3Storage) => s.append("a", ["{}"], { expect: { ...head, log: "b" } }), "unavailable"],
  ["creation", (s: S3Storage) => s.append("b", ["{}"], { expect: 0 }), "indeterminate"],
  ["delete", (s: S3Storage) => s.delete("b"), "unavailable"],
  ["list", (s: S3Storage) => s.list()[Symbol.asyncIterator]().next(), "unavailable"],
  ["write of a document", (s: S3Storage) => s.docs.put("sessions/a/x", "{}", { expect: null }), "unavailable"],
  ["read of a blob", (s: S3Storage) => s.blobs.get(hash), "unavailable"],
  ["delete of a blob", (s: S3Storage) => s.blobs.delete(hash), "unavailable"],
] as const)("the patience limits all retries of a call together: %s", async (_, call, code) => {
  const clock = createClock()
  const { storage, store } = openIn(clock)
  store.fault = () => fail(clock)
  expect(await timed(clock, call(storage))).toMatchObject({ code })
  expect(clock.now()).toBeLessThanOrEqual(LONGEST)
})

test("a creation that has to probe is given up within the patience", async () => {
  const clock = createClock()
  const { storage, store } = openIn(clock, { etags: undefined as never })
  store.fault = () => fail(clock)
  expect(await timed(clock, storage.append("a", ["{}"], { expect: 0 }))).toMatchObject({ code: "unavailable" })
  expect(clock.now()).toBeLessThanOrEqual(LONGEST)
})

test("a cached writer whose append and reads fail is given up within the patience", async () => {
  const clock = createClock()
  const { storage, store } = openIn(clock)
  const created = await storage.append("a", linesOf(1), { expect: 0 })
  store.fault = () => fail(clock)
  const error = await timed(clock, storage.append("a", linesOf(1, 1), { expect: created }))
  expect(error).toMatchObject({ code: "indeterminate" })
  expect(clock.now()).toBeLessThanOrEqual(LONGEST)
})

test.each([0, 1, 3])("`probe` rejects within 10 s if the store stops answering after %d requests", async (answered) => {
  const clock = createClock()
  const { storage, store } = openIn(clock)
  store.fault = (_, proceed) => (store.calls.length > answered ? new Promise(() => undefined) : proceed())
  expect(await timed(clock, storage.probe())).toMatchObject({ code: "unavailable" })
  expect(clock.now()).toBeLessThanOrEqual(10_001)
})

const credentials = { accessKeyId: "a", secretAccessKey: "b" }
const options = { region: "us-east-1", forcePathStyle: true, credentials }

test.each([
  [
    "no region",
    async () => new S3Client({ credentials }),
    "misconfigured",
    /Region is missing.*give the client a `region`/,
  ],
  [
    "an endpoint that is no URL",
    async () => new S3Client({ ...options, endpoint: "minio" }),
    "misconfigured",
    /its `endpoint` with https/,
  ],
  [
    "an endpoint that refuses connections",
    createRefusedClient,
    "unavailable",
    /ECONNREFUSED.*correct the client's `endpoint`/,
  ],
])("a client with %s is reported without a retry", async (_, createClient, code, advice) => {
  // The machine's own configuration may have a region.
  vi.stubEnv("AWS_REGION", undefined)
  vi.stubEnv("AWS_CONFIG_FILE", "/missing")
  let pauses = 0
  const clock = createClock().machine(createDice(1), 0)
  const sleep = (ms: number, signal?: AbortSignal): Promise<void> => {
    // Pauses between retries are up to 5 s long; the rest are the timeouts of requests. Nothing moves the clock, so a pause would not end.
    if (ms < 5_000) return Promise.reject(new Error(`Pause ${++pauses}`))
    return clock.sleep(ms, signal)
  }
  const store = createS3ObjectStore(await createClient(), "b")
  const time = { ...clock, sleep }
  const storage = createObjectStorage({ store, name: "s3:b", time })
  for (const call of [
    () => storage.head("a"),
    () => storage.append("a", ["{}"], { expect: 0 }),
    () => storage.list()[Symbol.asyncIterator]().next(),
    () => storage.blobs.put(new Uint8Array(1)),
  ]) {
    await expect(call()).rejects.toMatchObject({ code, message: expect.stringMatching(advice) as string })
  }
  expect(pauses).toBe(0)
  // It has a limit of its own.
  const probing = createObjectStorage({ store, name: "s3:b", time: clock }).probe()
  await expect(probing).rejects.toMatchObject({ message: expect.stringMatching(advice) as string })
  vi.unstubAllEnvs()
})

test("an append is not sent again if the machine slept in the pause before the next try", async () => {
  const clock = createClock()
  const machine = clock.machine(createDice(1), 0)
  let slept = 0
  const time = {
    ...machine,
    now: () => machine.now() + slept,
    sleep: async (ms: number, signal?: AbortSignal) => {
      await machine.sleep(ms, signal)
      // Not a timeout of a request, which is a longer sleep.
      if (ms < LIMITS.requestTimeout) slept = 86_400_000
    },
  }
  const { storage, store } = openIn(clock, { time })
  let sent = 0
  store.fault = async (call, proceed) => {
    if (call.method !== "put") return proceed()
    sent++
    throw new ObjectStoreError("network", "reset", { certain: false })
  }
  const error = await timed(clock, storage.append("a", linesOf(1), { expect: 0 }))
  expect(error).toMatchObject({ code: "indeterminate" })
  expect(sent).toBe(1)
})

/** Kilobytes a second of a line that sends one request at a time. */
const UPLINK = 30

test("a write takes as long as its line needs, `requestTimeout` for each 256 KB, and names that option if it takes longer", async () => {
  const clock = createClock()
  let head: Head | 0 = 0
  const { storage, bucket, store } = openIn(clock, { tailBytes: 3_000_000, segmentBytes: 1_500_000 })
  store.upload = (bytes) => new Promise((resolve) => void clock.at(bytes / UPLINK, resolve))
  for (let n = 0; n < 2; n++) {
    let appended: Head | undefined
    void storage.append("a", [`"${"x".repeat(900_000)}${n}"`], { expect: head }).then((now) => (appended = now))
    await clock.until(() => appended !== undefined)
    head = appended ?? 0
  }
  expect(clock.now()).toBeGreaterThan(80_000)
  expect(bucket.objects.get("tails/a")?.size).toBeGreaterThan(1_800_000)
  store.upload = () => new Promise(() => undefined)
  const error = await timed(clock, storage.docs.put("x", JSON.stringify("y".repeat(300_000)), { expect: null }))
  expect(error).toMatchObject({ message: expect.stringMatching(/within 20000 ms, by `requestTimeout`/) })
})

test("a merge of segments that fails is left out, and the append takes place", async () => {
  const clock = createClock()
  const { storage, bucket, store } = openIn(clock, SMALL_SIZES)
  let failed = 0
  store.upload = async (bytes, key) => {
    if (!key.startsWith("segments/") || bytes < SMALL_SIZES.mergedBytes / 2) return
    failed++
    throw new ObjectStoreError("network", "reset", { certain: false })
  }
  let head: Head | 0 = 0
  for (let n = 0; n < 40; n++) {
    let appended: Head | undefined
    void storage.append("a", linesOf(1, n), { expect: head }).then((now) => (appended = now))
    await clock.until(() => appended !== undefined)
    head = appended ?? 0
  }
  expect(failed).toBeGreaterThan(2)
  expect(await readLines(openStorage(bucket, SMALL_SIZES).storage, "a")).toEqual(linesOf(40))
})

test("the clock of the adapter counts the time that the machine slept, and never goes back", () => {
  const steady = vi.spyOn(performance, "now").mockReturnValue(performance.now())
  const wall = vi.spyOn(Date, "now").mockReturnValue(Date.now())
  const begin = realTime.now()
  const at = (steadyMs: number, wallMs: number): number => {
    steady.mockReturnValue(performance.now() + steadyMs)
    wall.mockReturnValue(Date.now() + wallMs)
    return Math.round(realTime.now() - begin)
  }
  expect(at(10, 10)).toBe(10)
  expect(at(10, 3_600_000)).toBe(3_600_010)
  expect(at(10, -7_200_000)).toBe(3_600_020)
  expect(at(10, 900)).toBe(3_600_030)
  vi.restoreAllMocks()
})

async function createRefusedClient(): Promise<S3Client> {
  const server = createServer()
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  const { port } = server.address() as { readonly port: number }
  await new Promise((resolve) => void server.close(resolve))
  return new S3Client({ ...options, endpoint: `http://127.0.0.1:${port}` })
}

function openIn(clock: Clock, o: Options = {}): OpenedStorage {
  return openStorage(undefined, { ...LIMITS, time: clock.machine(createDice(1), 0), ...o })
}

async function fail(clock: Clock): Promise<never> {
  await new Promise<void>((resolve) => void clock.at(REQUEST_MS, resolve))
  throw new ObjectStoreError("network", "reset", { certain: false })
}

/** Advances the clock until the call rejects, and returns its error. */
async function timed(clock: Clock, call: Promise<unknown>): Promise<unknown> {
  let error: unknown
  void call.then(
    () => (error = new Error("it did not reject")),
    (reason: unknown) => (error = reason),
  )
  await clock.until(() => error !== undefined)
  return error
}
