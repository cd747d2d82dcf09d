/** Tests that need a real S3 server, for the test runner of each runtime. */
import assert from "node:assert/strict"
import { CreateBucketCommand, PutBucketVersioningCommand, PutObjectCommand } from "@aws-sdk/client-s3"
import type { StorageError } from "@sessions/core/storage"
import {
  createObjectStorage,
  createS3ObjectStore,
  createS3Storage,
  type ObjectStore,
  ObjectStoreError,
  type S3Storage,
} from "@sessions/s3"
import { linesOf } from "../lines.ts"
import { BUCKET, client, createClient, makeBucket, newPrefix, openAt, server } from "./test-server.ts"

export interface Check {
  readonly name: string
  readonly run: () => Promise<void>
}

/** With lines of 2 KB a few dozen lines cause sealing and merging. */
const SMALL_SIZES = { tailBytes: 60_000, segmentBytes: 20_000, mergedBytes: 160_000 }

export const checks: readonly Check[] = [
  {
    name: "the probe finds the server's form of ETag and that its bucket is not versioned",
    async run() {
      await makeBucket()
      assert.deepEqual(await openAt(newPrefix()).probe(), { safe: true, etags: "bare", versioned: false })
    },
  },
  {
    name: "wrong credentials, a missing bucket, missing permissions and a wrong clock are reported with advice",
    async run() {
      await makeBucket()
      const prefix = newPrefix()
      const head = await openAt(prefix).append("a", linesOf(2), { expect: 0 })
      const wrong: readonly (readonly [S3Storage, RegExp])[] = [
        [openAt(prefix, { client: createClient({ secretAccessKey: "wrong" }) }), /credentials/],
        [openAt(prefix, { client: createClient({ accessKeyId: "nobody" }) }), /credentials/],
        [openAt(prefix, { bucket: "not-there" }), /no such bucket/],
        [openAt(prefix, { client: createClient(server.stranger) }), /s3:ListBucket/],
        [openAt(prefix, { client: createSkewedClient() }), /clock/],
      ]
      for (const [storage, advice] of wrong) {
        for (const call of [
          () => storage.head("a"),
          () => storage.append("a", ["{}"], { expect: head }),
          () => storage.append("b", ["{}"], { expect: 0 }),
          () => storage.delete("a"),
          () => storage.list()[Symbol.asyncIterator]().next(),
        ]) {
          const error = await refusal(call())
          assert.equal(error.code, "misconfigured", String(error))
          assert.match(error.message, advice)
        }
      }
      assert.deepEqual(await linesIn(openAt(prefix), "a"), linesOf(2))
    },
  },
  {
    name: "a versioned bucket is refused before anything is written",
    async run() {
      const Bucket = `versioned-${crypto.randomUUID().slice(0, 8)}`
      await client.send(new CreateBucketCommand({ Bucket }))
      const VersioningConfiguration = { Status: "Enabled" } as const
      await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration }))
      const storage = createS3Storage({ client, bucket: Bucket })
      const error = await refusal(storage.append("a", ["{}"], { expect: 0 }))
      assert.equal(error.code, "unsupported")
      assert.equal(await storage.head("a"), undefined)
    },
  },
  {
    name: "a foreign object at the key of a tail is corrupt and is not overwritten",
    async run() {
      await makeBucket()
      const prefix = newPrefix()
      const Body = "by hand ".repeat(50)
      await client.send(new PutObjectCommand({ Bucket: BUCKET, Key: `${prefix}/tails/a`, Body }))
      const storage = openAt(prefix, { etags: "bare" })
      assert.equal((await refusal(storage.head("a"))).code, "corrupt")
      assert.match((await refusal(storage.append("a", ["{}"], { expect: 0 }))).message, /left as it is/)
      assert.equal((await refusal(storage.head("a"))).code, "corrupt")
    },
  },
  {
    name: "a creation that arrives after a deletion does not bring the session back, and an old head is a conflict",
    async run() {
      await makeBucket()
      const prefix = newPrefix()
      const { storage, sendLate } = openWithLateWrite(prefix)
      const old = await storage.append("a", linesOf(3), { expect: 0 })
      const other = openAt(prefix)
      await other.delete("a")
      await assert.rejects(sendLate())
      assert.equal(await other.head("a"), undefined)
      const created = await other.append("a", linesOf(3, 10), { expect: 0 })
      assert.notEqual(created.log, old.log)
      assert.equal((await refusal(storage.append("a", ["{}"], { expect: old }))).code, "conflict")
      await assert.rejects(sendLate())
      assert.deepEqual(await linesIn(storage, "a"), linesOf(3, 10))
    },
  },
  {
    name: "two writers, a collector and a slow reader use one session: every line is in the log once",
    async run() {
      await makeBucket()
      const prefix = newPrefix()
      const writers = [openAt(prefix, SMALL_SIZES), openAt(prefix, SMALL_SIZES)]
      await writers[0]?.append("a", linesOf(1), { expect: 0 })
      const collector = openAt(prefix, SMALL_SIZES)
      let running = writers.length
      const written = Promise.all(
        writers.map(async (writer, n) => {
          const acknowledged: string[] = []
          for (let k = 0; k < 40; k++)
            acknowledged.push(...(await appendAtHead(writer, linesOf(3, 1_000 * (n + 1) + 3 * k))))
          running--
          return acknowledged
        }),
      )
      const reader = openAt(prefix, SMALL_SIZES)
      while (running > 0) {
        const before = (await reader.head("a"))?.next ?? 0
        const lines = await linesIn(reader, "a", () => collector.collect("a"))
        assert.ok(lines.length >= before)
        assert.equal(new Set(lines).size, lines.length)
      }
      const all = (await written).flat()
      const lines = await linesIn(openAt(prefix), "a")
      assert.equal(lines.length, 1 + 240)
      assert.deepEqual(new Set(lines.slice(1)), new Set(all))
      await collector.collect("a")
      assert.deepEqual(await linesIn(openAt(prefix), "a"), lines)
    },
  },
]

