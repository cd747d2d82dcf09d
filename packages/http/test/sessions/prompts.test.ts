/** Prompts: durable before the answer, once in the log, one turn at a time. */
import { createSessions } from "@sessions/core"
import type { SessionStorage } from "@sessions/core/storage"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { ulidAt } from "@sessions/core/format"
import { mergeSession, sessionBranches } from "@sessions/core/transfer"
import { expect, test, vi } from "vitest"
import {
  answer,
  ask,
  clientOf,
  endOf,
  eventually,
  gate,
  newId,
  say,
  serve,
  type Served,
  textsOf,
  type Turn,
  until,
} from "./server.ts"

const DAY = 24 * 60 * 60 * 1000

test("a prompt becomes the first message of a turn of its own, with its id", async () => {
  const { client } = serve()
  const { id } = await client.create({ title: "One" })
  const events = await ask(client, id, "hello")
  expect(events.map(({ event }) => event)).toEqual(["queued", "turn_start", "appended", "appended", "turn_end"])
  expect(await textsOf(client, id)).toEqual(["hello", "HELLO"])
  const { messages } = await client.load(id)
  expect(events.at(-1)?.data).toEqual({ messageId: messages[0]?.entryId })
})

test("a prompt is stored before it is answered with 202, and only then runs", async () => {
  const storage = createMemoryStorage()
  let runs = 0
  const { client, call } = serve({ storage, background: false, run: () => void runs++ })
  const { id } = await client.create()
  const first = newId()
  const answered = await call("POST", `/sessions/${id}/prompts`, { id: first, text: "one" })
  expect([answered.status, await answered.json()]).toEqual([202, { messageId: first, position: 0 }])
  expect((await storage.docs.get(`sessions/${id}/prompts`))?.text).toContain(first)
  expect(await client.prompt(id, { text: "two" })).toMatchObject({ position: 1 })
  expect([runs, await textsOf(client, id)]).toEqual([0, []])
})

test("the model of a turn is the prompt's, else that of the session's folder, else the default", async () => {
  const seen: unknown[] = []
  const ref = (model: string) => ({ provider: "acme", model })
  const models = {
    of: async (cwd: string) => (cwd === "/work" ? ref("of the folder") : undefined),
    default: ref("default"),
  }
  const { client } = serve({ models, run: ({ model }) => void seen.push(model?.model) })
  const ask = async (cwd: string | undefined, model?: { provider: string; model: string }): Promise<void> => {
    const { id } = await client.create(cwd === undefined ? {} : { cwd })
    const before = seen.length
    await client.prompt(id, { text: "hello", ...(model && { model }) })
    await eventually(() => expect(seen.length).toBe(before + 1))
  }
  await ask("/work", ref("of the prompt"))
  await ask("/work")
  await ask("/elsewhere")
  await ask(undefined)
  expect(seen).toEqual(["of the prompt", "of the folder", "default", "default"])
})

test("a turn without any model named has none, and a misspelt option of models is `invalid`", async () => {
  const seen: unknown[] = []
  const { client } = serve({ run: ({ model }) => void seen.push(model) })
  const { id } = await client.create({ cwd: "/work" })
  await client.prompt(id, { text: "hello" })
  await eventually(() => expect(seen).toEqual([undefined]))
  expect(() => serve({ models: { off: () => undefined } as never })).toThrow(/Did you mean "of"/)
})

test("the agent gets the prompt, its model and attachments; the message has all but the model", async () => {
  const seen: Turn[] = []
  const { client, sessions } = serve({ run: (turn) => void seen.push(turn) })
  const { id } = await client.create()
  const model = { provider: "acme", model: "m1" }
  const attachments = [{ path: "/a.png", mimeType: "image/png", size: 3 }]
  const messageId = newId()
  await client.prompt(id, { id: messageId, text: "look", model, attachments })
  await eventually(() => expect(seen).toHaveLength(1))
  expect(seen[0]).toMatchObject({ message: { messageId, text: "look" }, model, turn: { messageId, rerun: false } })
  const session = await sessions.open(id)
  expect(await session.entry(messageId)).toMatchObject({ model, message: { role: "user", attachments } })
  const { messages } = await session.context()
  expect(messages[0]?.message).not.toHaveProperty("model")
})

