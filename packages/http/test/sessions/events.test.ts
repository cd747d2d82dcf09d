/** Events: the state first, then every line of the log once, whatever breaks. */
import { createSessions } from "@sessions/core"
import { compact } from "@sessions/core/compaction"
import type { SessionClient, SessionEvent } from "@sessions/http/client"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { readEvents } from "../../src/read-events.ts"
import {
  answer,
  ask,
  clientOf,
  cutAfter,
  endOf,
  eventually,
  gate,
  newId,
  say,
  serve,
  type Turn,
  until,
} from "./server.ts"

const seqsOf = (events: readonly SessionEvent[]): number[] =>
  events.flatMap((event) => (event.event === "appended" ? event.data.entries.map(({ seq }) => seq) : []))

const upTo =
  (seq: number) =>
  (event: SessionEvent): boolean =>
    seqsOf([event]).includes(seq)

test("a connection begins with the state; without a place it tells what happens from now on", async () => {
  const { client, sessions } = serve()
  const { id } = await client.create()
  await ask(client, id, "before")
  const events = client.events(id)[Symbol.asyncIterator]()
  const { value: state } = await events.next()
  const head = await sessions.storage.head(id)
  const { messages } = await client.load(id)
  expect(state).toMatchObject({
    event: "state",
    cursor: expect.stringMatching(`^${head?.log}~[0-9a-z]+\\.${head?.next}\\.${messages[0]?.entryId}$`),
    data: { head: { log: head?.log, next: head?.next }, leaf: messages.at(-1)?.entryId, queued: [] },
  })
  await client.rename(id, "now")
  const { value: appended } = await events.next()
  expect(appended).toMatchObject({ event: "appended", data: { entries: [{ type: "title_change", title: "now" }] } })
  await events.return?.()
})

test("the state names what runs, what waits and what has ended", async () => {
  const running = gate()
  const { client } = serve({
    run: async ({ message }) => {
      if (message.text === "fails") throw new Error("no")
      running.open()
      await new Promise(() => undefined)
    },
  })
  const { id } = await client.create()
  const texts = ["fails", "runs", "waits"]
  for (const text of texts) await client.prompt(id, { text })
  await running.passed
  const [state] = await until(client.events(id), () => true)
  expect(state?.data).toMatchObject({
    running: { text: "runs" },
    queued: [{ text: "waits" }],
    ended: [{ error: { code: "failed" } }],
  })
})

test("from a place on, the log is replayed without a gap and without a line twice", async () => {
  const { client } = serve({
    run: ({ session }) =>
      session.append(Array.from({ length: 250 }, (_, n) => ({ type: "custom", customType: "t:n", data: n }))),
  })
  const { id } = await client.create()
  const { cursor } = await client.load(id)
  await ask(client, id, "many")
  const all = await until(client.events(id, { after: cursor }), upTo(252))
  expect(seqsOf(all)).toEqual(Array.from({ length: 252 }, (_, n) => n + 1))
  expect(all.length).toBeGreaterThan(3)
  const middle = all[2]?.cursor ?? ""
  const rest = await until(client.events(id, { after: middle }), upTo(252))
  expect(seqsOf(rest)[0]).toBe(Number(middle.split(".")[1]))
  const done = await until(client.events(id, { after: all.at(-1)?.cursor ?? "" }), () => true)
  expect(done.map(({ event }) => event)).toEqual(["state"])
})

