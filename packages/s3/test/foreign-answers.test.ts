/** Answers that no store gives: a proxy, a gateway or a sign-in page answers in place of it, or after it. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { S3Client } from "@aws-sdk/client-s3"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { createS3ObjectStore, type ObjectStore, ObjectStoreError } from "../src/index.ts"
import { FakeBucket } from "./fake-bucket.ts"
import { linesOf } from "./lines.ts"
import { openStorage } from "./open-storage.ts"

let answer: (request: IncomingMessage, response: ServerResponse) => void = () => undefined
const server = createServer((request, response) => {
  request.resume()
  request.on("end", () => answer(request, response))
})
let store: ObjectStore

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  const client = new S3Client({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: "us-east-1",
    forcePathStyle: true,
    maxAttempts: 1,
    credentials: { accessKeyId: "a", secretAccessKey: "b" },
  })
  store = createS3ObjectStore(client, "bucket")
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

function answers(status: number, body: string, headers: Readonly<Record<string, string>> = {}): void {
  answer = (request, response) => {
    response.writeHead(status, headers)
    response.end(request.method === "HEAD" ? undefined : body)
  }
}

const BYTES = new Uint8Array(3)
const REQUESTS: Readonly<Record<string, () => Promise<unknown>>> = {
  get: () => store.get("k"),
  put: () => store.put("k", BYTES),
  list: () => store.list("p"),
  delete: () => store.delete("k"),
}
const HTML = "<html><body>Sign in<br></body></html>"
const INFO = { etag: '"e"', "last-modified": "Sat, 28 Nov 2026 00:00:00 GMT" }

function errorDocument(code: string): string {
  return `<?xml version="1.0"?><Error><Code>${code}</Code><Message>said so</Message></Error>`
}

function listOf(entry: string, rest = "<IsTruncated>false</IsTruncated>"): string {
  return `<?xml version="1.0"?><ListBucketResult><Name>bucket</Name>${rest}<Contents>${entry}</Contents></ListBucketResult>`
}

describe("an answer without what a store puts into it is `foreign`, and the outcome of the request is open", () => {
  const pages = [200, 302, 400, 401, 403, 404, 405, 413].flatMap((status) =>
    [HTML, "404 page not found\n", ""].map((body) => [status, body] as const),
  )
  for (const [name, send] of Object.entries(REQUESTS))
    test(`to ${name}: ${pages.length} of them`, async () => {
      for (const [status, body] of pages) {
        answers(status, body, { "content-type": "text/html" })
        await expect(send(), `${status} ${body}`).rejects.toMatchObject({ failure: "foreign", certain: false })
      }
    })

  test("to head: a page, and success without an ETag, a time or a size", async () => {
    for (const status of [200, 403, 404]) {
      answers(status, HTML, { "content-type": "text/html" })
      await expect(store.head("k"), String(status)).rejects.toMatchObject({ failure: "foreign" })
    }
    for (const name of ["etag", "last-modified", "content-range"]) {
      const { [name]: _, ...rest } = { ...INFO, "content-range": "bytes 0-0/3" } as Record<string, string>
      answers(206, "x", rest)
      await expect(store.head("k"), name).rejects.toMatchObject({ failure: "foreign" })
    }
  })

  test.each([
    ["is cut off without a token for the next page", listOf("", "<IsTruncated>true</IsTruncated>")],
    ["names a key outside of the prefix", listOf("<Key>q/1</Key><Size>1</Size><ETag>e</ETag>")],
    [
      "has an object without a time, which a collector would take for an old one",
      listOf("<Key>p/1</Key><Size>1</Size><ETag>e</ETag>"),
    ],
  ])("to list: one that %s", async (_, body) => {
    answers(200, body, { "content-type": "application/xml" })
    await expect(store.list("p")).rejects.toMatchObject({ failure: "foreign" })
  })

  test("to get: another range than the one that was asked for", async () => {
    const range = { range: { from: 4, to: 8 } }
    answers(200, "0123456789", INFO)
    await expect(store.get("k", range)).rejects.toMatchObject({ failure: "foreign" })
    answers(206, "0123", { ...INFO, "content-range": "bytes 0-3/10" })
    await expect(store.get("k", range)).rejects.toMatchObject({ failure: "foreign" })
  })
})

test("a failure with an error document of the store is certain; without one it may come after the request was done", async () => {
  answers(503, errorDocument("SlowDown"), { "content-type": "application/xml" })
  await expect(store.put("k", BYTES)).rejects.toMatchObject({ failure: "slow", certain: true })
  answers(403, errorDocument("AccessDenied"), { "content-type": "application/xml" })
  await expect(store.put("k", BYTES)).rejects.toMatchObject({ failure: "denied", certain: true })
  for (const status of [429, 500, 502, 503, 504, 507]) {
    answers(status, HTML)
    await expect(store.put("k", BYTES), String(status)).rejects.toMatchObject({ certain: false })
  }
})

test("an object is missing only if the store says that it has no such key", async () => {
  answers(404, errorDocument("NoSuchKey"), { "content-type": "application/xml" })
  expect(await store.get("k")).toBeUndefined()
  expect(await store.head("k")).toBeUndefined()
  await store.delete("k")
})

test("an empty object, which has no first byte, is told by a HEAD", async () => {
  answer = (request, response) => {
    const isRange = request.method === "GET"
    const headers = { ...INFO, "content-type": "application/xml" }
    response.writeHead(isRange ? 416 : 200, isRange ? headers : { ...headers, "content-length": "0" })
    response.end(isRange ? errorDocument("InvalidRange") : undefined)
  }
  expect(await store.head("k")).toMatchObject({ etag: "e", size: 0 })
})

/** A proxy that passes an object of so many bytes on in pieces, without its length. */
function inPieces(size: number): void {
  answer = (request, response) => {
    const isRange = request.headers.range !== undefined
    response.writeHead(isRange ? 206 : 200, { ...INFO, ...(isRange && { "content-range": `bytes 0-0/${size}` }) })
    response.write(isRange ? "o" : "one ")
    response.end(isRange ? undefined : "two")
  }
}