test("a repeated prompt is 200 while it waits, while it runs and when it has ended; with other content it is 409", async () => {
  const running = gate()
  const end = gate()
  const { client, call } = serve({
    run: async ({ session }) => {
      running.open()
      await end.passed
      await say(session, "done")
    },
  })
  const { id } = await client.create()
  const send = async (prompt: object): Promise<unknown[]> => {
    const answered = await call("POST", `/sessions/${id}/prompts`, prompt)
    const body = (await answered.json()) as { position?: number; error?: { code: string } }
    return [answered.status, body.position ?? body.error?.code ?? null]
  }
  const first = { id: newId(), text: "first", attachments: [{ path: "/a", mimeType: "text/plain" }] }
  const second = { id: newId(), text: "second" }
  expect(await send(first)).toEqual([202, 0])
  await running.passed
  expect(await send(second)).toEqual([202, 1])
  expect(await send(first)).toEqual([200, 0])
  expect(await send(second)).toEqual([200, 1])
  expect(await send({ ...first, text: "other" })).toEqual([409, "exists"])
  expect(await send({ ...second, model: { provider: "a", model: "b" } })).toEqual([409, "exists"])
  end.open()
  await eventually(async () => expect(await textsOf(client, id)).toEqual(["first", "done", "second", "done"]))
  await eventually(async () => expect(await send(second)).toEqual([200, null]))
  expect(await send(first)).toEqual([200, null])
  expect(await send({ ...first, attachments: [] })).toEqual([409, "exists"])
  const { messages } = await client.load(id)
  expect(await send({ ...first, id: messages[1]?.entryId })).toEqual([409, "exists"])
  expect(messages).toHaveLength(4)
})

test("a repetition is recognized in a log that grew by a window and more, and by a server that has just started", async () => {
  const location = createMemoryLocation()
  const { client } = serve({
    storage: createMemoryStorage({ location }),
    run: ({ session }) => say(session, "x".repeat(400_000)),
  })
  const { id } = await client.create()
  const first = { id: newId(), text: "first" }
  await client.prompt(id, first)
  await ask(client, id, "second")
  await ask(client, id, "third")
  const storage = createMemoryStorage({ location })
  const key = `sessions/${id}/prompts`
  // It names the last turns that ended; the log must be enough.
  await storage.docs.delete(key, { expect: (await storage.docs.get(key))?.version ?? "" })
  const other = serve({ storage })
  expect(await other.client.prompt(id, first)).toEqual({ messageId: first.id, position: null })
  expect(await other.client.prompt(id, first)).toEqual({ messageId: first.id, position: null })
})

test("a repetition is recognized before older entries that a merge has put behind it", async () => {
  const location = createMemoryLocation()
  const { client, sessions } = serve({ storage: createMemoryStorage({ location }) })
  const { id } = await client.create()
  const device = createMemoryStorage()
  await mergeSession(sessions, id, device)
  const offline = await createSessions({ storage: device, now: () => Date.now() - 3 * DAY }).open(id)
  await offline.append({ type: "message", message: { role: "user", content: "x".repeat(400_000) } })
  await offline.close()
  await ask(client, id, "first")
  const { messages } = await client.load(id)
  const first = { id: messages[0]?.entryId ?? "", text: "first" }
  await mergeSession(sessions, id, device)
  const storage = createMemoryStorage({ location })
  const key = `sessions/${id}/prompts`
  // It names the last turns that ended; the log must be enough.
  await storage.docs.delete(key, { expect: (await storage.docs.get(key))?.version ?? "" })
  const other = serve({ storage })
  expect(await other.client.prompt(id, first)).toEqual({ messageId: first.id, position: null })
})

test("an id of more than 24 hours before or after now is 400", async () => {
  const now = Date.now()
  const { client, call } = serve({ background: false, now: () => now })
  const { id } = await client.create()
  const send = async (time: number): Promise<number> =>
    (await call("POST", `/sessions/${id}/prompts`, { id: ulidAt(time, 0), text: "x" })).status
  expect(await send(now - DAY - 1)).toBe(400)
  expect(await send(now + DAY + 1)).toBe(400)
  expect(await send(now - DAY)).toBe(202)
  expect(await send(now + DAY)).toBe(202)
})