test("a client misses nothing across cut streams, two servers and appends of a third writer", async () => {
  const location = createMemoryLocation()
  const servers = [0, 1].map(() => serve({ storage: createMemoryStorage({ location }) }))
  let cuts = 0
  // Each stream is cut after one to three events; the next connection goes to the other server.
  const client = clientOf(async (request) => {
    const server = servers[cuts % 2] as (typeof servers)[number]
    const answered = await server.handler(request)
    return request.url.includes("/events") ? cutAfter(answered, 1 + (cuts++ % 3)) : answered
  })
  const { id } = await client.create()
  const { cursor } = await client.load(id)
  const seqs: number[] = []
  const stop = new AbortController()
  const reading = (async () => {
    for await (const event of client.events(id, { after: cursor, signal: stop.signal })) seqs.push(...seqsOf([event]))
  })()
  const storage = createMemoryStorage({ location })
  const writer = createSessions({ storage })
  for (let n = 0; n < 8; n++) {
    await ask(servers[n % 2]?.client as SessionClient, id, `q${n}`)
    for (let m = 0; m < 3; m++) await writer.rename(id, `${n}.${m}`)
    const head = await storage.head(id)
    await eventually(() => expect(seqs.at(-1)).toBe((head?.next ?? 0) - 1))
  }
  stop.abort()
  await reading
  expect(seqs).toEqual(Array.from({ length: 48 }, (_, n) => n + 1))
  expect(cuts).toBeGreaterThan(7)
})

test("a client on a server that runs nothing is told of the turns of the other one, in order with the log", async () => {
  const location = createMemoryLocation()
  const going = gate()
  const first = serve({
    storage: createMemoryStorage({ location }),
    run: async (turn: Turn) => {
      await going.passed
      if (turn.message.text === "fails") throw new Error("no")
      await answer(turn)
    },
  })
  const second = serve({ storage: createMemoryStorage({ location }), background: false })
  const { id } = await first.client.create()
  const fails = newId()
  const last = newId()
  const seen = until(second.client.events(id), endOf(last))
  await first.client.prompt(id, { id: fails, text: "fails" })
  await first.client.prompt(id, { id: last, text: "answered" })
  going.open()
  const events = await seen
  expect(events.find(endOf(fails))?.data).toMatchObject({ error: { code: "failed" } })
  expect(events.findIndex(upTo(5))).toBeLessThan(events.findIndex(endOf(last)))
})

test("the end of another server's turn comes after its entries, also if the storage reports them late", async () => {
  const location = createMemoryLocation()
  const real = createMemoryStorage({ location })
  async function* late(_: string, { signal }: { signal: AbortSignal }): AsyncGenerator<never> {
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()))
    yield* []
  }
  const storage = new Proxy(real, {
    get: (target, name) => (name === "watch" ? late : (Reflect.get(target, name, target) as unknown)),
  })
  const first = serve({ storage: createMemoryStorage({ location }), background: false })
  const second = serve({ storage, background: false })
  const { id } = await first.client.create()
  const { messageId } = await first.client.prompt(id, { text: "hello" })
  const events = second.client.events(id)[Symbol.asyncIterator]()
  await events.next()
  await first.handler.runQueued(id, "somebody")
  const seen = await until({ [Symbol.asyncIterator]: () => events }, endOf(messageId))
  expect(seqsOf(seen)).toEqual([1, 2, 3])
})

test("a place in another log is answered with reset, and the events go on from its end", async () => {
  const { client } = serve()
  const { id } = await client.create()
  const { cursor } = await client.load(id)
  for (const after of ["another.1", `${cursor.split(".")[0]}.999`]) {
    const events = client.events(id, { after })[Symbol.asyncIterator]()
    expect([(await events.next()).value?.event, (await events.next()).value?.event]).toEqual(["state", "reset"])
    await client.rename(id, after)
    expect((await events.next()).value).toMatchObject({ event: "appended", data: { entries: [{ title: after }] } })
    await events.return?.()
  }
})

test("the last event of a deleted session is `deleted`, on every server", async () => {
  const location = createMemoryLocation()
  const first = serve({ storage: createMemoryStorage({ location }) })
  const second = serve({ storage: createMemoryStorage({ location }) })
  const { id } = await first.client.create()
  const seen = [first, second].map(({ client }) => {
    const events = client.events(id)[Symbol.asyncIterator]()
    return { started: events.next(), rest: { [Symbol.asyncIterator]: () => events } }
  })
  await Promise.all(seen.map(({ started }) => started))
  await first.client.delete(id)
  for (const { rest } of seen)
    expect((await until(rest, () => false)).at(-1)).toMatchObject({ event: "deleted", data: { id } })
})

