/** The worker over a bucket that behaves as Cloudflare documents the binding of R2. */
import { register } from "@sessions/conformance"
import { createObjectStorage } from "@sessions/s3"
import { expect, test } from "vitest"
import { createR2ObjectStore, type R2Bucket, type R2Object, type R2ObjectBody } from "./r2.ts"
import worker from "./worker.ts"

interface Stored extends R2Object {
  readonly bytes: Uint8Array
}

/** `onlyIf` as headers; a put whose condition does not hold answers null, a get answers the object without its body. */
function createFakeBucket(): R2Bucket {
  const objects = new Map<string, Stored>()
  // A second for each write, so that no test waits for the next one.
  let writes = Math.floor(Date.now() / 1_000)
  const holds = (key: string, onlyIf: Headers | undefined): boolean => {
    const etag = objects.get(key)?.etag
    const [match, noneMatch] = [onlyIf?.get("If-Match"), onlyIf?.get("If-None-Match")]
    if (match != null && match !== `"${etag}"`) return false
    return noneMatch == null || (noneMatch === "*" ? etag === undefined : noneMatch !== `"${etag}"`)
  }
  const infoOf = ({ key, etag, size, uploaded }: Stored): R2Object => ({ key, etag, size, uploaded })
  return {
    async get(key, { range, onlyIf }) {
      const stored = objects.get(key)
      if (stored === undefined) return null
      if (!holds(key, onlyIf)) return infoOf(stored)
      const { offset = 0, length = stored.size } = range ?? {}
      const bytes = stored.bytes.slice(offset, offset + length)
      return { ...infoOf(stored), body: new Blob([bytes]).stream() } satisfies R2ObjectBody
    },
    async put(key, value, { onlyIf }) {
      if (!holds(key, onlyIf)) return null
      const stored = {
        key,
        etag: String(++writes),
        size: value.length,
        uploaded: new Date(1_000 * writes),
        bytes: value.slice(),
      }
      objects.set(key, stored)
      return infoOf(stored)
    },
    async head(key) {
      const stored = objects.get(key)
      return stored === undefined ? null : infoOf(stored)
    },
    async list({ prefix, cursor = "" }) {
      const found = [...objects.values()].filter(({ key }) => key.startsWith(prefix) && key > cursor)
      const page = found.sort((a, b) => (a.key < b.key ? -1 : 1)).slice(0, 1_000)
      const last = page.at(-1)?.key
      return {
        objects: page.map(infoOf),
        truncated: found.length > page.length,
        ...(last !== undefined && { cursor: last }),
      }
    },
    async delete(key) {
      objects.delete(key)
    },
  }
}

register(
  test,
  {
    name: "R2 binding",
    makeLocation: createFakeBucket,
    open: (bucket) =>
      createObjectStorage({
        store: createR2ObjectStore(bucket),
        name: "r2",
        maxLineBytes: 500_000,
        maxBatchBytes: 4_000_000,
      }),
  },
  { sizes: { lines: 500 } },
)

test("`etags` of the worker is what a probe of the binding finds", async () => {
  const storage = createObjectStorage({ store: createR2ObjectStore(createFakeBucket()), name: "r2" })
  expect(await storage.probe()).toEqual({ safe: true, etags: "quoted", versioned: false })
})

test("a worker answers turns, also repeated and concurrent ones, and asks for its token", async () => {
  const BUCKET = createFakeBucket()
  const call = async (method: string, path: string, body?: object, token = "t") => {
    const url = `https://agent.example/sessions${path}`
    const init = { method, headers: { authorization: `Bearer ${token}` } }
    const request = new Request(url, body === undefined ? init : { ...init, body: JSON.stringify(body) })
    const response = await worker.fetch(request, { BUCKET, TOKEN: "t" })
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
  const id = String((await call("POST", "")).body["id"])
  const ask = (n: number) => ({ id: `01K8ZQ4Y9G3V5N7B2M6X0CTR${n}0`, text: `question ${n}` })
  const turns = `/${id}/turns`
  expect((await call("POST", turns, ask(1))).body["repeated"]).toBe(false)
  expect((await call("POST", turns, ask(1))).body["repeated"]).toBe(true)
  await Promise.all([2, 3, 4].map(async (n) => expect((await call("POST", turns, ask(n))).status).toBe(200)))
  expect((await call("GET", `/${id}`)).body["messages"]).toHaveLength(8)
  expect((await call("GET", `/${id}`, undefined, "another")).status).toBe(404)
})

test("a throttled write did not happen; the outcome of any other failure is unknown", async () => {
  const failing = (message: string): R2Bucket => ({
    ...createFakeBucket(),
    put: () => Promise.reject(new Error(message)),
  })
  const failureOf = (message: string) =>
    createR2ObjectStore(failing(message))
      .put("key", new Uint8Array())
      .catch(({ failure, certain }) => ({ failure, certain }))
  expect(await failureOf("put: Reduce your rate of simultaneous writes on the same object. (10058)")).toEqual({
    failure: "slow",
    certain: true,
  })
  expect(await failureOf("put: Network connection lost.")).toEqual({ failure: "network", certain: false })
})