test("at most 20 prompts wait; the next is 429 with Retry-After, and a repetition still 200", async () => {
  const { client, call } = serve({ background: false })
  const { id } = await client.create()
  const prompts = Array.from({ length: 20 }, (_, n) => ({ id: newId(), text: String(n) }))
  for (const [position, prompt] of prompts.entries())
    expect(await client.prompt(id, prompt)).toMatchObject({ position })
  const refused = await call("POST", `/sessions/${id}/prompts`, { id: newId(), text: "one more" })
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "5"])
  expect(await refused.json()).toMatchObject({ error: { code: "too_many_prompts" } })
  expect(await client.prompt(id, prompts[19] ?? { text: "" })).toMatchObject({ position: 19 })
})

test("a prompt during a tool call leaves the context and the log as they are, until the turn has ended", async () => {
  const called = gate()
  const end = gate()
  const { client, sessions } = serve({
    run: async ({ session, message }) => {
      if (message.text !== "use a tool") return answer({ session, message } as Turn)
      const call = { type: "toolCall", id: "c1", name: "look", arguments: {} } as const
      await session.append({ type: "message", message: { role: "assistant", content: [call] } })
      called.open()
      await end.passed
      const message2 = { role: "toolResult", toolCallId: "c1", content: "seen", isError: false } as const
      await session.append({ type: "message", message: message2 })
      await say(session, "done")
    },
  })
  const { id } = await client.create()
  const { messageId } = await client.prompt(id, { text: "use a tool" })
  await called.passed
  const before = [await client.context(id), await sessions.storage.head(id)]
  const next = await client.prompt(id, { text: "next" })
  expect([await client.context(id), await sessions.storage.head(id)]).toEqual(before)
  end.open()
  await eventually(async () =>
    expect(await textsOf(client, id)).toEqual(["use a tool", "toolCall", "seen", "done", "next", "NEXT"]),
  )
  const { messages } = await client.load(id)
  expect([messages[0]?.entryId, messages[4]?.entryId]).toEqual([messageId, next.messageId])
})

test("a client whose answers are lost sends the prompt again, and it is in the log once", async () => {
  const { handler, client } = serve()
  const { id } = await client.create()
  let lost = 0
  const losing = clientOf(async (request) => {
    const answered = await handler(request)
    if (request.method !== "POST" || lost === 3) return answered
    lost++
    throw new TypeError("connection lost")
  })
  await losing.prompt(id, { text: "once" })
  await eventually(async () => expect(await textsOf(client, id)).toEqual(["once", "ONCE"]))
  expect(lost).toBe(3)
})

test("a queued prompt that is stopped leaves the queue for good; its repetition does not bring it back", async () => {
  const running = gate()
  const end = gate()
  const { client } = serve({
    run: async () => {
      running.open()
      await end.passed
    },
  })
  const { id } = await client.create()
  await client.prompt(id, { text: "first" })
  const second = { id: newId(), text: "second" }
  await running.passed
  await client.prompt(id, second)
  expect(await client.stop(id, second.id)).toEqual({ messageId: second.id, was: "queued" })
  expect(await client.stop(id, second.id)).toEqual({ messageId: second.id, was: "ended" })
  expect(await client.prompt(id, second)).toEqual({ messageId: second.id, position: null })
  end.open()
  await ask(client, id, "third")
  expect(await textsOf(client, id)).toEqual(["first", "third"])
})

test("a running prompt that is stopped gets its signal, keeps its message, and the next one runs", async () => {
  const running = gate()
  const { client, errors } = serve({
    run: async ({ session, message, signal }) => {
      if (message.text !== "long") return answer({ session, message } as Turn)
      running.open()
      await new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("stopped"))))
    },
  })
  const { id } = await client.create()
  const long = newId()
  const stop = new AbortController()
  const ended = until(client.events(id, { signal: stop.signal }), endOf(long))
  await client.prompt(id, { id: long, text: "long" })
  await running.passed
  expect(await client.stop(id, long)).toEqual({ messageId: long, was: "running" })
  expect((await ended).at(-1)?.data).toMatchObject({ messageId: long, error: { code: "stopped" } })
  await ask(client, id, "next")
  expect(await textsOf(client, id)).toEqual(["long", "next", "NEXT"])
  expect(errors).toEqual([])
})

