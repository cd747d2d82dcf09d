/** Whatever answers a session client in place of the session API or after it: what its calls are told is true, and each of them ends. */
import { answerNames, createNetwork, type Fetch } from "@sessions/conformance/network"
import { createSessionClient, type SessionClient } from "@sessions/http/client"
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest"
import { runSchedules } from "./schedules.ts"
import { loadTurns, newId, serve, type Served, textsOf } from "./server.ts"

beforeAll(loadTurns)
beforeEach(
  () => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "Date"] }),
)
afterEach(() => void vi.useRealTimers())

interface Place extends Served {
  /** A session with one message. */
  readonly id: string
}

async function place(): Promise<Place> {
  const served = serve()
  const { id } = await served.client.create({ title: "old" })
  const session = await served.sessions.open(id)
  await session.append({ type: "message", message: { role: "user", content: "Hi" } })
  await session.close()
  return { ...served, id }
}

/** A client of the place whose requests meet the answer: each of them, or the first one. */
function clientOn(
  { handler }: Place,
  name: string,
  isEvery: boolean,
): { client: SessionClient; arrive: () => Promise<void> } {
  let requests = 0
  const direct: Fetch = (url, init) => handler(new Request(url, init))
  const { fetch, arrive } = createNetwork(direct, () => (isEvery || requests++ === 0 ? name : undefined))
  return { client: createSessionClient({ url: "http://host", fetch }), arrive }
}

/** How a call ended, with the time passing as it must; `open` if it has not. */
async function ended(call: Promise<unknown>): Promise<{ readonly code: string; readonly value?: unknown }> {
  let outcome: { readonly code: string; readonly value?: unknown } = { code: "open" }
  call.then(
    (value) => (outcome = { code: "done", value }),
    (error: { readonly code?: unknown }) => (outcome = { code: String(error.code) }),
  )
  for (let n = 0; n < 600 && outcome.code === "open"; n++) await vi.advanceTimersByTimeAsync(1_000)
  return outcome
}

const PROMPT = newId()

interface Write {
  readonly act: (client: SessionClient, on: Place) => Promise<unknown>
  /** How often it was done. */
  readonly times: (on: Place) => Promise<number>
  readonly prepare?: (on: Place) => Promise<unknown>
}

const WRITES: Readonly<Record<string, Write>> = {
  create: {
    act: (client) => client.create({ title: "made" }),
    times: async ({ client }) => (await client.list()).sessions.filter(({ title }) => title === "made").length,
  },
  rename: {
    act: (client, { id }) => client.rename(id, "new"),
    times: async ({ client, id }) => Number((await client.load(id)).info.title === "new"),
  },
  delete: {
    act: (client, { id }) => client.delete(id),
    times: async ({ client }) => Number((await client.list()).sessions.length === 0),
  },
  prompt: {
    act: (client, { id }) => client.prompt(id, { id: PROMPT, text: "Go on" }),
    async times({ client, id }) {
      // The turn has its time to end.
      await vi.advanceTimersByTimeAsync(1_000)
      return (await textsOf(client, id)).filter((text) => text === "Go on").length
    },
  },
  stop: {
    prepare: ({ client, id }) => client.prompt(id, { id: PROMPT, text: "Go on" }),
    act: (client, { id }) => client.stop(id, PROMPT),
    // Whether a turn that has ended was stopped shows nowhere.
    times: async () => 1,
  },
}

test.each(Object.entries(WRITES))(
  "%s: done once if it is acknowledged, and not done if it is refused",
  async (_, { prepare, act, times }) => {
    const wrong: string[] = []
    for (const name of answerNames) {
      for (const isEvery of [true, false]) {
        const on = await place()
        await prepare?.(on)
        const { client, arrive } = clientOn(on, name, isEvery)
        const { code } = await ended(act(client, on))
        await arrive()
        const count = await times(on)
        const isTrue = code === "done" ? count === 1 : code === "indeterminate" && count <= 1
        if (!isTrue) wrong.push(`${name} (${isEvery ? "each" : "the first"} request): ${code}, done ${count} times`)
      }
    }
    expect(wrong).toEqual([])
  },
)

