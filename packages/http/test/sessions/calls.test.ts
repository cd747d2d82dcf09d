/** The calls of the session API: what they answer, and what they refuse. */
import { createSessions } from "@sessions/core"
import { isUlid } from "@sessions/core/format"
import { createSessionHandler, sessionRoutes } from "@sessions/http/server"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { ask, newId, serve, textsOf } from "./server.ts"

test("create makes a ULID and stores header and metadata in one batch, before it answers 201", async () => {
  const { call, sessions } = serve()
  const given = {
    title: "Title",
    cwd: "/srv",
    source: "cron",
    cronJobId: "nightly",
    systemPromptOverride: "Be short.",
    parentSession: { id: "parent" },
    kind: "chat",
    metadata: { team: "a", nested: { n: [1, null] } },
  }
  const answered = await call("POST", "/sessions", given)
  const { id, info } = (await answered.json()) as { id: string; info: object }
  expect([answered.status, isUlid(id)]).toEqual([201, true])
  expect(info).toMatchObject({ id, ...given })
  const head = await sessions.storage.head(id)
  expect(head?.next).toBe(3)
  expect((await call("POST", "/sessions", {})).status).toBe(201)
})

test("list gives pages with the filters of core", async () => {
  const { client, call } = serve()
  const ids: string[] = []
  for (const kind of ["chat", undefined, "chat"]) ids.push((await client.create(kind === undefined ? {} : { kind })).id)
  const first = await client.list({ limit: 2 })
  const { next = "" } = first
  const second = await client.list({ limit: 2, cursor: next })
  expect([...first.sessions, ...second.sessions].map(({ id }) => id).toSorted()).toEqual(ids.toSorted())
  expect([first.sessions.length, second.next, first.unreadable]).toEqual([2, undefined, []])
  expect((await client.list({ kind: "chat" })).sessions).toHaveLength(2)
  expect((await client.list({ kind: "" })).sessions.map(({ id }) => id)).toEqual([ids[1]])
  expect((await client.list({ cwd: "/no" })).sessions).toEqual([])
  for (const query of [
    "limit=0",
    "limit=201",
    "limit=1.5",
    "limit=x",
    "limit=1&limit=2",
    "other=1",
    "source=x",
    "cursor=x",
  ])
    expect([query, (await call("GET", `/sessions?${query}`)).status]).toEqual([query, 400])
  expect((await call("GET", "/sessions?limit=200")).status).toBe(200)
})

test("list filters by the beginning of the id and by metadata", async () => {
  const { client, call } = serve()
  const { id } = await client.create({ metadata: { team: "a", nested: { n: [1, null] } } })
  await client.create({ metadata: { team: "b" } })
  const idsOf = async (filter: Parameters<typeof client.list>[0]): Promise<string[]> =>
    (await client.list(filter)).sessions.map((one) => one.id)
  expect(await idsOf({ metadata: { nested: { n: [1, null] }, team: "a" } })).toEqual([id])
  expect(await idsOf({ metadata: {} })).toHaveLength(2)
  expect(await idsOf({ idPrefix: id })).toEqual([id])
  expect(await idsOf({ idPrefix: "x" })).toEqual([])
  for (const wrong of ["", "1", "[]", "null", "{"])
    expect((await call("GET", `/sessions?metadata=${encodeURIComponent(wrong)}`)).status).toBe(400)
})

test.each([
  { ulidsOnly: true, ids: ["abc", "01arz3ndektsv4rrffq69g5fav", "..%2Fsecret", "%00", "a%20b", "%40a"] },
  { ulidsOnly: false, ids: ["..%2Fsecret", "%00", "a%20b", "%40a"] },
])("an id that no session can have is 400 on every route (ulidsOnly: $ulidsOnly)", async ({ ulidsOnly, ids }) => {
  const sessions = createSessions({ storage: createMemoryStorage(), ulidsOnly })
  const handler = createSessionHandler<string>({
    sessions: () => sessions,
    authorize: () => "me",
    run: () => undefined,
  })
  const bodies: Readonly<Record<string, unknown>> = { rename: { title: "x" }, prompt: { id: newId(), text: "x" } }
  const routes = sessionRoutes.filter(({ path }) => path.includes(":session"))
  expect(routes).toHaveLength(7)
  for (const id of ids) {
    for (const { action, method, path } of routes) {
      const url = `http://host${path.replace(":session", id).replace(":message", newId())}${action === "events" ? "?wait=0" : ""}`
      const body = bodies[action]
      const init = body === undefined ? { method } : { method, body: JSON.stringify(body), headers: JSON_TYPE }
      expect([id, action, (await handler(new Request(url, init))).status]).toEqual([id, action, 400])
    }
  }
})

const JSON_TYPE = { "content-type": "application/json" }

test("a session that cannot be read is listed without details of the server", async () => {
  const { call, sessions } = serve()
  await sessions.storage.append("damaged", ["not a header"], { expect: 0 })
  const { unreadable } = (await (await call("GET", "/sessions")).json()) as { unreadable: unknown }
  expect(unreadable).toEqual([
    { id: "damaged", error: { code: "not_a_session", message: expect.any(String) as string } },
  ])
  expect((await call("GET", "/sessions/damaged")).status).toBe(422)
})