/** A client whose clock is a day ahead and is never corrected. */
function createSkewedClient(): ReturnType<typeof createClient> {
  const skewed = createClient()
  const day = 86_400_000
  const corrected = (): void => undefined
  Object.defineProperty(skewed.config, "systemClockOffset", { get: () => day, set: corrected })
  return skewed
}

/** Holds back the first PUT of a tail until `sendLate` is called; the adapter takes it for lost and sends another one. */
function openWithLateWrite(prefix: string): { readonly storage: S3Storage; readonly sendLate: () => Promise<unknown> } {
  const store = createS3ObjectStore(client, BUCKET)
  let held: (() => Promise<unknown>) | undefined
  const holding: ObjectStore = {
    ...store,
    put(key, bytes, o) {
      if (held !== undefined || !key.includes("/tails/")) return store.put(key, bytes, o)
      const { signal: _signal, ...rest } = o ?? {}
      held = () => store.put(key, bytes, rest)
      return Promise.reject(new ObjectStoreError("network", "held back", { certain: false }))
    },
  }
  const storage = createObjectStorage({ store: holding, name: "s3:late", prefix, etags: "bare" })
  return { storage, sendLate: async () => held?.() }
}

/** Appends at the current head, again after each conflict. */
async function appendAtHead(storage: S3Storage, lines: readonly string[]): Promise<readonly string[]> {
  for (;;) {
    const { next, log } = (await storage.head("a")) ?? { next: 0, log: "" }
    try {
      await storage.append("a", lines, { expect: { next, log } })
      return lines
    } catch (error) {
      if ((error as { code?: string }).code !== "conflict") throw error
    }
  }
}

async function linesIn(storage: S3Storage, session: string, between?: () => Promise<unknown>): Promise<string[]> {
  const lines: string[] = []
  for await (const chunk of storage.read(session)) {
    lines.push(...chunk.lines)
    await between?.()
  }
  return lines
}

async function refusal(call: Promise<unknown>): Promise<StorageError> {
  return call.then(
    () => assert.fail("the call was not refused"),
    (error: unknown) => error as StorageError,
  )
}