test("another server's stop reaches the running turn", async () => {
  const location = createMemoryLocation()
  const running = gate()
  const reason = gate()
  const first = serve({
    storage: createMemoryStorage({ location }),
    run: async ({ signal }) => {
      running.open()
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()))
      reason.open()
    },
  })
  const second = serve({ storage: createMemoryStorage({ location }) })
  const { id } = await first.client.create()
  const { messageId } = await first.client.prompt(id, { text: "long" })
  await running.passed
  expect(await second.client.stop(id, messageId)).toEqual({ messageId, was: "running" })
  await reason.passed
})

test("a running prompt that another server stops and whose message is not taken has left the queue, and does not run", async () => {
  const location = createMemoryLocation()
  const other = serve({ storage: createMemoryStorage({ location }), background: false })
  const { id } = await other.client.create()
  const messageId = newId()
  const real = createMemoryStorage({ location })
  let stopped: unknown
  const append: typeof real.append = async (...args) => {
    if (stopped !== undefined) return real.append(...args)
    stopped = await other.client.stop(id, messageId)
    throw Object.assign(new Error("busy"), { code: "quota" })
  }
  const runs: string[] = []
  const { client, handler } = serve({ storage: { ...real, append }, run: ({ message }) => runs.push(message.text) })
  await client.prompt(id, { id: messageId, text: "charge" })
  const state = await eventually(async () => {
    const [now] = await until(other.client.events(id), () => true)
    expect(now?.data).toMatchObject({ queued: [], ended: [{ messageId }] })
    return now
  })
  expect(state?.data).toMatchObject({ ended: [{ error: { code: "stopped" } }] })
  expect(stopped).toEqual({ messageId, was: "running" })
  expect(await other.client.stop(id, messageId)).toEqual({ messageId, was: "ended" })
  await handler.close()
  expect(await textsOf(other.client, id)).toEqual([])
  expect(runs).toEqual([])
})

test("a stop that answers `queued` has taken the prompt out, also if an earlier server has left it there with a stop", async () => {
  const storage = createMemoryStorage()
  const { client, handler } = serve({ storage, background: false })
  const { id } = await client.create()
  const asked = [newId(), newId(), newId()] as const
  for (const one of asked) await client.prompt(id, { id: one, text: one })
  const key = `sessions/${id}/prompts`
  const doc = await storage.docs.get(key)
  const queue = JSON.parse(doc?.text ?? "") as { prompts: object[] }
  const prompts = queue.prompts.map((one, n) => (n < 2 ? { ...one, stop: true } : one))
  await storage.docs.put(key, JSON.stringify({ ...queue, prompts }), { expect: doc?.version ?? null })
  expect(await client.stop(id, asked[1])).toEqual({ messageId: asked[1], was: "queued" })
  expect(await client.stop(id, asked[1])).toEqual({ messageId: asked[1], was: "ended" })
  await handler.runQueued(id, "somebody")
  expect(await textsOf(client, id)).toEqual([asked[2], asked[2]])
})

test("a failing agent ends the turn with an error without details, keeps the message, and the next prompt runs", async () => {
  const { client, errors } = serve({
    run: async ({ session, message }) => {
      if (message.text === "fail") throw new Error("secret of the server")
      return answer({ session, message } as Turn)
    },
  })
  const { id } = await client.create()
  const events = await ask(client, id, "fail")
  expect(events.at(-1)?.data).toMatchObject({
    error: { code: "failed", message: expect.not.stringContaining("secret") as string },
  })
  expect(String(errors[0])).toContain("secret")
  await ask(client, id, "fine")
  expect(await textsOf(client, id)).toEqual(["fail", "fine", "FINE"])
})

