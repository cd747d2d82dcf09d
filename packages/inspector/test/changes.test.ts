import { createSessions, type Session, type Sessions } from "@sessions/core"
import { exportSession, sessionTree } from "@sessions/core/transfer"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { createInspector, type InspectorOptions } from "../src/index.ts"
import { textOf } from "./page-data.ts"
import { type SampleSession, sampleSession } from "./sample.ts"

const TOKEN = "a-token-of-some-length"
const ORIGIN = "http://127.0.0.1:7070"

interface Server {
  readonly sessions: Sessions
  readonly sample: SampleSession
  readonly send: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Response>
  /** Makes a change and returns the ids of what it appended. */
  readonly make: (call: string, body: object) => Promise<readonly string[]>
  readonly read: <T>(look: (session: Session) => Promise<T>) => Promise<T>
}

async function server(options: Partial<InspectorOptions> = {}): Promise<Server> {
  const sessions = createSessions({ storage: createMemoryStorage() })
  const sample = await sampleSession(sessions, "s")
  const inspector = createInspector({ sessions, token: TOKEN, write: true, ...options })
  const send: Server["send"] = (method, path, body, headers = {}) =>
    inspector(
      new Request(`${ORIGIN}${path}`, {
        method,
        headers: { authorization: `Bearer ${TOKEN}`, "content-type": "application/json", ...headers },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      }),
    )
  return {
    sessions,
    sample,
    send,
    async make(call, body) {
      const response = await send("POST", `/api/sessions/s/${call}`, body)
      const answer = (await response.json()) as { ids: string[] }
      expect([call, response.status, answer.ids?.length]).toEqual([call, 200, 1])
      return answer.ids
    },
    async read(look) {
      const session = await sessions.open("s")
      try {
        return await look(session)
      } finally {
        await session.close()
      }
    },
  }
}

const contextOf = (session: Session): Promise<string> =>
  session.context().then(({ messages }) => JSON.stringify(messages))

test("title, label, edit, leaving out, restoring, deletion, moving the leaf, settling: each is one entry of the session", async () => {
  const { make, read, sample } = await server()
  const { last, answer, left } = sample.ids
  await make("title", { title: "A new name" })
  await make("label", { entry: last, label: "the end" })
  expect((await read((session) => session.info())).title).toBe("A new name")
  await make("title", { title: null })
  expect((await read((session) => session.info())).title).toBeUndefined()
  const tree = await read((session) => sessionTree(session))
  expect(JSON.stringify(tree)).toContain('"label":"the end"')
  expect(await read(contextOf)).toContain("Done: the flag is gone.")
  await make("edit", { entry: last, content: [{ type: "text", text: "Changed by hand." }] })
  expect(await read(contextOf)).toMatch(/Changed by hand/)
  await make("edit", { entry: last, content: null })
  expect(await read(contextOf)).not.toMatch(/Changed by hand|Done: the flag/)
  await make("restore", { entry: last })
  expect(await read(contextOf)).toContain("Done: the flag is gone.")
  await make("tombstone", { entry: last })
  expect(await read(contextOf)).not.toContain("Done: the flag is gone.")
  await make("branch", { entry: left })
  expect(await read(contextOf)).toContain("Remove it everywhere.")
  await make("branch", { entry: answer })
  expect(await read(contextOf)).not.toContain("Remove it everywhere.")
  await make("settle", { entry: left })
})

test("a session is compacted by the summarizer, and without one the call says so", async () => {
  const answer = "## Goal\nFind the flag."
  const { make, read } = await server({ summarize: async () => answer })
  await read((session) =>
    session.append(
      Array.from({ length: 40 }, (_, n) => ({
        type: "message" as const,
        message: {
          role: n % 2 === 0 ? ("user" as const) : ("assistant" as const),
          content: `${n} ${"word ".repeat(4_000)}`,
        },
      })),
    ),
  )
  await make("compact", {})
  expect(await read(contextOf)).toContain("Find the flag.")
  const none = await server()
  const refused = await none.send("POST", "/api/sessions/s/compact", {})
  expect([refused.status, await refused.text()]).toEqual([501, expect.stringContaining("--summarizer")])
  const failing = await server({ summarize: async () => "" })
  expect((await failing.send("POST", "/api/sessions/s/compact", {})).status).toBe(502)
})

test("a session is deleted, also one that cannot be opened", async () => {
  const { send, sessions } = await server()
  await sessions.storage.append("broken", ["{ no header"], { expect: 0 })
  for (const id of ["s", "broken"]) {
    const response = await send("DELETE", `/api/sessions/${id}`)
    expect([response.status, ((await response.json()) as { id: string }).id]).toEqual([200, id])
    expect(await sessions.storage.head(id)).toBeUndefined()
  }
  expect((await send("DELETE", "/api/sessions/s")).status).toBe(404)
})

const CHANGES = ["title", "label", "edit", "restore", "tombstone", "branch", "settle", "compact"]

