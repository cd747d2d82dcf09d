/** The end of a turn: each once, after the entries of the turn, whatever breaks and however the client was away. */
import assert from "node:assert/strict"
import type { SessionClient, SessionEvent } from "@sessions/http/client"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { ask, clientOf, cutAfter, endOf, eventually, newId, type Served, serve, until } from "./server.ts"

const endsOf = (events: readonly SessionEvent[]): string[] =>
  events.flatMap(({ event, data }) => (event === "turn_end" ? [data.messageId] : []))

/** Those of the events that show a turn: its message, then its end. */
const turnsOf = (events: readonly SessionEvent[]): string[] =>
  events.flatMap((one) => {
    if (one.event === "turn_end") return [`end ${one.data.messageId}`]
    if (one.event !== "appended") return []
    return one.data.entries.filter(isPrompt).map(({ id }) => `message ${id}`)
  })

function isTitled(event: SessionEvent, title: string): boolean {
  return event.event === "appended" && event.data.entries.some((entry) => "title" in entry && entry.title === title)
}

function isPrompt(entry: object): boolean {
  return "message" in entry && (entry.message as { readonly role: string }).role === "user"
}

function twoServers(): [Served, Served] {
  const location = createMemoryLocation()
  const one = (): Served => serve({ storage: createMemoryStorage({ location }) })
  return [one(), one()]
}

async function askAll(client: SessionClient, id: string, count: number): Promise<string[]> {
  const asked = Array.from({ length: count }, () => newId())
  for (const messageId of asked) {
    await client.prompt(id, { id: messageId, text: messageId })
    await eventually(async () => {
      const { position } = await client.prompt(id, { id: messageId, text: messageId })
      expect(position).toBeNull()
    })
  }
  return asked
}

test.each([true, false])(
  "a client has each end once, behind its entries, across cut connections to two servers; stream: %s",
  async (stream) => {
    const servers = twoServers()
    let connections = 0
    const client = clientOf(async (request) => {
      const isEvents = request.url.includes("/events")
      const server = isEvents ? servers[connections++ % 2] : servers[0]
      const answered = await (server as Served).handler(request)
      return isEvents && stream ? cutAfter(answered, 1 + (connections % 3)) : answered
    })
    const { id } = await client.create()
    const { cursor } = await client.load(id)
    const events: SessionEvent[] = []
    const reading = (async () => {
      for await (const event of client.events(id, { after: cursor, stream })) {
        events.push(event)
        if (isTitled(event, "last")) return
      }
    })()
    const asked: string[] = []
    // The end may come while there is a connection, between two of them, or with one that is cut.
    for (let n = 0; n < 4; n++) {
      asked.push(...(await askAll(servers[n % 2]?.client as SessionClient, id, 1 + (n % 2))))
      if (n % 2 === 0) await eventually(() => assert(endsOf(events).length >= asked.length))
    }
    await eventually(() => assert(endsOf(events).length >= asked.length))
    // More connections, which must not tell them again.
    for (const title of ["one", "more", "last"]) await client.rename(id, title)
    await reading
    expect(endsOf(events)).toEqual(asked)
    const turns = turnsOf(events)
    for (const one of asked) expect(turns.indexOf(`message ${one}`)).toBeLessThan(turns.indexOf(`end ${one}`))
  },
)

test("turns that end while there is no connection are told at the next one, each once, with their errors", async () => {
  const location = createMemoryLocation()
  const { client: direct, handler } = serve({
    storage: createMemoryStorage({ location }),
    run: ({ message }) => (message.text === "fails" ? Promise.reject(new Error("no")) : Promise.resolve()),
  })
  let isAway = false
  let cut = (): void => undefined
  const client = clientOf(async (request) => {
    if (isAway) throw new TypeError("no connection")
    const answered = await handler(request)
    const body = answered.body?.pipeThrough(new TransformStream({ start: (to) => void (cut = () => to.terminate()) }))
    return new Response(body ?? null, answered)
  })
  const { id } = await direct.create()
  const events = client.events(id)[Symbol.asyncIterator]()
  await events.next()
  isAway = true
  cut()
  const reading = events.next()
  const [first] = await askAll(direct, id, 1)
  const { messageId: fails } = await direct.prompt(id, { text: "fails" })
  const [last = ""] = await askAll(direct, id, 1)
  isAway = false
  const seen = [
    (await reading).value as SessionEvent,
    ...(await until({ [Symbol.asyncIterator]: () => events }, endOf(last))),
  ]
  expect(seen.map(({ event }) => event)).toEqual(["state", "appended", "turn_end", "turn_end", "turn_end"])
  expect(seen.slice(2).map(({ data }) => data)).toEqual([
    { messageId: first },
    { messageId: fails, error: expect.objectContaining({ code: "failed" }) as unknown },
    { messageId: last },
  ])
  // The cursor of each end is behind it.
  for (const [n, { cursor }] of seen.slice(2).entries()) {
    const [next] = await askAll(direct, id, 1)
    const again = await until(direct.events(id, { after: cursor }), endOf(next as string))
    expect(endsOf(again).slice(0, 2 - n)).toEqual([fails, last].slice(n))
  }
})