test("`accept` refuses a prompt before it is stored, and is not asked about a repetition", async () => {
  const asked: string[] = []
  const { client, call } = serve({
    background: false,
    accept: ({ session, prompt, principal }) => {
      asked.push(`${session} ${prompt.text} ${principal}`)
      return prompt.text === "no"
        ? Response.json({ error: { code: "too_expensive", message: "" } }, { status: 402 })
        : undefined
    },
  })
  const { id } = await client.create()
  const yes = { id: newId(), text: "yes" }
  await client.prompt(id, yes)
  await client.prompt(id, yes)
  const refused = await call("POST", `/sessions/${id}/prompts`, { id: newId(), text: "no" })
  expect(refused.status).toBe(402)
  expect(asked).toEqual([`${id} yes somebody`, `${id} no somebody`])
})

test("with `background: false` prompts are only stored, and runQueued runs all of them", async () => {
  const { client, handler } = serve({ background: false })
  const { id } = await client.create()
  await client.prompt(id, { text: "one" })
  await client.prompt(id, { text: "two" })
  await client.load(id)
  expect(await handler.runQueued(id, "somebody")).toEqual({ left: 0 })
  expect(await textsOf(client, id)).toEqual(["one", "ONE", "two", "TWO"])
  await expect(handler.resume(id, "somebody")).rejects.toMatchObject({ code: "invalid" })
})

test("the host's waitUntil gets the work that goes on after the answer", async () => {
  const { client, handler } = serve()
  const { id } = await client.create()
  const work: Promise<unknown>[] = []
  const body = JSON.stringify({ id: newId(), text: "one" })
  const headers = { "content-type": "application/json" }
  const request = new Request(`http://host/sessions/${id}/prompts`, { method: "POST", headers, body })
  await handler(request, { waitUntil: (one) => work.push(one) })
  expect(work).toHaveLength(1)
  await Promise.all(work)
  expect(await textsOf(client, id)).toEqual(["one", "ONE"])
})

test("what was queued before a restart runs at the next request to the session, or by resume", async () => {
  const location = createMemoryLocation()
  const first = serve({ storage: createMemoryStorage({ location }), background: false })
  const ids = [await first.client.create(), await first.client.create()].map(({ id }) => id)
  for (const id of ids) await first.client.prompt(id, { text: "left" })
  await first.handler.close()
  const { client, handler, sessions } = serve({ storage: createMemoryStorage({ location }) })
  const [byRequest = "", byResume = ""] = ids
  await client.load(byRequest)
  await eventually(async () => expect(await textsOf(client, byRequest)).toEqual(["left", "LEFT"]))
  await handler.resume(byResume, "somebody")
  await eventually(async () => expect((await sessions.info(byResume)).messageCount).toBe(2))
})

test("closing waits for the running turn, takes no other, and another server runs what is left", async () => {
  const location = createMemoryLocation()
  const running = gate()
  const end = gate()
  const first = serve({
    storage: createMemoryStorage({ location }),
    run: async (turn) => {
      running.open()
      await end.passed
      await answer(turn)
    },
  })
  const { id } = await first.client.create()
  await first.client.prompt(id, { text: "one" })
  await running.passed
  await first.client.prompt(id, { text: "two" })
  const closed = first.handler.close()
  expect((await first.call("GET", `/sessions/${id}`)).status).toBe(503)
  end.open()
  await closed
  const { client } = serve({ storage: createMemoryStorage({ location }) })
  expect((await client.load(id)).info.messageCount).toBe(2)
  await eventually(async () => expect(await textsOf(client, id)).toEqual(["one", "ONE", "two", "TWO"]))
})

test("two servers run 100 prompts on one session, each once and one at a time", async () => {
  const location = createMemoryLocation()
  let running = 0
  let most = 0
  const run = async (turn: Turn): Promise<void> => {
    most = Math.max(most, ++running)
    await answer(turn)
    running--
  }
  const servers = [0, 1].map(() => serve({ storage: createMemoryStorage({ location }), run }))
  const [first, second] = servers
  const id = (await first?.client.create())?.id ?? ""
  const prompts = Array.from({ length: 100 }, (_, n) => ({ id: newId(), text: `p${n}` }))
  const senders = Array.from({ length: 10 }, async (_, sender) => {
    for (const [n, prompt] of prompts.entries()) {
      if (n % 10 !== sender) continue
      const { client } = (n % 2 === 0 ? first : second) as NonNullable<typeof first>
      for (let sent = false; !sent; ) {
        sent = await client.prompt(id, prompt).then(
          () => true,
          (error: { code: string }) => {
            if (error.code !== "too_many_prompts") throw error
            return false
          },
        )
        await new Promise((resolve) => setImmediate(resolve))
      }
    }
  })
  await Promise.all(senders)
  await eventually(async () => expect((await first?.client.load(id))?.info.messageCount).toBe(200))
  const texts = await textsOf(first?.client as NonNullable<typeof first>["client"], id)
  const asked = texts.filter((_, n) => n % 2 === 0)
  expect(texts.filter((_, n) => n % 2 === 1)).toEqual(asked.map((text) => text.toUpperCase()))
  expect([...asked].sort()).toEqual(prompts.map(({ text }) => text).sort())
  expect(most).toBe(1)
  expect(servers.flatMap(({ errors }) => errors)).toEqual([])
})

