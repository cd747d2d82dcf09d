import { createSessions } from "@sessions/core"
import { compact } from "@sessions/core/compaction"
import { isUlid, ulidAt } from "@sessions/core/format"
import { type SessionStorage, StorageError } from "@sessions/core/storage"
import { sessionBranches } from "@sessions/core/transfer"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test, vi } from "vitest"
import type { Ask } from "./answer.ts"
import { createHandler, type HandlerOptions } from "./handler.ts"
import { toLambda } from "./lambda.ts"

type Authorize = HandlerOptions["authorize"]

const ASKED = "01K8ZQ4Y9G3V5N7B2M6X0CTRPZ"
const echo: Ask = async (messages) => ({
  role: "assistant",
  content: [{ type: "text", text: `answer ${messages.length}` }],
})

function open(storage: SessionStorage = createMemoryStorage(), ask: Ask = echo, authorize: Authorize = () => true) {
  const handle = createHandler({
    sessions: createSessions({ storage, ulidsOnly: true }),
    ask,
    authorize,
    maxBodyBytes: 1_000,
  })
  return async (method: string, path: string, body?: unknown) => {
    const text = typeof body === "string" ? body : JSON.stringify(body)
    const response = await handle(
      new Request(`https://agent.example${path}`, { method, ...(body !== undefined && { body: text }) }),
    )
    return { status: response.status, body: (await response.json()) as Record<string, unknown> }
  }
}

async function createSession(send: ReturnType<typeof open>): Promise<string> {
  const { status, body } = await send("POST", "/sessions")
  expect(status).toBe(201)
  return String(body["id"])
}

test("a session is created, gets a turn and is read", async () => {
  const send = open()
  const id = await createSession(send)
  expect(isUlid(id)).toBe(true)
  const asked = await send("POST", `/sessions/${id}/turns`, { id: ASKED, text: "hello" })
  expect(asked).toMatchObject({ status: 200, body: { repeated: false, message: { content: [{ text: "answer 1" }] } } })
  const shown = await send("GET", `/sessions/${id}`)
  expect((shown.body["messages"] as { id: string }[]).map((one) => one.id)).toContain(ASKED)
})

test("a repeated request returns the same answer and writes nothing", async () => {
  const send = open()
  const id = await createSession(send)
  const ask = () => send("POST", `/sessions/${id}/turns`, { id: ASKED, text: "hello" })
  const first = await ask()
  const again = await ask()
  expect(again.body["message"]).toEqual(first.body["message"])
  expect(again.body["repeated"]).toBe(true)
  expect((await send("GET", `/sessions/${id}`)).body["messages"]).toHaveLength(2)
})

test("questions with consecutive ids are two turns, in either order", async () => {
  const [first, second] = ["01K8ZQ4Y9G3V5N7B2M6X0CTRP0", "01K8ZQ4Y9G3V5N7B2M6X0CTRP1"]
  for (const ids of [
    [first, second],
    [second, first],
  ]) {
    const send = open()
    const id = await createSession(send)
    for (const asked of ids)
      expect(
        (await send("POST", `/sessions/${id}/turns`, { id: asked, text: `question ${asked}` })).body["repeated"],
      ).toBe(false)
    expect((await send("GET", `/sessions/${id}`)).body["messages"]).toHaveLength(4)
  }
})

test("an id of another message is 409, and the model is not asked", async () => {
  let asked = 0
  const send = open(createMemoryStorage(), async (messages) => (asked++, echo(messages)))
  const id = await createSession(send)
  await send("POST", `/sessions/${id}/turns`, { id: ASKED, text: "hello" })
  const shown = (await send("GET", `/sessions/${id}`)).body["messages"] as { id: string }[]
  for (const body of [
    { id: ASKED, text: "another question" },
    { id: shown[1]?.id, text: "hello" },
  ])
    expect(await send("POST", `/sessions/${id}/turns`, body)).toMatchObject({
      status: 409,
      body: { error: { code: "exists" } },
    })
  expect(asked).toBe(1)
})

test("a request is repeated however many turns came after it", async () => {
  const send = open()
  const id = await createSession(send)
  const ask = () => send("POST", `/sessions/${id}/turns`, { id: ASKED, text: "hello" })
  const first = await ask()
  for (let n = 10; n < 70; n++)
    await send("POST", `/sessions/${id}/turns`, { id: `01K8ZQ4Y9G3V5N7B2M6X0CTR${n}`, text: "x" })
  expect((await ask()).body).toEqual({ message: first.body["message"], repeated: true })
})