test("a first connection is told of the turns that ended behind its place, and without a place of none that ended before", async () => {
  const [{ client, call }, { client: other }] = twoServers()
  const { id } = await client.create()
  const { cursor: none } = await client.load(id)
  const [old = ""] = await askAll(client, id, 1)
  const { cursor } = await client.load(id)
  const ends = async (query: string): Promise<string[]> => {
    const page = (await (await call("GET", `/sessions/${id}/events?wait=0${query}`)).json()) as {
      events: SessionEvent[]
    }
    return endsOf(page.events)
  }
  expect(await ends(`&after=${cursor}`)).toEqual([])
  const missed = await askAll(other, id, 2)
  expect(await ends("")).toEqual([])
  expect(await ends(`&after=${cursor}`)).toEqual(missed)
  expect(await ends(`&after=${none}`)).toEqual([old, ...missed])
  // A place without a turn, as other programs may make one.
  expect(await ends(`&after=${cursor.split(".").slice(0, 2).join(".")}`)).toEqual([])
  // In another log nothing is behind a place.
  expect(await ends("&after=another.1.-")).toEqual([])
  const events = await until(client.events(id, { after: cursor }), endOf(missed[1] as string))
  expect(turnsOf(events)).toEqual([...missed.map((one) => `message ${one}`), ...missed.map((one) => `end ${one}`)])
  expect((await ask(client, id, "goes on")).map(({ event }) => event)).not.toContain("state")
})

test("of more turns than the state names, a client that was away is told of those that it names", async () => {
  const { client } = serve()
  const { id } = await client.create()
  const { cursor } = await client.load(id)
  const asked = await askAll(client, id, 22)
  const events = await until(client.events(id, { after: cursor }), endOf(asked.at(-1) as string))
  expect(endsOf(events)).toEqual(asked.slice(-20))
})

/** A session with a prompt, whose turn another server runs while this one reads the document of the prompts. */
async function turnWhileRead(): Promise<{ id: string; cursor: string; messageId: string; client: SessionClient }> {
  const location = createMemoryLocation()
  const first = serve({ storage: createMemoryStorage({ location }), background: false })
  const { id } = await first.client.create()
  const { cursor } = await first.client.load(id)
  const { messageId } = await first.client.prompt(id, { text: "hello" })
  const real = createMemoryStorage({ location })
  async function* silent(_: string, { signal }: { signal: AbortSignal }): AsyncGenerator<never> {
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()))
    yield* []
  }
  async function get(key: string): ReturnType<typeof real.docs.get> {
    if (key.endsWith("/prompts")) await first.handler.runQueued(id, "somebody")
    return real.docs.get(key)
  }
  const storage = new Proxy(real, {
    get(target, name) {
      if (name === "watch") return silent
      return name === "docs" ? { ...real.docs, get } : (Reflect.get(target, name, target) as unknown)
    },
  })
  return { id, cursor, messageId, client: serve({ storage, background: false }).client }
}

test("an end that is missed comes after its entries, also if the turn ends while the server reads the state", async () => {
  const { id, cursor, messageId, client } = await turnWhileRead()
  const events = await until(client.events(id, { after: cursor }), endOf(messageId))
  expect(turnsOf(events)).toEqual([`message ${messageId}`, `end ${messageId}`])
})

test("a turn that ends while the server loads the session is in the messages, or its end is behind the place", async () => {
  const { id, messageId, client } = await turnWhileRead()
  const { messages, cursor } = await client.load(id)
  const [state] = await until(client.events(id, { after: cursor }), () => true)
  const known = messages.map(({ entryId }) => entryId)
  expect([known.length, known[0], state?.data]).toMatchObject([2, messageId, { ended: [{ messageId }] }])
  expect(cursor.endsWith(messageId)).toBe(true)
})

test("load answers although the document of the prompts is damaged; its place has no turn then", async () => {
  const { client, sessions } = serve({ background: false })
  const { id } = await client.create()
  await sessions.storage.docs.put(`sessions/${id}/prompts`, "{", { expect: null })
  expect((await client.load(id)).cursor.split(".")).toHaveLength(2)
})