test("of a double click on two servers both questions and answers are in the next context, and on no other branch", async () => {
  const location = createMemoryLocation()
  const read: string[] = []
  const run = async (turn: Turn): Promise<void> => {
    const { messages } = await turn.session.context()
    read.splice(0, read.length, ...messages.map(({ message }) => JSON.stringify(message.content)))
    await answer(turn)
  }
  const [one, two] = [0, 1].map(() => serve({ storage: createMemoryStorage({ location }), run })) as [Served, Served]
  const { id } = await one.client.create()
  await Promise.all([one.client.prompt(id, { text: "left" }), two.client.prompt(id, { text: "right" })])
  await one.client.prompt(id, { text: "next" })
  await eventually(async () => expect(await textsOf(one.client, id)).toHaveLength(6))
  expect(read).toHaveLength(5)
  for (const text of ["left", "right"])
    expect(read[read.findIndex((said) => said.includes(text)) + 1]).toContain(text.toUpperCase())
  expect(read.at(-1)).toContain("next")
  const session = await createSessions({ storage: createMemoryStorage({ location }) }).open(id)
  expect(await sessionBranches(session)).toHaveLength(1)
})

test("a prompt that is stored while its server closes is left to another one, which runs it", async () => {
  const location = createMemoryLocation()
  const real = createMemoryStorage({ location })
  const reached = gate()
  const stored = gate()
  const first = serve({
    storage: withPut(real, async (key, text, o) => {
      reached.open()
      await stored.passed
      return real.docs.put(key, text, o)
    }),
  })
  const { id } = await first.client.create()
  const answered = first.client.prompt(id, { text: "left" })
  await reached.passed
  const closed = first.handler.close()
  stored.open()
  expect(await answered).toMatchObject({ position: 0 })
  await closed
  const { text = "" } = (await real.docs.get(`sessions/${id}/prompts`)) ?? {}
  expect(JSON.parse(text)).toMatchObject({ prompts: [{ text: "left", state: "queued" }], ended: [] })
  expect(text).not.toContain("held")
  const { client } = serve({ storage: createMemoryStorage({ location }) })
  await client.load(id)
  await eventually(async () => expect(await textsOf(client, id)).toEqual(["left", "LEFT"]))
})

test("a rename between a tool call and its result, by the turn's server or another, changes neither the context nor the turn", async () => {
  const location = createMemoryLocation()
  const called = gate()
  const renamed = gate()
  const { client, errors } = serve({
    storage: createMemoryStorage({ location }),
    async run({ session }) {
      const call = { type: "toolCall", id: "c1", name: "look", arguments: {} } as const
      await session.append({ type: "message", message: { role: "assistant", content: [call] } })
      called.open()
      await renamed.passed
      const result = { role: "toolResult", toolCallId: "c1", content: "seen", isError: false } as const
      await session.append({ type: "message", message: result })
      await say(session, "done")
    },
  })
  const other = serve({ storage: createMemoryStorage({ location }) })
  const { id } = await client.create()
  const asked = ask(client, id, "go")
  await called.passed
  await client.rename(id, "here")
  await other.client.rename(id, "there")
  renamed.open()
  await asked
  const { messages } = await client.context(id)
  expect(messages.map(({ message }) => message.role)).toEqual(["user", "assistant", "toolResult", "assistant"])
  expect((await client.load(id)).info.title).toBe("there")
  expect(errors).toEqual([])
})

