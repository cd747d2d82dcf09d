/**
 * Hosts of workers bind signals and timers to the request that has made them: another request that looks at them gets an error ("Cannot
 * perform I/O on behalf of a different request"), and they are gone when their request has ended. This file has a host with that rule.
 */
import { AsyncLocalStorage } from "node:async_hooks"
import { createSessions } from "@sessions/core"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { afterEach, expect, test, vi } from "vitest"
import { createSessionClient, type SessionClient, type SessionEvent } from "../../src/client.ts"
import { createSessionHandler, type SessionHandler } from "../../src/server.ts"
import { answer, gate } from "./server.ts"

const requests = new AsyncLocalStorage<number>()

afterEach(() => {
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
})

/** A host of a worker: `fetch` is what the worker does with a request, `broken` how often it broke the rule. */
function host(fetch: (request: Request) => Promise<Response>): { readonly client: SessionClient; broken: number } {
  const owners = new WeakMap<AbortSignal, number | undefined>()
  const Controller = AbortController
  vi.stubGlobal(
    "AbortController",
    class extends Controller {
      constructor() {
        super()
        owners.set(this.signal, requests.getStore())
      }
    },
  )
  const aborted = Object.getOwnPropertyDescriptor(AbortSignal.prototype, "aborted")
  vi.spyOn(AbortSignal.prototype, "aborted", "get").mockImplementation(function (this: AbortSignal) {
    const owner = owners.get(this)
    if (owner === undefined || owner === requests.getStore()) return aborted?.get?.call(this) as boolean
    worker.broken++
    throw new Error("Cannot perform I/O on behalf of a different request.")
  })
  let count = 0
  const client = createSessionClient({
    url: "http://host",
    fetch(url, init) {
      // The signal is the client's.
      const request = new Request(url, { ...init, signal: null })
      return requests.run(++count, async () => pumped(await fetch(request)))
    },
  })
  const worker = { client, broken: 0 }
  return worker
}

/** The answer, whose stream runs in the request, whoever reads it. */
function pumped(answer: Response): Response {
  if (answer.body === null) return answer
  const reader = answer.body.getReader()
  const left = gate()
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      const pump = async (): Promise<void> => {
        for (;;) {
          const piece = await Promise.race([reader.read(), left.passed])
          if (piece === undefined) return reader.cancel()
          if (piece.done) return controller.close()
          controller.enqueue(piece.value)
        }
      }
      pump().catch((error: unknown) => controller.error(error))
    },
    cancel: () => left.open(),
  })
  return new Response(body, answer)
}

function handlerOn(location: MemoryLocation): SessionHandler<string> {
  const sessions = createSessions({ storage: createMemoryStorage({ location }) })
  const ignore = (): void => undefined
  return createSessionHandler({
    authorize: () => "me",
    sessions: () => sessions,
    run: answer,
    onError: ignore,
    onTurnError: ignore,
  })
}

/** What two clients see of a prompt that a third request sends. */
async function seen(client: SessionClient): Promise<SessionEvent["event"][][]> {
  const { id } = await client.create()
  let connected = 0
  return Promise.all(
    [0, 1].map(async () => {
      const events: SessionEvent["event"][] = []
      for await (const { event } of client.events(id)) {
        if (event === "state" && ++connected === 2) await client.prompt(id, { text: "hello" })
        events.push(event)
        if (event === "turn_end" || events.length > 20) break
      }
      return events
    }),
  )
}

test("a handler of its own for each request shares nothing with other requests: prompts run, and events arrive", async () => {
  const location = createMemoryLocation()
  const worker = host((request) => handlerOn(location)(request))
  for (const events of await seen(worker.client)) {
    expect(events[0]).toBe("state")
    expect(events.filter((event) => event === "appended").length).toBeGreaterThan(0)
  }
  expect(worker.broken).toBe(0)
})

test("one handler for all requests breaks the rule of such a host", async () => {
  const location = createMemoryLocation()
  let shared: SessionHandler<string> | undefined
  const worker = host((request) => (shared ??= handlerOn(location))(request))
  const { id } = await worker.client.create()
  await worker.client.load(id).catch(() => undefined)
  const stop = new AbortController()
  for await (const _ of worker.client.events(id, { signal: stop.signal })) if (worker.broken > 0) stop.abort()
  expect(worker.broken).toBeGreaterThan(0)
})
