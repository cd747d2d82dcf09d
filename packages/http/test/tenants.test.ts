/** A principal tries to reach what another one has. Both have file storages under one folder, behind one real server. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Head, SessionStorage } from "@sessions/core/storage"
import { createFileStorage } from "@sessions/fs"
import { afterAll, beforeAll, expect, test } from "vitest"
import { toNodeListener } from "../src/node.ts"
import { createStorageHandler } from "../src/server.ts"

const SECRET = "what bob has said"
const folder = mkdtempSync(join(tmpdir(), "sessions-tenants-"))
const storages = new Map<string, SessionStorage>(
  ["alice", "bob"].map((user) => [user, createFileStorage({ root: join(folder, user) })]),
)
const server = createServer(
  toNodeListener(
    createStorageHandler({
      basePath: "/storage",
      authorize(request) {
        const user = request.headers.get("authorization") ?? ""
        return storages.has(user) ? user : new Response(null, { status: 401 })
      },
      storage: (user) => storages.get(user) as SessionStorage,
      onError: () => undefined,
    }),
  ),
)
let head: Head
let hash: string
let before: string

beforeAll(async () => {
  const bob = createFileStorage({ root: join(folder, "bob") })
  head = await bob.append("secret", [SECRET], { expect: 0 })
  hash = await bob.blobs.put(new TextEncoder().encode(SECRET))
  await bob.docs.put("plan", SECRET, { expect: null })
  await bob.docs.put("sessions/secret/note", SECRET, { expect: null })
  // Writes what it had put off, and lets go of its locks.
  await bob[Symbol.asyncDispose]()
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  before = everythingOf("bob")
})

afterAll(async () => {
  server.closeAllConnections()
  server.close()
  for (const storage of storages.values()) await storage[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

interface Attempt {
  readonly method?: string
  /** Sent as it is: no client makes it shorter or encodes it. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** The status, and the answer if it is not an error. It is that of a storage without such a session, document or blob. */
  readonly answer: readonly [number, string?]
}

const NO_HEAD = '{"head":null}'
const NO_LINES = '{"from":0,"lines":0,"end":0,"log":null}\n'
const NO_TEXT = '{"text":null}'
const NO_ROWS = '{"end":true}\n'
const lines = { "content-type": "application/x-ndjson" }
const json = { "content-type": "application/json" }
const bytes = { "content-type": "application/octet-stream" }

const attempts = (): readonly Attempt[] => [
  { path: "/storage/sessions/secret/head", answer: [200, NO_HEAD] },
  { path: "/storage/sessions/secret/lines", answer: [200, NO_LINES] },
  { path: `/storage/sessions/secret/lines?log=${head.log}`, answer: [409] },
  { path: "/storage/sessions/secret/lines?before=1&maxBytes=100", answer: [200, NO_LINES] },
  { path: "/storage/sessions/..%2fbob%2fsecret/lines", answer: [400] },
  { path: "/storage/sessions/..%2Fbob%2Fsecret/head", answer: [400] },
  { path: "/storage/sessions/%2e%2e%2fbob/lines", answer: [400] },
  { path: "/storage/sessions/%2e%2e/%2e%2e/bob/secret/lines", answer: [400] },
  { path: "/storage/sessions/../../bob/sessions/secret/lines", answer: [400] },
  { path: "/storage/../bob/storage/sessions/secret/lines", answer: [400] },
  { path: "/storage/sessions/..;/secret/lines", answer: [404] },
  { path: "/storage/sessions/..%5cbob%5csecret/lines", answer: [400] },
  { path: "/storage/sessions/..\\bob\\secret/lines", answer: [404] },
  { path: "/storage/sessions/%252e%252e%252fbob%252fsecret/lines", answer: [400] },
  { path: "/storage/sessions/..%c0%afbob/lines", answer: [400] },
  { path: "/storage/sessions/secret%00/lines", answer: [400] },
  // An id, of no session of this principal.
  { path: "/storage/sessions/bob:secret/lines", answer: [200, NO_LINES] },
  { path: "/storage/sessions/:bob/lines", answer: [400] },
  { path: "//bob/storage/sessions/secret/lines", answer: [404] },
  { path: "http://bob/storage/sessions/secret/lines", answer: [200, NO_LINES] },
  {
    path: "/storage/sessions/secret/lines",
    headers: { "x-forwarded-user": "bob", "x-original-url": "/bob", "x-user": "bob", cookie: "authorization=bob" },
    answer: [200, NO_LINES],
  },
  { path: "/storage/sessions/secret/lines?authorization=bob", answer: [400] },
  {
    path: "/storage/sessions/secret/watch",
    answer: [200, "event: head\ndata: null\n\nevent: deleted\ndata: null\n\n"],
  },
  { path: "/storage/sessions", answer: [200, NO_ROWS] },
  { path: "/storage/sessions?after=../bob", answer: [501] },
  { path: "/storage/sessions?after=secret", answer: [501] },
  { path: "/storage/sessions?limit=-1", answer: [400] },
  { path: "/storage/docs/plan", answer: [200, NO_TEXT] },
  { path: "/storage/docs/..%2f..%2fbob%2f.docs%2fplan", answer: [400] },
  { path: "/storage/docs/sessions%2fsecret%2fnote", answer: [400] },
  { path: "/storage/sessions/secret/docs/note", answer: [200, NO_TEXT] },
  { path: "/storage/sessions/x/docs/..%2f..%2fsecret%2fnote", answer: [400] },
  { path: "/storage/docs?prefix=../", answer: [200, NO_ROWS] },
  { path: "/storage/docs?prefix=sessions/secret", answer: [200, NO_ROWS] },
  { path: `/storage/blobs/${hash}`, answer: [404] },
  { path: `/storage/blobs/${hash}`, headers: { "if-none-match": `"${hash}"` }, answer: [404] },
  { path: `/storage/blobs/${hash}/exists`, answer: [200, '{"exists":false}'] },
  { path: `/storage/blobs/..%2f..%2fbob%2f.blobs%2f${hash}`, answer: [400] },
  { path: `/storage/blobs/${hash.toUpperCase()}`, answer: [400] },
  { path: "/storage/blobs", answer: [200, NO_ROWS] },
  { method: "DELETE", path: `/storage/blobs/${hash}`, answer: [200, '{"deleted":false}'] },
  { method: "PUT", path: `/storage/blobs/${hash}`, headers: bytes, body: "mine", answer: [400] },
  {
    method: "POST",
    path: "/storage/sessions/secret/lines",
    headers: lines,
    body: `${JSON.stringify({ expect: head, lines: 1 })}\nmine\n`,
    answer: [409],
  },
  {
    method: "POST",
    path: "/storage/sessions/..%2fbob%2fsecret/lines",
    headers: lines,
    body: '{"expect":0,"lines":1}\nmine\n',
    answer: [400],
  },
  {
    method: "POST",
    path: "/storage/sessions/secret/lines",
    headers: { ...lines, "x-http-method-override": "DELETE" },
    body: '{"expect":0,"lines":1,"session":"../bob/secret"}\nmine\n',
    answer: [400],
  },
  {
    method: "PUT",
    path: "/storage/docs/plan",
    headers: json,
    body: JSON.stringify({ from: SECRET, to: "mine" }),
    answer: [409],
  },
  { method: "PUT", path: "/storage/docs/..%2fbob", headers: json, body: '{"from":null,"to":"mine"}', answer: [400] },
  { method: "DELETE", path: "/storage/sessions/secret", answer: [200, '{"bytes":0,"parts":0,"purged":true}'] },
  { method: "DELETE", path: "/storage/sessions/..%2fbob", answer: [400] },
  { path: "/storage/sessions/secret/lines", headers: { authorization: "bob x" }, answer: [401] },
  { path: "/storage/sessions/secret/lines", headers: { authorization: "../bob" }, answer: [401] },
]

