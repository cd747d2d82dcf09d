/** A session that grows while it is followed: an open one keeps what it has read, so the server opens it again, and no event is lost by it. */
import { createSessions, type Sessions } from "@sessions/core"
import type { SessionEvent } from "@sessions/http/client"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { readEvents } from "../../src/read-events.ts"
import { ask, endOf, eventually, newId, say, serve } from "./server.ts"

const SIZE = 400_000
/** 8.4 million characters are 21 of these. */
const COUNT = 50

/** The repository, and how often a session was opened and its handle closed. `meanwhile` is done before each opening ends. */
function counted(meanwhile?: () => Promise<unknown>): {
  readonly handles: { opened: number; closed: number }
  readonly wrap: (sessions: Sessions) => Sessions
} {
  const handles = { opened: 0, closed: 0 }
  const wrap = (sessions: Sessions): Sessions =>
    new Proxy(sessions, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name)
        if (name !== "open") return typeof value === "function" ? value.bind(target) : value
        return async (...args: Parameters<Sessions["open"]>) => {
          const session = await target.open(...args)
          await meanwhile?.()
          await session.refresh()
          handles.opened++
          const close = session.close.bind(session)
          session.close = () => {
            handles.closed++
            return close()
          }
          return session
        }
      },
    })
  return { handles, wrap }
}

const seqsOf = (events: readonly SessionEvent[]): number[] =>
  events.flatMap((event) => (event.event === "appended" ? event.data.entries.map(({ seq }) => seq) : []))

const range = (from: number, to: number): number[] => Array.from({ length: to - from + 1 }, (_, n) => from + n)

test("what another server appends is told once, and the session is opened again for each 8 MB", async () => {
  const location = createMemoryLocation()
  const { handles, wrap } = counted()
  const { client, errors } = serve({ storage: createMemoryStorage({ location }), wrap })
  const { id } = await client.create()
  const other = await createSessions({ storage: createMemoryStorage({ location }) }).open(id)
  const events = client.events(id)[Symbol.asyncIterator]()
  await events.next()
  const before = handles.opened
  const seqs: number[] = []
  for (let n = 1; n <= COUNT; n++) {
    await other.append({ type: "custom", customType: "t:n", data: "x".repeat(SIZE) })
    while (seqs.at(-1) !== n) seqs.push(...seqsOf([(await events.next()).value as SessionEvent]))
  }
  expect(seqs).toEqual(range(1, COUNT))
  expect(handles.opened - before).toBe(2)
  expect(handles.opened - handles.closed).toBe(1)
  await events.return?.()
  await eventually(() => expect(handles.opened - handles.closed).toBe(0))
  expect(errors).toEqual([])
})

test("what is appended while the session is opened again is told once, too", async () => {
  const location = createMemoryLocation()
  const other = createSessions({ storage: createMemoryStorage({ location }) })
  const { id } = await other.create()
  const writer = await other.open(id)
  const note = async (size: number): Promise<string | undefined> =>
    (await writer.append({ type: "custom", customType: "t:n", data: "x".repeat(size) })).ids[0]
  const { handles, wrap } = counted(async () => note(1))
  const { client } = serve({ storage: createMemoryStorage({ location }), wrap })
  const events = client.events(id)[Symbol.asyncIterator]()
  await events.next()
  const before = handles.opened
  const seqs: number[] = []
  const tell = async (size: number): Promise<void> => {
    const id = await note(size)
    for (let told = false; !told; ) {
      const event = (await events.next()).value as SessionEvent
      seqs.push(...seqsOf([event]))
      told = event.event === "appended" && event.data.entries.some((entry) => entry.id === id)
    }
  }
  for (let size = 0; size < 8_388_608; size += SIZE) await tell(SIZE)
  await eventually(() => expect(handles.opened - before).toBe(1))
  await tell(1)
  expect(seqs).toEqual(range(seqs[0] ?? 0, seqs.at(-1) ?? 0))
  await events.return?.()
})

test("a client that does not read keeps no session open, and is told the log once when it goes on", async () => {
  const location = createMemoryLocation()
  const { handles, wrap } = counted()
  const { client, handler } = serve({ storage: createMemoryStorage({ location }), wrap })
  const { id } = await client.create()
  const { cursor } = await client.load(id)
  const other = await createSessions({ storage: createMemoryStorage({ location }) }).open(id)
  const write = async (): Promise<unknown> =>
    other.append({ type: "custom", customType: "t:n", data: "x".repeat(SIZE) })
  for (let n = 0; n < 5; n++) await write()
  const slow = (await handler(new Request(`http://host/sessions/${id}/events?after=${cursor}`))).body
  const received = readEvents(slow as ReadableStream<Uint8Array>)[Symbol.asyncIterator]()
  await received.next()
  const seqs: number[] = []
  const take = async (): Promise<void> => {
    const { event, data } = (await received.next()).value as { event: string; data: string }
    seqs.push(...seqsOf([{ event, data: JSON.parse(data) } as SessionEvent]))
  }
  await take()
  const events = client.events(id)[Symbol.asyncIterator]()
  await events.next()
  const before = handles.opened
  for (let size = 0; size < 8_388_608; size += SIZE) {
    await write()
    await events.next()
  }
  await eventually(() => expect(handles.opened - before).toBe(1))
  while (seqs.length < 5) await take()
  expect(seqs).toEqual(range(1, 5))
  await Promise.all([received.return?.(), events.return?.()])
})

test("the end of another server's turn that falls into the opening is told", async () => {
  const location = createMemoryLocation()
  const other = serve({ storage: createMemoryStorage({ location }) })
  const { id } = await other.client.create()
  const writer = await other.sessions.open(id)
  let isFollowed = false
  const { wrap } = counted(async () => {
    if (!isFollowed) return
    isFollowed = false
    await ask(other.client, id, "go")
  })
  const { client } = serve({ storage: createMemoryStorage({ location }), wrap })
  const events = client.events(id)[Symbol.asyncIterator]()
  await events.next()
  isFollowed = true
  for (let size = 0; size < 8_388_608; size += SIZE)
    await writer.append({ type: "custom", customType: "t:n", data: "x".repeat(SIZE) })
  for (let { value } = await events.next(); value.event !== "turn_end"; { value } = await events.next());
  expect(isFollowed).toBe(false)
  await events.return?.()
  await writer.close()
})

test("after a turn of this process the session is opened again, and each entry is told once", async () => {
  const { handles, wrap } = counted()
  const { client, errors } = serve({
    wrap,
    run: async ({ session }) => {
      for (let n = 0; n < COUNT; n++) await say(session, "x".repeat(SIZE))
    },
  })
  const { id } = await client.create()
  const events = client.events(id)[Symbol.asyncIterator]()
  await events.next()
  const seqs: number[] = []
  const before = handles.opened
  for (const turn of [newId(), newId()]) {
    await client.prompt(id, { id: turn, text: "go" })
    for (
      let event = (await events.next()).value as SessionEvent;
      !endOf(turn)(event);
      event = (await events.next()).value
    )
      seqs.push(...seqsOf([event]))
  }
  // Each turn has its own, and the connection a new one behind the first.
  expect(handles.opened - before).toBeGreaterThan(2)
  expect(seqs.length).toBeGreaterThan(2 * COUNT)
  expect(seqs).toEqual(range(1, seqs.length))
  expect(errors).toEqual([])
  await events.return?.()
})