test("load gives the newest messages first, page by page, and the place in the log", async () => {
  const { client, call, sessions } = serve()
  const { id } = await client.create()
  await ask(client, id, "one")
  await ask(client, id, "two")
  const newest = await client.load(id, { limit: 3 })
  // Each turn begins with its fence.
  expect(newest.messages.map(({ seq }) => seq)).toEqual([3, 5, 6])
  const { before = "" } = newest
  const oldest = await client.load(id, { limit: 3, before })
  expect([oldest.messages.length, oldest.before]).toEqual([1, undefined])
  const head = await sessions.storage.head(id)
  expect(newest.cursor).toBe(`${head?.log}.${head?.next}.${newest.messages[1]?.entryId}`)
  expect(newest.info).toMatchObject({ id, messageCount: 4 })
  for (const query of ["limit=0", "limit=201", "before=", "other=1"])
    expect((await call("GET", `/sessions/${id}?${query}`)).status).toBeGreaterThanOrEqual(400)
})

test("load sees what another server has appended, although the session is open here", async () => {
  const { client, sessions } = serve()
  const { id } = await client.create()
  const open = await sessions.open(id)
  const other = createSessions({ storage: sessions.storage })
  const session = await other.open(id)
  await session.append({ type: "message", message: { role: "user", content: "from elsewhere" } })
  expect(await textsOf(client, id)).toEqual(["from elsewhere"])
  await open.close()
})

test("context gives what a model gets, and whether it fits the window", async () => {
  const { client, call } = serve()
  const { id } = await client.create()
  await ask(client, id, "hello")
  const context = await client.context(id, { window: 100_000 })
  expect(context.messages.map(({ message }) => message.role)).toEqual(["user", "assistant"])
  expect(context.fits).toBe(true)
  expect(await client.context(id)).not.toHaveProperty("fits")
  expect((await call("GET", `/sessions/${id}/context?window=0`)).status).toBe(400)
})

test("rename sets and removes the title", async () => {
  const { client, call } = serve()
  const { id } = await client.create()
  expect((await client.rename(id, "New")).info).toMatchObject({ title: "New", titleSource: "user" })
  expect((await client.rename(id, null)).info.title).toBeUndefined()
  expect((await call("PATCH", `/sessions/${id}`, { title: 1 })).status).toBe(400)
  expect((await call("PATCH", `/sessions/${id}`, { title: "x", other: 1 })).status).toBe(400)
})

test("delete stops the turn, drops the queue and removes session and documents", async () => {
  let signal: AbortSignal | undefined
  let begin = (): void => undefined
  const begun = new Promise<void>((resolve) => (begin = resolve))
  const { client, sessions } = serve({
    run: async (turn) => {
      ;({ signal } = turn)
      begin()
      await new Promise<void>((resolve) => turn.signal.addEventListener("abort", () => resolve()))
    },
  })
  const { id } = await client.create()
  await client.prompt(id, { text: "one" })
  await begun
  await client.prompt(id, { text: "two" })
  expect(await client.delete(id)).toMatchObject({ id, purged: true, parts: expect.any(Number) as number })
  expect(signal?.aborted).toBe(true)
  expect(await sessions.storage.head(id)).toBeUndefined()
  expect(await sessions.storage.docs.get(`sessions/${id}/prompts`)).toBeUndefined()
  await expect(client.load(id)).rejects.toMatchObject({ code: "not_found", status: 404 })
  await expect(client.delete(id)).rejects.toMatchObject({ code: "not_found" })
  await expect(client.prompt(id, { text: "late" })).rejects.toMatchObject({ code: "not_found" })
  expect(await sessions.storage.docs.get(`sessions/${id}/prompts`)).toBeUndefined()
})

test("an id that is none is 400 in every route, before anyone is asked", async () => {
  let asked = 0
  const { call } = serve({ authorize: () => (asked++, "me") })
  const bad = ["..", "%2e%2e", "a%2Fb", "a%00", "%40a", "x".repeat(129), "a..b", "%F0%90", "%"]
  for (const { method, path } of sessionRoutes) {
    if (!path.includes(":session")) continue
    for (const id of bad) {
      const given = path.replace(":session", id).replace(":message", newId())
      const { status } = await call(method, given, method === "POST" || method === "PATCH" ? {} : undefined)
      // The URL parser resolves dots itself, so those never reach a route of a session.
      expect([given, id.includes("%2e") || id === ".." ? [400, 404, 405] : [400]], given).toEqual([
        given,
        expect.arrayContaining([status]),
      ])
    }
  }
  expect(asked).toBeLessThan(5)
})

