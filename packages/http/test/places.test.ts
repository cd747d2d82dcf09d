/** No answer and no event of a handler says where the server keeps its data: a root, a file, a bucket or a table. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createSessions } from "@sessions/core"
import { type SessionStorage, StorageError, type StorageErrorCode, toUtf8 } from "@sessions/core/storage"
import { createFileStorage } from "@sessions/fs"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { createSessionHandler, sessionRoutes, storageRoutes } from "../src/server.ts"
import { newId } from "./sessions/server.ts"
import { handlerOf } from "./wire.ts"

const SECRET = "k3pt-here"
const HASH = "a".repeat(64)
const CODES: readonly StorageErrorCode[] = [
  "conflict",
  "indeterminate",
  "invalid",
  "unsupported",
  "closed",
  "corrupt",
  "quota",
  "unavailable",
  "aborted",
]
const TYPES: Readonly<Record<string, string>> = { append: "application/x-ndjson", putBlob: "application/octet-stream" }
const BODIES: Readonly<Record<string, () => string>> = {
  append: () => '{"expect":0,"lines":1}\nx\n',
  putBlob: () => "blob",
  changeDocument: () => '{"from":"other","to":"b"}',
  changeSessionDocument: () => '{"from":null,"to":"b"}',
  create: () => "{}",
  rename: () => '{"title":"t"}',
  prompt: () => JSON.stringify({ id: newId(), text: "hello" }),
}

/** What both handlers say of a storage, by method and path. */
async function answersOf(storage: SessionStorage, session: string): Promise<Map<string, string>> {
  const sessions = createSessions({ storage })
  const servers = [
    { routes: storageRoutes, base: "/storage", handler: handlerOf(storage) },
    {
      routes: sessionRoutes,
      base: "",
      handler: createSessionHandler({
        authorize: () => "me",
        sessions: () => sessions,
        run: () => undefined,
        onError: () => undefined,
        onTurnError: () => undefined,
      }),
    },
  ]
  const told = new Map<string, string>()
  const all = servers.flatMap(({ routes, ...server }) => routes.map((route) => ({ ...server, ...route })))
  // What deletes comes last.
  for (const { action, method, path, base, handler } of all.toSorted(
    (a, b) => Number(a.method === "DELETE") - Number(b.method === "DELETE"),
  )) {
    const to = path.replace(":session", session).replace(":hash", HASH).replace(":name", "doc")
    const body = BODIES[action]?.()
    const type = TYPES[action] ?? "application/json"
    const init = body === undefined ? { method } : { method, body, headers: { "content-type": type } }
    for (const query of action === "events" ? ["", "?wait=0"] : [""]) {
      const url = `http://host${base}${to.replace(":message", newId())}${query}`
      const answer = await handler(new Request(url, init))
      told.set(`${method} ${base}${path}${query}`, `${answer.status} ${await beginningOf(answer)}`)
    }
  }
  return told
}

/** Headers and body; of a stream the first event, or its end. */
async function beginningOf(answer: Response): Promise<string> {
  const headers = JSON.stringify([...answer.headers])
  if (answer.headers.get("content-type") !== "text/event-stream") return `${headers} ${await answer.text()}`
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader()
  const { value } = await reader.read()
  await reader.cancel()
  return `${headers} ${new TextDecoder().decode(value)}`
}

/** A storage that names its place in each head and list. */
function placed(storage: SessionStorage, description: string): SessionStorage {
  const parts = [{ from: 0, bytes: 10, at: `${description}/part` }]
  return {
    ...storage,
    description,
    async head(session, o) {
      const head = await storage.head(session, o)
      return head && { ...head, parts }
    },
    async *list(o) {
      for await (const row of storage.list(o)) yield row.error === undefined ? { ...row, parts } : row
    },
  }
}

/** One whose calls all fail with this code, and say where. */
function failing(code: StorageErrorCode, description: string, at: string): SessionStorage {
  const place = description.slice(description.indexOf(":") + 1)
  const fail = (): never => {
    const message = `${description}: the object ${at} in ${place}, or ${place}/other, is not as expected.`
    throw new StorageError(code, message, { storage: description, at })
  }
  const call = async (): Promise<never> => fail()
  // oxlint-disable-next-line require-yield -- it fails at its first step
  async function* rows(): AsyncGenerator<never> {
    fail()
  }
  const { capabilities } = createMemoryStorage()
  return {
    capabilities,
    description,
    head: call,
    append: call,
    read: rows,
    list: rows,
    delete: call,
    sync: call,
    docs: { get: call, put: call, delete: call, list: rows },
    blobs: { put: call, get: call, has: call, delete: call, list: rows },
    [Symbol.asyncDispose]: async () => undefined,
  }
}

function namesOf(told: ReadonlyMap<string, string>): string[] {
  return [...told].filter(([, text]) => text.includes(SECRET)).map(([route, text]) => `${route}: ${text}`)
}

test.each([`fs:/srv/${SECRET}`, `s3:${SECRET}/prefix`, `postgres:${SECRET}.lines`])(
  "of %s nothing is in any answer or event",
  async (description) => {
    const storage = placed(createMemoryStorage(), description)
    await (await createSessions({ storage }).create({ id: "chat" })).close()
    await storage.append("damaged", ["no header"], { expect: 0 })
    await storage.blobs.put(toUtf8("blob"))
    const told = await answersOf(storage, "chat")
    expect(namesOf(told)).toEqual([])
    expect(told.get("GET /sessions/:session")).toContain('"parts":[{"from":0,"bytes":10}]')
    expect(told.get("GET /sessions/:session/events")).toContain("event: state")
  },
)

test.each(CODES)("of a storage whose calls fail with `%s` nothing is in any answer or event", async (code) => {
  for (const [description, at] of [
    [`fs:/srv/${SECRET}`, `/srv/${SECRET}/chat/session.jsonl`],
    [`sqlite:C:\\${SECRET}\\a.db`, "row 1"],
    [`s3:${SECRET}/prefix`, "segments/chat/1"],
    [`postgres:${SECRET}.lines`, `${SECRET}.lines/1`],
  ] as const) {
    const told = await answersOf(failing(code, description, at), "chat")
    expect(namesOf(told)).toEqual([])
  }
})

test("of a root that others may write, which the error names, nothing is in any answer or event", async () => {
  const folder = mkdtempSync(join(tmpdir(), "sessions-places-"))
  const root = join(folder, SECRET)
  mkdirSync(root)
  chmodSync(root, 0o777)
  try {
    const told = await answersOf(createFileStorage({ root }), newId())
    expect(namesOf(told)).toEqual([])
    expect(told.get("GET /storage/blobs")).toContain("misconfigured")
  } finally {
    rmSync(folder, { recursive: true })
  }
})
