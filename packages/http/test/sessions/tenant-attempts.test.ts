/** A principal tries to reach the sessions, prompts and events of another one. Each has file storages of its own, behind one real server. */
import { mkdtempSync, rmSync } from "node:fs"
import { createServer, request } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createSessions, type Sessions } from "@sessions/core"
import { createFileStorage } from "@sessions/fs"
import { afterAll, beforeAll, expect, test } from "vitest"
import { toNodeListener } from "../../src/node.ts"
import { createSessionHandler } from "../../src/server.ts"
import { eventually, newId } from "./server.ts"

const SECRET = "what bob has said"
const folder = mkdtempSync(join(tmpdir(), "sessions-tenants-"))
const all = new Map<string, Sessions>(
  ["alice", "bob"].map((user) => [
    user,
    createSessions({ storage: createFileStorage({ root: join(folder, user) }), ulidsOnly: true }),
  ]),
)
const turns: string[] = []
const handler = createSessionHandler<string>({
  basePath: "/api",
  authorize(incoming) {
    const user = incoming.headers.get("authorization") ?? ""
    return all.has(user) ? user : new Response(null, { status: 401 })
  },
  sessions: (user) => all.get(user) as Sessions,
  async run({ session }) {
    turns.push(session.id)
  },
  onError: () => undefined,
})
const server = createServer(toNodeListener(handler))
/** Of bob: the session, its message, a prompt that ran there, its place in the log, and a blob of it. */
let id: string
let message: string
let prompt: string
let cursor: string
let blob: string
let before: unknown

beforeAll(async () => {
  const bob = all.get("bob") as Sessions
  const session = await bob.create({ title: SECRET })
  const image = btoa(SECRET.repeat(500))
  const content = [
    { type: "text", text: SECRET },
    { type: "image", mimeType: "image/png", data: image },
  ] as const
  await session.append({ type: "message", message: { role: "user", content } })
  id = session.id
  message = session.leafId as string
  const head = await bob.storage.head(id)
  cursor = `${head?.log}.${head?.next}`
  await session.close()
  for await (const { hash } of bob.storage.blobs.list()) blob = hash
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve))
  prompt = newId()
  await send({
    method: "POST",
    path: `/api/sessions/${id}/prompts`,
    body: { id: prompt, text: SECRET },
    as: "bob",
    answer: 202,
  })
  // It has ended.
  await eventually(async () => {
    const stopped = await send({
      method: "DELETE",
      path: `/api/sessions/${id}/prompts/${prompt}`,
      as: "bob",
      answer: 202,
    })
    if (!stopped.text.includes('"ended"')) throw new Error(`the turn has not ended: ${stopped.text}`)
  })
  turns.length = 0
  before = await everythingOf("bob")
})

afterAll(async () => {
  await handler.close()
  server.closeAllConnections()
  server.close()
  for (const sessions of all.values()) await sessions.close()
  rmSync(folder, { recursive: true })
})