test("a missing session is 404 in every route, without the place of the storage", async () => {
  const { call, sessions } = serve()
  for (const { action, method, path, body } of sessionRoutes) {
    if (!path.includes(":session")) continue
    const id = newId()
    const bodies: Record<string, object> = { rename: { title: "x" }, prompt: { id, text: "x" } }
    const answered = await call(method, path.replace(":session", id).replace(":message", id), body && bodies[action])
    const text = await answered.text()
    expect([action, answered.status]).toEqual([action, 404])
    expect(text).toContain('"code":"not_found"')
    expect(text).not.toContain(sessions.storage.description)
  }
})

test("bodies: too large is 413, another type 415, not JSON and wrong fields 400, an unknown route 404, a method 405", async () => {
  const { client, handler, call } = serve({ maxBodyBytes: 200 })
  const { id } = await client.create()
  const path = `/sessions/${id}/prompts`
  expect((await call("POST", path, { id: newId(), text: "x".repeat(200) })).status).toBe(413)
  expect((await call("POST", path, { id: newId(), text: "x" }, { "content-type": "text/plain" })).status).toBe(415)
  const send = (body: string): Promise<Response> =>
    handler(
      new Request(`http://host${path}`, { method: "POST", body, headers: { "content-type": "application/json" } }),
    )
  for (const body of [
    "{",
    "null",
    "[]",
    "{}",
    `{"id":"${newId()}"}`,
    `{"id":"${newId()}","text":""}`,
    `{"id":"x","text":"x"}`,
    `{"id":"${newId()}","text":"x","more":1}`,
    `{"id":"${newId()}","text":"x","attachments":${JSON.stringify(Array.from({ length: 11 }, () => ({ path: "a", mimeType: "b" })))}}`,
  ])
    expect([body, (await send(body)).status]).toEqual([body, body.length > 200 ? 413 : 400])
  expect((await call("GET", "/other")).status).toBe(404)
  expect((await call("GET", `/sessions/${id}/other`)).status).toBe(404)
  const wrong = await call("PUT", `/sessions/${id}`)
  expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, PATCH, DELETE"])
  expect((await call("DELETE", `${path}/x`)).status).toBe(400)
})

test("more than 10 attachments are 400", async () => {
  const { client, call } = serve()
  const { id } = await client.create()
  const attachments = Array.from({ length: 11 }, () => ({ path: "/a", mimeType: "b/c" }))
  expect((await call("POST", `/sessions/${id}/prompts`, { id: newId(), text: "x", attachments })).status).toBe(400)
})

test("an unexpected failure is 500 without details, which the server's log gets", async () => {
  const failing = createSessions({ storage: createMemoryStorage() })
  const { call, errors } = serve()
  const handler = createSessionHandler<string>({
    sessions: () => Object.assign(failing, { list: () => Promise.reject(new Error("secret")) }),
    authorize: () => "me",
    run: () => undefined,
    onError: (error) => errors.push(error),
  })
  const answered = await handler(new Request("http://host/sessions"))
  expect([answered.status, await answered.text()]).toEqual([500, expect.not.stringContaining("secret")])
  expect(String(errors[0])).toContain("secret")
  expect((await call("GET", "/sessions")).headers.get("cache-control")).toBe("no-store")
})

test("`authorize` is asked with the action and the session, and may answer itself", async () => {
  const asked: unknown[] = []
  const { call } = serve({
    authorize: (_, about) => {
      asked.push(about)
      return new Response("who?", { status: 401 })
    },
  })
  const id = newId()
  for (const { method, path } of sessionRoutes) {
    const answered = await call(method, path.replace(":session", id).replace(":message", id))
    expect([answered.status, await answered.text()]).toEqual([401, "who?"])
  }
  expect(asked).toEqual(
    sessionRoutes.map(({ action, path }) => ({ action, ...(path.includes(":session") && { session: id }) })),
  )
})

test("an id with characters that a path may give another meaning is its session on every route", async () => {
  const { client, sessions, call } = serve()
  for (const id of ["user:ann+tag@example.org", "-a~b_", "3f2a7c1e-5b7d-4c53-9d0e-7a1f0c2b9e44"]) {
    await (await sessions.create({ id })).close()
    expect((await client.load(id)).info.id).toBe(id)
    // As a program without the client may write it.
    expect((await call("GET", `/sessions/${id}`)).status).toBe(200)
    expect((await client.rename(id, "Title")).info.title).toBe("Title")
    await client.prompt(id, { text: "hi" })
    for await (const { event } of client.events(id)) if (event === "turn_end") break
    expect(await client.delete(id)).toMatchObject({ id, purged: true })
  }
})

test("wrong options are refused by name", () => {
  const good = {
    sessions: () => createSessions({ storage: createMemoryStorage() }),
    authorize: () => "me",
    run: () => undefined,
  }
  const wrong = {
    sessions: [undefined, {}],
    authorize: [undefined, "me"],
    run: [undefined, 1],
    accept: [true],
    onInterrupted: ["again"],
    lease: [0, 999, Number.NaN, "60"],
    maxBodyBytes: [0, 1.5],
  }
  for (const [name, values] of Object.entries(wrong)) {
    for (const value of values) {
      const create = (): unknown => createSessionHandler({ ...good, [name]: value })
      expect(create, `${name}: ${String(value)}`).toThrow(name)
    }
  }
})
