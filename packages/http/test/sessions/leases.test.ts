/** One server runs a session at a time, whatever their clocks say, and one that comes back writes nothing into the turn of another. */
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { createSessions, type Session } from "@sessions/core"
import { type SessionStorage, StorageError } from "@sessions/core/storage"
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest"
import { HANG_MS } from "../../../../.config/limits.ts"
import { history, LEASE, passing, pause, serverOn, VARIANTS } from "./leases.ts"
import { answer, endOf, gate, loadTurns, newId, say, type Served, textsOf, type Turn, until } from "./server.ts"

beforeAll(loadTurns)
beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test.each([1, -1] as const)(
  "with clocks two hours apart (%s) one turn runs at a time, and a server that stood still writes nothing after a take-over",
  async (sign) => expect(await history(sign)).toEqual([]),
  HANG_MS,
)

test.each(Object.entries(VARIANTS))(
  "without the rule that %s, such a history is wrong",
  async (_, { variant, found }) => expect((await history(1, variant)).join("; ")).toMatch(found),
  HANG_MS,
)

test("a turn whose server died is reported as interrupted and not run again; then the next prompt runs", async () => {
  const location = createMemoryLocation()
  const { id, first } = await diedOn(location)
  const { client } = serverOn(location)
  const second = newId()
  await passing(client.prompt(id, { id: second, text: "second" }))
  const events = await passing(until(client.events(id), endOf(second)))
  expect(events.find(endOf(first))?.data).toMatchObject({ error: { code: "interrupted" } })
  expect(await passing(textsOf(client, id))).toEqual(["first", "begun", "second", "SECOND"])
})

test('with `onInterrupted: "rerun"` it runs again, and is told so', async () => {
  const location = createMemoryLocation()
  const { id } = await diedOn(location)
  const reruns: unknown[] = []
  const { client } = serverOn(location, {
    onInterrupted: "rerun",
    run: async (turn) => {
      reruns.push([turn.message.text, turn.turn.rerun])
      await answer(turn)
    },
  })
  const second = newId()
  await passing(client.prompt(id, { id: second, text: "second" }))
  await passing(until(client.events(id), endOf(second)))
  expect(reruns).toEqual([
    ["first", true],
    ["second", false],
  ])
  expect(await passing(textsOf(client, id))).toEqual(["first", "begun", "FIRST", "second", "SECOND"])
})

test.each(["report", "rerun"] as const)(
  "a prompt that was stopped while its server was dead runs in no other one; onInterrupted: %s",
  async (onInterrupted) => {
    const location = createMemoryLocation()
    const { id, first } = await diedOn(location)
    const runs: string[] = []
    const { client } = serverOn(location, {
      onInterrupted,
      run: async (turn) => {
        runs.push(turn.message.text)
        await answer(turn)
      },
    })
    expect(await passing(client.stop(id, first))).toEqual({ messageId: first, was: "running" })
    const second = newId()
    await passing(client.prompt(id, { id: second, text: "second" }))
    const events = await passing(until(client.events(id), endOf(second)))
    expect(events.find(endOf(first))?.data).toMatchObject({ error: { code: "stopped" } })
    expect(runs).toEqual(["second"])
    expect(await passing(textsOf(client, id))).toEqual(["first", "begun", "second", "SECOND"])
  },
)

test("a prompt runs in a log whose fences are higher than that of the document", async () => {
  const served = serverOn(createMemoryLocation())
  const { id } = await passing(served.client.create())
  const session = await passing(served.sessions.open(id))
  await passing(session.turn(() => undefined, { lease: { fence: 70 } }))
  await passing(served.client.prompt(id, { text: "one" }))
  await shows(served, id, "one,ONE")
  expect(await passing(fencesOf(session))).toEqual([70, 71])
  expect(served.errors).toMatchObject([{ code: "conflict" }])
})

/** What is stored of the turn when the storage goes away. */
const AWAY = { nothing: "fence", "its fence": "message", "its message, without an answer": "answered" } as const