test("a new question reads the end of a long session only, and an old one as far as it must", async () => {
  const storage = createMemoryStorage()
  const [day, now] = [24 * 60 * 60 * 1000, Date.now()]
  let clock = now
  const sessions = createSessions({ storage, ulidsOnly: true, now: () => clock })
  const id = await createSession(open(storage))
  const session = await sessions.open(id)
  const text = "x".repeat(1_000)
  const said = (daysAgo: number, n: number) => ({
    type: "message" as const,
    id: ulidAt(now - daysAgo * day, 1_000 + n),
    message: { role: "user" as const, content: text },
  })
  for (let daysAgo = 40; daysAgo > 0; daysAgo--) {
    clock = now - daysAgo * day
    await session.append(Array.from({ length: 50 }, (_, n) => said(daysAgo, n)))
  }
  clock = now
  await compact(session, { summarize: async () => "what was said", keepRecentTokens: 2_000 })
  await session.close()
  let lines = 0
  const counting: SessionStorage = {
    ...storage,
    async *read(...args) {
      for await (const chunk of storage.read(...args)) {
        lines += chunk.lines.length
        yield chunk
      }
    },
  }
  const asked = async (daysAgo: number): Promise<number> => {
    lines = 0
    const question = { id: ulidAt(now - daysAgo * day, daysAgo), text: "hello" }
    expect((await open(counting)("POST", `/sessions/${id}/turns`, question)).status).toBe(200)
    return lines
  }
  expect(await asked(0)).toBeLessThan(400)
  expect(await asked(30)).toBeGreaterThan(1_500)
})

test("the texts of storage errors stay in the log of the function", async () => {
  const log = vi.spyOn(console, "error").mockImplementation(() => undefined)
  const storage: SessionStorage = {
    ...createMemoryStorage(),
    head: () => Promise.reject(new StorageError("unavailable", "role arn:aws:iam::1 on bucket acme")),
  }
  const { status, body } = await open(storage)("GET", `/sessions/${ASKED}`)
  expect(status).toBe(503)
  expect(JSON.stringify(body)).not.toMatch(/arn|acme/)
  expect(log).toHaveBeenCalledTimes(1)
  log.mockRestore()
})

test("a session that the caller may not use is 404", async () => {
  const storage = createMemoryStorage()
  const id = await createSession(open(storage))
  const stranger = open(storage, echo, (_, session) => session === undefined)
  expect((await stranger("GET", `/sessions/${id}`)).status).toBe(404)
  expect((await stranger("POST", `/sessions/${id}/turns`, { id: ASKED, text: "x" })).status).toBe(404)
  expect((await stranger("POST", "/sessions")).status).toBe(201)
})

test("a function that crashes during the turn writes nothing, and the next one runs the whole turn", async () => {
  const storage = createMemoryStorage()
  let died = false
  const send = open(storage, async (messages) => {
    if (died) return echo(messages)
    died = true
    throw new Error("out of time")
  })
  const id = await createSession(send)
  const ask = () => send("POST", `/sessions/${id}/turns`, { id: ASKED, text: "hello" })
  expect((await ask()).status).toBe(500)
  expect((await send("GET", `/sessions/${id}`)).body["messages"]).toEqual([])
  expect((await ask()).body).toMatchObject({ repeated: false, message: { content: [{ text: "answer 1" }] } })
  expect((await send("GET", `/sessions/${id}`)).body["messages"]).toHaveLength(2)
})

/** Functions that share sessions; their models answer only after all of them have been called. */
function openConcurrent(count: number, location = createMemoryLocation()): readonly ReturnType<typeof open>[] {
  let asked = 0
  let release = (): void => undefined
  const all = new Promise<void>((resolve) => {
    release = resolve
  })
  return Array.from({ length: count }, (_, n) =>
    open(createMemoryStorage({ location }), async (messages) => {
      if (++asked === count) release()
      await all
      return { role: "assistant", content: [{ type: "text", text: `${n} has read ${messages.length}` }] }
    }),
  )
}

test("two concurrent repetitions of a request are written once, and both get the stored answer", async () => {
  const functions = openConcurrent(2)
  const [first = open()] = functions
  const id = await createSession(first)
  const ask = (send: typeof first) => send("POST", `/sessions/${id}/turns`, { id: ASKED, text: "hello" })
  const answers = await Promise.all(functions.map(ask))
  const shown = (await first("GET", `/sessions/${id}`)).body["messages"] as { message: unknown }[]
  expect(shown).toHaveLength(2)
  for (const { status, body } of answers)
    expect({ status, body }).toMatchObject({ status: 200, body: { message: shown[1]?.message } })
})

test("concurrent requests are stored one after the other, each with its answer, and a repetition finds it", async () => {
  const functions = openConcurrent(3)
  const [first = open()] = functions
  const id = await createSession(first)
  const questions = functions.map((_, n) => `01K8ZQ4Y9G3V5N7B2M6X0CTR${n}0`)
  const ask = (send: typeof first, n: number) =>
    send("POST", `/sessions/${id}/turns`, { id: questions[n], text: `question ${n}` })
  const answers = await Promise.all(functions.map(ask))
  const shown = (await first("GET", `/sessions/${id}`)).body["messages"] as { id: string; message: unknown }[]
  expect(shown).toHaveLength(6)
  for (const [n, { status, body }] of answers.entries()) {
    expect(status).toBe(200)
    expect(shown[shown.findIndex((one) => one.id === questions[n]) + 1]?.message).toEqual(body["message"])
    expect((await ask(first, n)).body).toEqual({ message: body["message"], repeated: true })
  }
})