test("without `write` every change is 405, with a text that says what to do, and the log stays as it is", async () => {
  const { send, sessions, sample } = await server({ write: false, summarize: async () => "x" })
  const before = await textOf(exportSession(sessions, "s"))
  const bodies = { title: "x", entry: sample.ids.last, label: "x", content: null }
  for (const method of ["POST", "PUT", "PATCH", "DELETE"])
    for (const path of ["", ...CHANGES.map((call) => `/${call}`)]) {
      const response = await send(method, `/api/sessions/s${path}`, bodies)
      expect([response.status, await response.text()]).toEqual([405, expect.stringContaining("`--write`")])
    }
  expect(await textOf(exportSession(sessions, "s"))).toBe(before)
})

test("with `write` a change needs the token and the page's own origin, as reading does", async () => {
  const { send, sessions } = await server()
  const before = await textOf(exportSession(sessions, "s"))
  for (const [headers, status] of [
    [{ authorization: "" }, 401],
    [{ authorization: "Bearer wrong" }, 401],
    [{ origin: "http://evil.example" }, 403],
    [{ "sec-fetch-site": "cross-site", "sec-fetch-mode": "cors" }, 403],
    [{ "content-type": "text/plain" }, 415],
    [{ "content-type": "application/x-www-form-urlencoded" }, 415],
  ] as const)
    expect([headers, (await send("POST", "/api/sessions/s/title", { title: "x" }, headers)).status]).toEqual([
      headers,
      status,
    ])
  expect(await textOf(exportSession(sessions, "s"))).toBe(before)
})

test("what is wrong with a change is 400, 404 or 413, and writes nothing", async () => {
  const { send, sessions, sample } = await server()
  const before = await textOf(exportSession(sessions, "s"))
  const entry = sample.ids.last
  const wrong: readonly [call: string, body: unknown, status: number][] = [
    ["title", { title: "" }, 400],
    ["title", { title: 1 }, 400],
    ["title", { title: "x", other: 1 }, 400],
    ["title", [], 400],
    ["title", "{", 400],
    ["label", { label: "x" }, 400],
    ["label", { entry: "none", label: "x" }, 404],
    ["edit", { entry }, 400],
    ["edit", { entry, content: 1 }, 400],
    ["edit", { entry, content: [{ type: "text" }] }, 400],
    ["edit", { entry: "none", content: "x" }, 404],
    ["edit", { entry: sample.ids.compaction, content: "x" }, 400],
    ["edit", { entry, content: "x".repeat(4_100_000) }, 413],
    ["restore", { entry: "none" }, 404],
    ["tombstone", { entry: "none" }, 404],
    ["branch", { entry: "none" }, 404],
    ["branch", { entry: null }, 400],
    ["settle", { entry: "none" }, 404],
  ]
  for (const [call, body, status] of wrong) {
    const response = await send("POST", `/api/sessions/s/${call}`, body)
    expect([
      call,
      response.status,
      typeof ((await response.json()) as { error: { message: string } }).error.message,
    ]).toEqual([call, status, "string"])
  }
  expect((await send("POST", "/api/sessions/none/title", { title: "x" })).status).toBe(404)
  expect((await send("POST", "/api/sessions/..%2fx/title", { title: "x" })).status).toBe(400)
  expect((await send("DELETE", "/api/sessions/..%2fx")).status).toBe(400)
  expect(await textOf(exportSession(sessions, "s"))).toBe(before)
})

test("a method that an address does not take is 405 with those that it takes", async () => {
  const { send } = await server()
  for (const [method, path, allow] of [
    ["GET", "/api/sessions/s/title", "POST"],
    ["PUT", "/api/sessions/s/title", "POST"],
    ["POST", "/api/sessions/s", "GET, HEAD, DELETE"],
    ["POST", "/api/sessions/s/whole", "GET, HEAD"],
    ["DELETE", "/api/sessions/s/title", "POST"],
    ["POST", "/api/sessions", "GET, HEAD"],
    ["POST", "/", "GET, HEAD"],
  ] as const) {
    const { status, headers } = await send(method, path)
    expect([method, path, status, headers.get("allow")]).toEqual([method, path, 405, allow])
  }
})

test("`api` answers below /sessions after the same checks, and its answers have the headers of the others", async () => {
  const seen: string[] = []
  const api = async (request: Request): Promise<Response> => {
    seen.push(`${request.method} ${new URL(request.url).pathname}`)
    return Response.json({ text: await request.text() }, { headers: { "x-own": "1" } })
  }
  const { send } = await server({ api })
  const answer = await send("POST", "/sessions/s/prompts", { x: 1 })
  expect([await answer.json(), answer.headers.get("x-own"), answer.headers.get("content-security-policy")]).toEqual([
    { text: '{"x":1}' },
    "1",
    expect.stringContaining("sandbox"),
  ])
  expect((await send("GET", "/sessions", undefined, { authorization: "Bearer wrong" })).status).toBe(401)
  expect((await send("GET", "/sessions", undefined, { origin: "http://evil.example" })).status).toBe(403)
  expect((await send("GET", "/sessions-other")).status).toBe(404)
  const reading = await server({ api, write: false })
  expect((await reading.send("GET", "/sessions")).status).toBe(200)
  expect((await reading.send("POST", "/sessions", {})).status).toBe(405)
  expect(seen).toEqual(["POST /sessions/s/prompts", "GET /sessions"])
  expect((await (await server()).send("GET", "/sessions")).status).toBe(404)
})