const READS: Readonly<Record<string, (client: SessionClient, on: Place) => Promise<unknown>>> = {
  list: (client) => client.list(),
  load: (client, { id }) => client.load(id),
  context: (client, { id }) => client.context(id),
  async events(client, { id }) {
    for await (const { event } of client.events(id)) return event
    return undefined
  },
  async "events in pages"(client, { id }) {
    for await (const { event } of client.events(id, { stream: false })) return event
    return undefined
  },
}

test.each(Object.entries(READS))("%s: what is there, or a failure", async (_, act) => {
  const wrong: string[] = []
  const on = await place()
  const right = JSON.stringify(await act(on.client, on))
  for (const name of answerNames) {
    for (const isEvery of [true, false]) {
      // A stream that gets no answer is asked for without an end.
      if (act === READS["events"] || act === READS["events in pages"]) if (isEvery) continue
      const { client } = clientOn(on, name, isEvery)
      const { code, value } = await ended(act(client, on))
      const isTrue =
        code === "done" ? JSON.stringify(value) === right : ["unavailable", "failed", "quota"].includes(code)
      if (!isTrue) wrong.push(`${name} (${isEvery ? "each" : "the first"} request): ${code} ${JSON.stringify(value)}`)
    }
  }
  expect(wrong).toEqual([])
})

test("`timeout` counts from the last piece of an answer, and a body has time for its length", async () => {
  const { handler, client: direct } = serve({ maxBodyBytes: 20_000_000 })
  const { id } = await direct.create({ title: "x".repeat(1_000) })
  let pause = 0
  let delay = 0
  const client = createSessionClient({
    url: "http://host",
    timeout: 10_000,
    async fetch(url, { signal, ...init }) {
      await Promise.race([new Promise((resolve) => setTimeout(resolve, delay)), firing(signal)])
      const answer = await handler(new Request(url, init))
      const bytes = new Uint8Array(await answer.arrayBuffer())
      let at = 0
      const body = new ReadableStream<Uint8Array>({
        async pull(controller) {
          await Promise.race([new Promise((resolve) => setTimeout(resolve, pause)), firing(signal)])
          if (at >= bytes.length) controller.close()
          else controller.enqueue(bytes.slice(at, (at += Math.ceil(bytes.length / 15))))
        },
      })
      return new Response(body, { status: answer.status, headers: answer.headers })
    },
  })
  pause = 9_000
  expect((await ended(client.load(id))).code).toBe("done")
  pause = 11_000
  expect((await ended(client.load(id))).code).toBe("unavailable")
  pause = 0
  delay = 20_000
  expect((await ended(client.rename(id, "y".repeat(1_000)))).code).toBe("indeterminate")
  expect((await ended(client.create({ systemPromptOverride: "y".repeat(1_000_000) }))).code).toBe("done")
})

test("a call ends after `timeout` or by its signal also if the body of the answer never does", async () => {
  for (const status of [200, 500]) {
    const client = createSessionClient({
      url: "http://host",
      timeout: 1_000,
      // As that of Node 22, whose body does not notice its signal if the compression is damaged.
      fetch: async () => new Response(new ReadableStream({ pull: () => new Promise(() => undefined) }), { status }),
    })
    expect((await ended(client.rename("a", "b"))).code).toBe("indeterminate")
    const stop = new AbortController()
    setTimeout(() => stop.abort(), 500)
    expect((await ended(client.rename("a", "b", { signal: stop.signal }))).code).toBe("aborted")
  }
})

function firing(signal: AbortSignal | null | undefined): Promise<never> {
  return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason as Error)))
}

const SEED = Math.trunc(Math.random() * 1_000_000)

test(`schedules of calls that meet random answers, seed ${SEED}`, async () => {
  const { wrong } = await runSchedules(Array.from({ length: 8 }, (_, n) => SEED + n))
  expect(wrong).toEqual([])
})