interface Attempt {
  readonly method?: string
  /** Sent as it is. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly as?: string
  readonly answer: number
}

const attempts = (): readonly Attempt[] => {
  const own = `/api/sessions/${id}`
  return [
    { path: own, answer: 404 },
    { path: `${own}?before=${message}`, answer: 404 },
    { path: `${own}/context`, answer: 404 },
    { path: `${own}/context?window=1000000`, answer: 404 },
    { path: `${own}/events`, answer: 404 },
    { path: `${own}/events?after=${cursor}`, answer: 404 },
    { path: `${own}/events?wait=0&after=${cursor}`, answer: 404 },
    { path: `${own}/events`, headers: { "last-event-id": cursor }, answer: 404 },
    { method: "PATCH", path: own, body: { title: "mine" }, answer: 404 },
    { method: "DELETE", path: own, answer: 404 },
    // The id of a prompt that ran there, with its text and with another one: a repetition tells nothing.
    { method: "POST", path: `${own}/prompts`, body: { id: prompt, text: SECRET }, answer: 404 },
    { method: "POST", path: `${own}/prompts`, body: { id: newId(), text: "mine" }, answer: 404 },
    { method: "DELETE", path: `${own}/prompts/${prompt}`, answer: 404 },
    { method: "DELETE", path: `${own}/prompts/${message}`, answer: 404 },
    { path: `${own}/docs/prompts`, answer: 404 },
    { path: `/api/blobs/${blob}`, answer: 404 },
    { path: `/api/sessions/..%2fbob%2f${id}`, answer: 400 },
    { path: `/api/sessions/..%2F..%2Fbob%2Fsessions%2F${id}`, answer: 400 },
    { path: `/api/sessions/%2e%2e%2fbob%2f${id}/events`, answer: 400 },
    { path: `/api/sessions/%252e%252e%252fbob%252f${id}`, answer: 400 },
    { path: `/api/sessions/..%5cbob%5c${id}`, answer: 400 },
    { path: `/api/sessions/..%c0%afbob%c0%af${id}`, answer: 400 },
    { path: `/api/sessions/${id}%00`, answer: 400 },
    { path: `/api/sessions/bob:${id}`, answer: 400 },
    { path: `/api/sessions/../../bob/sessions/${id}`, answer: 400 },
    { path: `/api/../bob/api/sessions/${id}`, answer: 400 },
    { path: `//bob/api/sessions/${id}`, answer: 404 },
    { path: `http://bob/api/sessions/${id}`, answer: 404 },
    { path: `/api/sessions/${id.toLowerCase()}`, answer: 400 },
    { path: `/api/sessions?cursor=../bob`, answer: 400 },
    { path: `/api/sessions?cursor=${encodeURIComponent(JSON.stringify({ id, updatedAt: 0 }))}`, answer: 400 },
    { path: `/api/sessions?principal=bob`, answer: 400 },
    { method: "POST", path: "/api/sessions", body: { id, title: "mine" }, answer: 400 },
    { method: "POST", path: "/api/sessions", body: { principal: "bob" }, answer: 400 },
    {
      path: own,
      headers: { "x-forwarded-user": "bob", "x-original-url": "/bob", "x-user": "bob", cookie: "authorization=bob" },
      answer: 404,
    },
    { method: "POST", path: own, headers: { "x-http-method-override": "DELETE" }, body: {}, answer: 405 },
    { method: "DELETE", path: own, headers: { "idempotency-key": prompt }, answer: 404 },
    { path: own, as: "../bob", answer: 401 },
    { path: own, as: "bob x", answer: 401 },
  ]
}

test("paths, encoded slashes, ids in bodies, cursors, resume ids and repeated prompts reach nothing of another principal", async () => {
  const list = attempts()
  expect(list.length).toBeGreaterThanOrEqual(30)
  for (const attempt of list) {
    const { status, text } = await send(attempt)
    const what = `${attempt.method ?? "GET"} ${attempt.path}`
    expect([what, status, text]).toEqual([what, attempt.answer, expect.any(String)])
    for (const known of [SECRET, folder, cursor.split(".")[0]]) expect([what, text]).not.toContain(known)
  }
  expect(await everythingOf("bob")).toEqual(before)
  expect(turns).toEqual([])
})

test("the list of another principal, from any cursor that it takes, has no session of bob's", async () => {
  const made = await send({ method: "POST", path: "/api/sessions", body: { parentSession: { id } }, answer: 201 })
  expect([made.status, made.text]).toEqual([201, expect.not.stringContaining(SECRET)])
  const { text } = await send({ path: `/api/sessions?parent=${id}`, answer: 200 })
  expect((JSON.parse(text) as { sessions: unknown[] }).sessions).toHaveLength(1)
  expect(text).not.toContain(SECRET)
  expect(await everythingOf("bob")).toEqual(before)
})

test("a blob that a message of one's own names by another principal's hash gives none of its bytes", async () => {
  const alice = all.get("alice") as Sessions
  const session = await alice.create()
  const line = `{"type":"image","mimeType":"image/png","data":{"blob":"${blob}"}}`
  await session.append({ type: "message", message: { role: "user", content: line } })
  await session.close()
  for (const path of [`/api/sessions/${session.id}`, `/api/sessions/${session.id}/context`])
    expect((await send({ path, answer: 200 })).text).not.toContain(btoa(SECRET).slice(0, 20))
})

test("the owner reaches all of it by the same routes", async () => {
  for (const path of [
    `/api/sessions/${id}`,
    `/api/sessions/${id}/context`,
    `/api/sessions/${id}/events?wait=0`,
    "/api/sessions",
  ]) {
    const { status, text } = await send({ path, as: "bob", answer: 200 })
    expect([path, status]).toEqual([path, 200])
    expect(text).toContain(path.endsWith("wait=0") ? cursor.split(".")[0] : SECRET)
  }
})

/** The logs, documents and heads. */
async function everythingOf(user: string): Promise<unknown> {
  const { storage } = all.get(user) as Sessions
  const found: unknown[] = []
  for await (const row of storage.list()) found.push(row.id, await storage.head(row.id))
  for await (const chunk of storage.read(id, {})) found.push(chunk)
  for await (const { hash } of storage.blobs.list()) found.push(hash)
  return found
}

function send({
  method = "GET",
  path,
  headers,
  body,
  as = "alice",
}: Attempt): Promise<{ status: number; text: string }> {
  const { port } = server.address() as AddressInfo
  const type = body === undefined ? {} : { "content-type": "application/json" }
  return new Promise((resolve, reject) => {
    const options = { port, method, path, headers: { authorization: as, ...type, ...headers } }
    const outgoing = request(options, (incoming) => {
      // A stream that should have been refused does not end.
      if (incoming.headers["content-type"] === "text/event-stream") incoming.destroy()
      let text = ""
      incoming.setEncoding("utf8")
      incoming.on("data", (part: string) => (text += part))
      incoming.on("close", () => resolve({ status: incoming.statusCode ?? 0, text }))
    })
    outgoing.on("error", reject)
    outgoing.end(body === undefined ? undefined : JSON.stringify(body))
  })
}