test("a prompt for a session that is deleted meanwhile is 404, and leaves no document", async () => {
  const real = createMemoryStorage()
  const put: typeof real.docs.put = async (key, text, o) => {
    await real.delete(key.split("/")[1] ?? "")
    return real.docs.put(key, text, o)
  }
  const { client } = serve({ storage: withPut(real, put), background: false })
  const { id } = await client.create()
  await expect(client.prompt(id, { text: "late" })).rejects.toMatchObject({ status: 404 })
  expect(await real.docs.get(`sessions/${id}/prompts`)).toBeUndefined()
})

test("a deletion that fails stops the running turn, which ends once and before the next prompt runs", async () => {
  const real = createMemoryStorage()
  const began = gate()
  const end = gate()
  const runs: string[] = []
  let running = 0
  const { client } = serve({
    storage: { ...real, delete: () => Promise.reject(Object.assign(new Error("no"), { code: "unavailable" })) },
    onInterrupted: "rerun",
    run: async ({ session, message, signal }) => {
      runs.push(`${message.text} ${++running}`)
      began.open()
      if (message.text === "first") await end.passed
      await say(session, signal.aborted ? "stopped" : "done")
      running--
    },
  })
  const { id } = await client.create()
  const { messageId: first } = await client.prompt(id, { text: "first" })
  await began.passed
  const second = newId()
  await client.prompt(id, { id: second, text: "second" })
  await expect(client.delete(id)).rejects.toMatchObject({ code: "unavailable" })
  await client.load(id)
  const events = client.events(id)[Symbol.asyncIterator]()
  expect((await events.next()).value).toMatchObject({ data: { running: { messageId: first } } })
  expect(runs).toEqual(["first 1"])
  end.open()
  const seen = await until({ [Symbol.asyncIterator]: () => events }, endOf(second))
  expect(seen.find(endOf(first))?.data).toMatchObject({ error: { code: "stopped" } })
  expect(runs).toEqual(["first 1", "second 1"])
  expect(await textsOf(client, id)).toEqual(["first", "stopped", "second", "done"])
})

test.each(["report", "rerun"] as const)(
  "a prompt whose server died before its turn had written anything runs as if it had waited; onInterrupted: %s",
  async (onInterrupted) => {
    const location = createMemoryLocation()
    const storage = createMemoryStorage({ location })
    const { client: first } = serve({ storage, background: false })
    const { id } = await first.create()
    const { messageId } = await first.prompt(id, { text: "never begun" })
    const key = `sessions/${id}/prompts`
    const doc = await storage.docs.get(key)
    const queue = JSON.parse(doc?.text ?? "") as { prompts: object[] }
    const held = { by: "dead", lease: 1, count: 0 }
    const taken = { ...queue, fence: 1, held, prompts: [{ ...queue.prompts[0], state: "running" }] }
    await storage.docs.put(key, JSON.stringify(taken), { expect: doc?.version ?? null })
    const reruns: boolean[] = []
    const { client } = serve({
      storage: createMemoryStorage({ location }),
      onInterrupted,
      run: async (turn) => {
        reruns.push(turn.turn.rerun)
        await answer(turn)
      },
    })
    await client.load(id)
    const state = await eventually(async () => {
      const [now] = await until(client.events(id), () => true)
      expect(now?.data).toMatchObject({ queued: [], ended: [{ messageId }] })
      return now
    })
    expect(state?.data).not.toHaveProperty("ended.0.error")
    expect(await textsOf(client, id)).toEqual(["never begun", "NEVER BEGUN"])
    expect(reruns).toEqual([false])
  },
)

test("a prompt waits while the storage does not take its message, and runs when it does", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  try {
    const real = createMemoryStorage()
    let refuses = false
    const storage = new Proxy(real, {
      get: (target, name) => {
        if (name !== "append" || !refuses) return Reflect.get(target, name, target) as unknown
        return () => Promise.reject(Object.assign(new Error("busy"), { code: "quota" }))
      },
    })
    const { client, errors } = serve({ storage })
    const { id } = await client.create()
    refuses = true
    await client.prompt(id, { text: "patient" })
    await eventually(() => expect(errors).toHaveLength(1))
    const [state] = await until(client.events(id), () => true)
    expect(state?.data).toMatchObject({ queued: [{ text: "patient" }], ended: [] })
    refuses = false
    await eventually(async () => {
      await vi.advanceTimersByTimeAsync(2_000)
      expect(await textsOf(client, id)).toEqual(["patient", "PATIENT"])
    })
  } finally {
    vi.useRealTimers()
  }
})