test("a page of events has the state and the log; it comes at once if there is news, else when the time is over", async () => {
  const { client, call } = serve()
  const { id } = await client.create()
  const page = async (query: string): Promise<{ events: SessionEvent[]; cursor: string }> =>
    (await call("GET", `/sessions/${id}/events?${query}`)).json() as Promise<{ events: SessionEvent[]; cursor: string }>
  const first = await page("wait=60")
  expect(first.events.map(({ event }) => event)).toEqual(["state"])
  await client.rename(id, "x")
  const second = await page(`wait=60&after=${first.cursor}`)
  expect(second.events.map(({ event }) => event)).toEqual(["state", "appended"])
  expect((await page(`wait=0&after=${second.cursor}`)).events.map(({ event }) => event)).toEqual(["state"])
  const waiting = page(`wait=60&after=${second.cursor}`)
  await client.rename(id, "y")
  expect(seqsOf((await waiting).events)).toEqual([2])
  const queue = first.events[0]?.event === "state" ? first.events[0].data.queue : ""
  await ask(client, id, "changes the queue")
  const { cursor } = await client.load(id)
  expect((await page(`wait=60&after=${cursor}&queue=${queue}`)).events.map(({ event }) => event)).toEqual(["state"])
  for (const query of ["wait=61", "wait=-1", "wait=1.5", "after=x", "after=.1", "after=a.-1"])
    expect([query, (await call("GET", `/sessions/${id}/events?${query}`)).status]).toEqual([query, 400])
})

test("a client without streams gets the same events by pages", async () => {
  const { client } = serve()
  const { id } = await client.create()
  const messageId = newId()
  const events: SessionEvent[] = []
  for await (const event of client.events(id, { stream: false })) {
    if (events.length === 0) await client.prompt(id, { id: messageId, text: "hello" })
    events.push(event)
    if (event.event === "turn_end") break
  }
  expect(seqsOf(events)).toEqual([1, 2, 3])
})

test("a connection that is closed, read or not, leaves no handle and no watch open", async () => {
  let open = 0
  const real = createMemoryStorage()
  const storage = new Proxy(real, {
    get: (target, name) => {
      const value = Reflect.get(target, name, target) as unknown
      return name === "watch"
        ? (...args: Parameters<NonNullable<typeof real.watch>>) => counted(target.watch?.(...args))
        : value
    },
  })
  async function* counted<T>(heads: AsyncIterable<T> | undefined): AsyncGenerator<T, void, undefined> {
    open++
    try {
      if (heads !== undefined) yield* heads
    } finally {
      open--
    }
  }
  const { sessions, handler, client } = serve({ storage })
  const openSession = sessions.open.bind(sessions)
  Object.assign(sessions, {
    open: async (...args: Parameters<typeof openSession>) => {
      const session = await openSession(...args)
      open++
      const close = session.close.bind(session)
      return Object.assign(session, { close: () => (open--, close()) })
    },
  })
  const { id } = await client.create()
  const stop = new AbortController()
  const stream = async (): Promise<ReadableStream<Uint8Array>> =>
    (await handler(new Request(`http://host/sessions/${id}/events`))).body as ReadableStream<Uint8Array>
  const read = (await stream()).getReader()
  await read.read()
  const unread = await stream()
  const events = client.events(id, { signal: stop.signal })[Symbol.asyncIterator]()
  await events.next()
  const more = events.next()
  expect(open).toBeGreaterThan(0)
  stop.abort()
  expect((await more).done).toBe(true)
  await read.cancel()
  await unread.cancel()
  await eventually(() => expect(open).toBe(0))
})