test("an answer without a length is read to its end, and believed if the object has that size", async () => {
  for (const size of [3, 8, 14]) {
    inPieces(size)
    await expect(store.get("k"), String(size)).rejects.toMatchObject({ failure: "foreign", certain: false })
  }
  inPieces(7)
  const object = await store.get("k")
  if (object === undefined || object === "unchanged") throw new Error("no object")
  let text = ""
  for await (const part of object.body) text += new TextDecoder().decode(part)
  expect({ text, size: object.size, length: object.length }).toEqual({ text: "one two", size: 7, length: 7 })
})

test("a list whose next page does not go on behind the last one ends with an error", async () => {
  const { storage, store: fake } = openStorage()
  await storage.append("a", linesOf(1), { expect: 0 })
  await storage.append("b", linesOf(1), { expect: 0 })
  let pages = 0
  let first: unknown
  fake.fault = async (call, proceed) => {
    if (call.method !== "list") return proceed()
    // Without the rule it would be asked for ever.
    if (++pages > 5) throw new ObjectStoreError("refused", "enough", { certain: true })
    first ??= await proceed()
    return { ...(first as object), next: `page ${pages}` }
  }
  const listed = storage.list()[Symbol.asyncIterator]().next()
  await expect(listed).rejects.toMatchObject({
    code: "unavailable",
    message: expect.stringContaining("does not go on"),
  })
  expect(pages).toBe(2)
})

test("garbage collection leaves objects of other programs, whatever the folder, and writes nothing for them", async () => {
  let now = 0
  const bucket = new FakeBucket({ now: () => now })
  const foreign = [
    "segments/film/720p/0001.ts",
    "segments/holiday/photos202401/picture00001",
    "segments/chat/720p/picture00001",
    "session-docs/team/plan/readme.md",
    "session-docs/team/0123456789ab/readme.md",
    "probes/sensor-1.csv",
    "probes/0123456789ab",
  ]
  for (const key of foreign) bucket.put(key, new TextEncoder().encode("not ours"))
  now = 10 * 86_400_000
  const { storage } = openStorage(bucket)
  await storage.append("chat", linesOf(1), { expect: 0 })
  const before = [...bucket.objects.keys()].sort()
  await storage.sweep?.()
  expect([...bucket.objects.keys()].sort()).toEqual(before)
})