test("paths, encoded slashes, ids, heads, hashes, prefixes and headers reach nothing that another principal has", async () => {
  const list = attempts()
  expect(list.length).toBeGreaterThanOrEqual(30)
  for (const attempt of list) {
    const { status, body, headers } = await send(attempt)
    const [expected, answer] = attempt.answer
    const what = `${attempt.method ?? "GET"} ${attempt.path}`
    expect([what, status]).toEqual([what, expected])
    if (answer !== undefined) expect([what, body]).toEqual([what, answer])
    else expect([what, body === "" ? {} : JSON.parse(body)]).toMatchObject([what, status === 401 ? {} : { error: {} }])
    for (const known of [SECRET, folder, ...(attempt.path.includes(head.log) ? [] : [head.log])])
      expect([what, `${body}${headers}`.includes(known)]).toEqual([what, false])
  }
  expect(everythingOf("bob")).toBe(before)
})

test("the repeat key of another principal's write gives neither its outcome nor its place", async () => {
  const key = { ...lines, "idempotency-key": "one-key" }
  const write = (authorization: string, line: string) =>
    send({
      method: "POST",
      path: "/storage/sessions/repeated/lines",
      headers: { ...key, authorization },
      body: `{"expect":0,"lines":1}\n${line}\n`,
      answer: [200],
    })
  const [ofBob, ofAlice] = [await write("bob", SECRET), await write("alice", "mine")]
  expect([ofBob.status, ofAlice.status]).toEqual([200, 200])
  expect(ofAlice.body).not.toBe(ofBob.body)
  const read = async (authorization: string) =>
    (await send({ path: "/storage/sessions/repeated/lines", headers: { authorization }, answer: [200] })).body
  expect(await read("alice")).toMatch(/\nmine\n$/)
  expect(await read("bob")).toContain(SECRET)
})

test("the owner reaches all of it by the same routes", async () => {
  const headers = { authorization: "bob" }
  const get = async (path: string): Promise<string> => (await send({ path, headers, answer: [200] })).body
  expect(await get("/storage/sessions/secret/lines")).toContain(SECRET)
  expect(await get("/storage/docs/plan")).toContain(SECRET)
  expect(await get("/storage/sessions/secret/docs/note")).toContain(SECRET)
  expect(await get(`/storage/blobs/${hash}`)).toBe(SECRET)
})

function send({
  method = "GET",
  path,
  headers,
  body,
}: Attempt): Promise<{ status: number; body: string; headers: string }> {
  const { port } = server.address() as AddressInfo
  return new Promise((resolve, reject) => {
    const options = { port, method, path, headers: { authorization: "alice", ...headers } }
    const outgoing = request(options, (incoming) => {
      let text = ""
      incoming.setEncoding("utf8")
      incoming.on("data", (part: string) => (text += part))
      incoming.on("end", () =>
        resolve({ status: incoming.statusCode ?? 0, body: text, headers: incoming.rawHeaders.join("\n") }),
      )
    })
    outgoing.on("error", reject)
    outgoing.end(body)
  })
}

/** Every file of a root with its content. */
function everythingOf(user: string): string {
  const files = readdirSync(join(folder, user), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
  return files.map((file) => `${file}\n${readFileSync(file, "latin1")}`).join("\n")
}