test("a client that connects again at the same place reads nothing of the log for its mark", async () => {
  const storage = createMemoryStorage()
  let reads = 0
  const read: typeof storage.read = (...given) => {
    reads++
    return storage.read(...given)
  }
  const { client } = serve({ storage: { ...storage, capabilities: storage.capabilities, read } })
  const { id } = await client.create()
  const after = (await ask(client, id, "one")).at(-1)?.cursor ?? ""
  const open = client.events(id, { after })[Symbol.asyncIterator]()
  await open.next()
  const before = reads
  const [state] = await until(client.events(id, { after }), () => true)
  // The one that shows whether the log is as it was.
  expect([state?.cursor, reads - before]).toEqual([after, 1])
  await open.return?.()
})

test("a connection that replays the log ends when the repository is closed", async () => {
  const { client, sessions, call } = serve()
  const { id } = await client.create()
  const session = await sessions.open(id)
  const { log } = session.head
  // More than a page of events.
  for (let n = 0; n < 6; n++) await say(session, "x".repeat(400_000))
  const { body } = await call("GET", `/sessions/${id}/events?after=${log}.1`, undefined, {
    accept: "text/event-stream",
  })
  const events = body?.pipeThrough(new TextDecoderStream())[Symbol.asyncIterator]()
  const first = [await events?.next(), await events?.next()]
  await sessions.close()
  let isDone: boolean | undefined = false
  while (isDone === false) isDone = (await events?.next())?.done
  expect(first.map((one) => /event: (\w+)/.exec(String(one?.value))?.[1])).toEqual(["state", "appended"])
  expect(isDone).toBe(true)
})

test("a client that falls behind the events that are kept is closed, and misses nothing when it connects again", async () => {
  const { client, handler, sessions } = serve()
  const { id } = await client.create()
  const { cursor } = await client.load(id)
  const slow = (await handler(new Request(`http://host/sessions/${id}/events`))).body?.getReader()
  await slow?.read()
  const fast = client.events(id)[Symbol.asyncIterator]()
  await fast.next()
  const session = await sessions.open(id)
  for (let n = 0; n < 1_100; n++) {
    await session.append({ type: "custom", customType: "t:n", data: n })
    await fast.next()
  }
  const seen = new Set<string>()
  for (let piece = await slow?.read(); piece?.done === false; piece = await slow?.read())
    seen.add(new TextDecoder().decode(piece.value))
  expect(seen.size).toBeLessThan(10)
  const events = await until(client.events(id, { after: cursor }), upTo(1_100))
  expect(seqsOf(events)).toEqual(Array.from({ length: 1_100 }, (_, n) => n + 1))
  await session.close()
})

test("a compaction within a turn is told as it happens", async () => {
  const { client } = serve({
    run: async (turn) => {
      for (let n = 0; n < 6; n++) await say(turn.session, `${n} `.repeat(2_000))
      await compact(turn.session, { keepRecentTokens: 100, summarize: () => Promise.resolve("## Goal\nNone") }).catch(
        () => undefined,
      )
    },
  })
  const { id } = await client.create()
  const names = (await ask(client, id, "compact")).map(({ event }) => event)
  expect(names).toContain("compact_start")
  expect(names.indexOf("compact_start")).toBeLessThan(names.lastIndexOf("turn_end"))
})

test("a connection that is 8 MB behind is closed, and told the rest when it connects again", async () => {
  const { handler, client, sessions } = serve()
  const { id } = await client.create()
  const { cursor } = await client.load(id)
  const slow = await handler(new Request(`http://host/sessions/${id}/events?after=${cursor}`))
  const session = await sessions.open(id)
  for (let n = 0; n < 40; n++) await session.append({ type: "custom", customType: "t:n", data: "x".repeat(400_000) })
  // It ends before it has told everything.
  const told: number[] = []
  for await (const { event, data } of readEvents(slow.body as ReadableStream<Uint8Array>))
    if (told.push(...seqsOf([{ event, data: JSON.parse(data) } as SessionEvent])) === 40) break
  expect(told.length).toBeLessThan(40)
  const place = told.at(-1) ?? 0
  const rest = await until(client.events(id, { after: `${session.head?.log}.${place + 1}` }), upTo(40))
  expect([...told, ...seqsOf(rest)]).toEqual(Array.from({ length: 40 }, (_, n) => n + 1))
  await session.close()
})