test.each(
  Object.entries(AWAY).flatMap(([stored, at]) => [LEASE / 2, 2 * LEASE].map((ms) => [stored, ms, at] as const)),
)(
  "a prompt whose turn had stored %s when the storage went away for %s ms runs afterwards, and is not told as interrupted",
  async (_, ms, at) => {
    const location = createMemoryLocation()
    let away = false
    let times = 0
    const check = (): void => {
      if (away) throw new StorageError("unavailable", "The storage does not answer.")
    }
    const append = async (
      real: SessionStorage,
      ...args: Parameters<SessionStorage["append"]>
    ): ReturnType<SessionStorage["append"]> => {
      check()
      const isAt = args[1].some((line) => line.includes(at === "fence" ? '"type":"fence"' : '"role":"user"'))
      const ends = isAt && times++ === 0
      const head = ends && at !== "answered" ? undefined : await real.append(...args)
      away ||= ends
      if (head === undefined || ends) throw new StorageError("indeterminate", "The answer was lost.")
      return head
    }
    const runs: boolean[] = []
    const { client, handler } = serverOn(location, {
      through: (real) => ({
        ...real,
        append: (...args) => append(real, ...args),
        head: async (...args) => (check(), real.head(...args)),
        docs: {
          ...real.docs,
          get: async (...args) => (check(), real.docs.get(...args)),
          put: async (...args) => (check(), real.docs.put(...args)),
        },
      }),
      run: async (turn) => {
        runs.push(turn.turn.rerun)
        await answer(turn)
      },
    })
    const { id } = await passing(client.create())
    const { messageId } = await passing(client.prompt(id, { text: "hello" }))
    while (!away) await vi.advanceTimersByTimeAsync(10)
    await vi.advanceTimersByTimeAsync(ms)
    expect(runs).toEqual([])
    away = false
    const [state] = await passing(until(client.events(id), () => true))
    expect(state?.data).toMatchObject({ ended: [] })
    for (let waited = 0; runs.length === 0 && waited < 5 * LEASE; waited += 50) await vi.advanceTimersByTimeAsync(50)
    await vi.advanceTimersByTimeAsync(LEASE)
    expect(runs).toEqual([false])
    expect(await passing(textsOf(client, id))).toEqual(["hello", "HELLO"])
    const [last] = await passing(until(client.events(id), () => true))
    expect(last?.data).toMatchObject({ ended: [{ messageId }], queued: [] })
    expect(last?.data).not.toHaveProperty("ended.0.error")
    await passing(handler.close())
  },
  HANG_MS,
)

test("a process that only calls runQueued takes over from a server that has died, after one lease", async () => {
  const location = createMemoryLocation()
  const { id } = await diedOn(location)
  const { handler, client } = serverOn(location, { background: false })
  await passing(client.prompt(id, { text: "next" }))
  const began = performance.now()
  expect(await passing(handler.runQueued(id, "somebody"))).toEqual({ left: 0 })
  expect(performance.now() - began).toBeGreaterThanOrEqual(LEASE)
  expect(performance.now() - began).toBeLessThan(2 * LEASE)
  expect(await passing(textsOf(client, id))).toEqual(["first", "begun", "next", "NEXT"])
})

test("runQueued returns when another server has shown a sign of life, and leaves the prompts to it", async () => {
  const location = createMemoryLocation()
  const first = serverOn(location, {
    run: async (turn) => {
      await pause(5 * LEASE)
      await answer(turn)
    },
  })
  const { id } = await passing(first.client.create())
  await passing(first.client.prompt(id, { text: "long" }))
  const { handler } = serverOn(location, { background: false })
  const began = performance.now()
  expect(await passing(handler.runQueued(id, "somebody"))).toEqual({ left: 1 })
  expect(performance.now() - began).toBeLessThan(LEASE)
  await shows(first, id, "long,LONG")
})

test("a call that a served turn has started is `running` for other processes until the lease has ended, then `unknown`", async () => {
  const location = createMemoryLocation()
  const { id } = await diedOn(location, async (session) => {
    const call = { type: "toolCall", id: "c1", name: "charge", arguments: {} } as const
    await session.append({ type: "tool_policy", never: ["charge"], safe: [] })
    const { ids } = await session.append({ type: "message", message: { role: "assistant", content: [call] } })
    const place = { targetId: ids[0] ?? "", callId: "c1", call: 0, toolName: "charge" }
    await session.append({ type: "tool_start", ...place, attempt: 1, key: "k", run: "r" })
  })
  const reader = await passing(createSessions({ storage: createMemoryStorage({ location }) }).open(id))
  const stateOf = async (): Promise<unknown> => (await passing(reader.callStates()))?.calls[0]?.state
  expect(await stateOf()).toBe("running")
  await vi.advanceTimersByTimeAsync(LEASE)
  expect(await stateOf()).toBe("unknown")
})

/** A session whose server stands still for ever within the turn of its first prompt. */
async function diedOn(
  location: MemoryLocation,
  run: (session: Turn["session"]) => Promise<void> = (session) => say(session, "begun"),
): Promise<{ readonly id: string; readonly first: string }> {
  const dead = serverOn(location, {
    run: async ({ session }) => {
      await run(session)
      dead.stand()
      begun.open()
      await new Promise(() => undefined)
    },
  })
  const begun = gate()
  const { id } = await passing(dead.client.create())
  const { messageId: first } = await passing(dead.client.prompt(id, { text: "first" }))
  await passing(begun.passed)
  return { id, first }
}

/** Lets the time pass until the session has these texts. */
async function shows({ client }: Served, id: string, texts: string): Promise<void> {
  for (let waited = 0; (await passing(textsOf(client, id))).join() !== texts; waited += 50) {
    await vi.advanceTimersByTimeAsync(50)
    if (waited > 20 * LEASE) expect((await passing(textsOf(client, id))).join()).toBe(texts)
  }
}

async function fencesOf(session: Session): Promise<readonly unknown[]> {
  const fences: unknown[] = []
  for await (const entry of session.entries()) if (entry.type === "fence") fences.push(entry["fence"])
  return fences
}