test("of a double click both questions and answers are in the next context, and on no other branch", async () => {
  const location = createMemoryLocation()
  const [first = open(), second = open()] = openConcurrent(2, location)
  const id = await createSession(first)
  const ask = async (send: typeof first, n: number): Promise<unknown> =>
    (await send("POST", `/sessions/${id}/turns`, { id: `01K8ZQ4Y9G3V5N7B2M6X0CTR${n}0`, text: `question ${n}` })).body[
      "message"
    ]
  const answers = await Promise.all([ask(first, 1), ask(second, 2)])
  const read: string[] = []
  const next = open(createMemoryStorage({ location }), async (messages) => {
    read.push(...messages.map(({ content }) => JSON.stringify(content)))
    return echo(messages)
  })
  await ask(next, 3)
  expect(read).toHaveLength(5)
  for (const [n, message] of answers.entries()) {
    const at = read.findIndex((text) => text.includes(`question ${n + 1}`))
    expect(read[at + 1]).toBe(JSON.stringify((message as { content: unknown }).content))
  }
  const session = await createSessions({ storage: createMemoryStorage({ location }) }).open(id)
  expect(await sessionBranches(session)).toHaveLength(1)
})

test("each error has its status", async () => {
  const send = open()
  const id = await createSession(send)
  const turns = `/sessions/${id}/turns`
  const cases: readonly (readonly [number, string, string, unknown?])[] = [
    [400, "GET", "/sessions/not-a-ulid"],
    [400, "POST", "/sessions/..%2Fx/turns", { id: ASKED, text: "x" }],
    [400, "POST", turns, { id: "mine", text: "x" }],
    [400, "POST", turns, { id: ASKED }],
    [400, "POST", turns, "{"],
    [404, "GET", "/sessions/01K8ZQ4Y9G3V5N7B2M6X0CTRPZ"],
    [404, "POST", "/sessions/01K8ZQ4Y9G3V5N7B2M6X0CTRPZ/turns", { id: ASKED, text: "x" }],
    [404, "DELETE", `/sessions/${id}`],
    [404, "GET", "/elsewhere"],
    [413, "POST", turns, { id: ASKED, text: "x".repeat(2_000) }],
  ]
  for (const [status, method, path, body] of cases) {
    const response = await send(method, path, body)
    expect(response, `${method} ${path}`).toMatchObject({ status, body: { error: { message: expect.any(String) } } })
  }
  expect((await send("GET", `/sessions/${id}`)).body["messages"]).toEqual([])
})

test("if another function is always faster, the status is 409 and nothing of the turn is written", async () => {
  const location = createMemoryLocation()
  const other = createSessions({ storage: createMemoryStorage({ location }) })
  const storage = createMemoryStorage({ location })
  let faster = 0
  const raced: SessionStorage = {
    ...storage,
    async append(session, lines, o) {
      if (o.expect !== 0) {
        faster++
        const rival = await other.open(session)
        await rival.append({ type: "message", message: { role: "user", content: `faster ${faster}` } })
        await rival.close()
      }
      return storage.append(session, lines, o)
    },
  }
  const send = open(raced)
  const id = await createSession(send)
  const { status, body } = await send("POST", `/sessions/${id}/turns`, { id: ASKED, text: "hello" })
  expect({ status, body }).toMatchObject({ status: 409, body: { error: { code: "conflict" } } })
  expect(faster).toBe(4)
  const shown = await open(storage)("GET", `/sessions/${id}`)
  expect((shown.body["messages"] as unknown[]).length).toBe(4)
})

test("the Lambda adapter passes on request and response", async () => {
  const handler = toLambda(async (request) =>
    Response.json({ method: request.method, url: request.url, text: await request.text() }, { status: 201 }),
  )
  const requestContext = { domainName: "agent.example", http: { method: "POST" } }
  const headers = { "content-type": "application/json", missing: undefined }
  const result = await handler({ rawPath: "/sessions", rawQueryString: "a=1", headers, body: "é", requestContext })
  expect(result.statusCode).toBe(201)
  expect(JSON.parse(result.body)).toEqual({ method: "POST", url: "https://agent.example/sessions?a=1", text: "é" })
  const encoded = await handler({ rawPath: "/", body: btoa("hello"), isBase64Encoded: true, requestContext })
  expect(JSON.parse(encoded.body)).toMatchObject({ text: "hello" })
  const empty = await handler({ rawPath: "/", requestContext: { ...requestContext, http: { method: "GET" } } })
  expect(JSON.parse(empty.body)).toMatchObject({ method: "GET", text: "" })
})