test("a prompt runs although the storage stored that it was taken and did not say so", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  try {
    for (const isAway of [false, true]) {
      const real = createMemoryStorage()
      const texts: string[] = []
      let refuses = false
      const put: typeof real.docs.put = async (key, text, o) => {
        texts.push(text)
        const version = await real.docs.put(key, text, o)
        if (texts.length !== 2) return version
        refuses = isAway
        throw Object.assign(new Error("lost"), { code: "indeterminate" })
      }
      const get: typeof real.docs.get = (...args) =>
        refuses ? Promise.reject(Object.assign(new Error("away"), { code: "unavailable" })) : real.docs.get(...args)
      const { client, sessions } = serve({ storage: { ...real, docs: { ...real.docs, put, get } } })
      const { id } = await client.create()
      const { messageId } = await client.prompt(id, { text: "once" })
      await eventually(() => expect(texts[1]).toContain('"running"'))
      await vi.advanceTimersByTimeAsync(0)
      refuses = false
      await eventually(async () => {
        await vi.advanceTimersByTimeAsync(2_000)
        const [state] = await until(client.events(id), () => true)
        expect(state?.data).toMatchObject({ queued: [], ended: [{ messageId }] })
      })
      expect(await textsOf(client, id)).toEqual(["once", "ONCE"])
      await sessions.close()
    }
  } finally {
    vi.useRealTimers()
  }
})

test("a turn that ended while the storage was out of reach counts as ended, not as interrupted, and does not run again", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  try {
    const real = createMemoryStorage()
    let refuses = false
    const put: typeof real.docs.put = (...args) =>
      refuses ? Promise.reject(Object.assign(new Error("away"), { code: "unavailable" })) : real.docs.put(...args)
    const docs = new Proxy(real.docs, { get: (target, name) => (name === "put" ? put : Reflect.get(target, name)) })
    const storage = new Proxy(real, {
      get: (target, name) => (name === "docs" ? docs : (Reflect.get(target, name, target) as unknown)),
    })
    let runs = 0
    const run = async (turn: Turn): Promise<void> => {
      runs++
      await answer(turn)
      refuses = true
    }
    const { client, errors } = serve({ storage, run, onInterrupted: "rerun" })
    const { id } = await client.create()
    const { messageId } = await client.prompt(id, { text: "once" })
    await eventually(() => expect(errors).toHaveLength(1))
    refuses = false
    await eventually(async () => {
      await vi.advanceTimersByTimeAsync(2_000)
      const [state] = await until(client.events(id), () => true)
      expect(state?.data).toMatchObject({ queued: [], ended: [{ messageId }] })
      expect(state?.data).not.toHaveProperty("ended.0.error")
    })
    expect(runs).toBe(1)
  } finally {
    vi.useRealTimers()
  }
})

test("a damaged document of prompts is an error without details, and the session is still read", async () => {
  const storage = createMemoryStorage()
  const { client, call } = serve({ storage, background: false })
  const { id } = await client.create()
  await storage.docs.put(`sessions/${id}/prompts`, "{", { expect: null })
  const refused = await call("POST", `/sessions/${id}/prompts`, { id: newId(), text: "x" })
  expect([refused.status, await refused.json()]).toEqual([
    500,
    { error: { code: "corrupt", message: expect.any(String) as string } },
  ])
  expect((await call("GET", `/sessions/${id}`)).status).toBe(200)
})

/** The storage with another `put` of documents. */
function withPut(real: SessionStorage, put: SessionStorage["docs"]["put"]): SessionStorage {
  const docs = new Proxy(real.docs, { get: (target, name) => (name === "put" ? put : Reflect.get(target, name)) })
  return new Proxy(real, {
    get: (target, name) => (name === "docs" ? docs : (Reflect.get(target, name, target) as unknown)),
  })
}
