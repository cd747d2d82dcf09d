/** A lease whose renewal is on its way for longer than the lease, on a storage behind a network: it is lost, and the late request changes nothing. */
import { createSessions, type Session } from "@sessions/core"
import { createNetwork } from "@sessions/conformance/network"
import { sessionBranches } from "@sessions/core/transfer"
import { createMemoryLocation, createMemoryStorage } from "@sessions/memory"
import { afterEach, beforeEach, expect, test, vi } from "vitest"
import { createHttpStorage } from "../src/client.ts"
import { gate } from "./sessions/server.ts"
import { codeOf, handlerOf, URL_OF_STORAGE } from "./wire.ts"

const LEASE = 3_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

test("of a renewal that a proxy holds back for longer than the lease, the turn ends, and the next one has its lease to itself", async () => {
  const { one, two, proxy, document } = await processes()
  const begun = gate()
  let told: unknown
  const first = codeOf(
    one.turn(
      async (inner, { signal }) => {
        await inner.append(say("user", "a"))
        proxy.holdsChanges = true
        begun.open()
        await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()))
        told = signal?.reason
        await inner.append(say("assistant", "to a"))
      },
      { lease: LEASE },
    ),
  )
  await passing(begun.passed)
  let held: unknown
  const second = two.turn(
    async (inner) => {
      expect(told).toMatchObject({ code: "conflict" })
      await inner.append(say("user", "b"))
      held = await document()
      await proxy.arrive()
      // Nothing of it: neither the lease of the first turn again, nor another state of this one.
      expect(await document()).toEqual(held)
      await inner.append(say("assistant", "to b"))
    },
    { lease: LEASE },
  )
  await passing(Promise.all([first, second]))
  expect(await first).toBe("conflict")
  expect(held).toMatchObject({ fence: 2, held: { count: 0 } })
  await two.refresh()
  expect(await textsOf(two)).toEqual(["a", "b", "to b"])
  expect(await sessionBranches(two)).toHaveLength(1)
})

test("a renewal that arrives after its turn was lost keeps the next one waiting for one lease more, and it gets the lease then", async () => {
  const { one, two, proxy, document } = await processes()
  const first = codeOf(
    one.turn(
      async (_, { signal }) => {
        proxy.holdsChanges = true
        await new Promise<void>((resolve) => signal?.addEventListener("abort", () => resolve()))
        await proxy.arrive()
      },
      { lease: LEASE },
    ),
  )
  await passing(first)
  expect(await document()).toMatchObject({ fence: 1, held: { count: 1 } })
  const began = performance.now()
  await passing(two.turn((inner) => inner.append(say("user", "b")), { lease: LEASE }))
  expect(performance.now() - began).toBeGreaterThanOrEqual(LEASE)
  expect(await document()).toEqual({ v: 1, fence: 2 })
})

/** Two processes on a server; the requests of the first one go through the proxy. */
async function processes() {
  const memory = createMemoryStorage({ location: createMemoryLocation() })
  const handler = handlerOf(memory)
  const proxy = { holdsChanges: false, arrive: (): Promise<void> => network.arrive() }
  const direct = (url: string, init: RequestInit): Promise<Response> => handler(new Request(url, init))
  const network = createNetwork(direct, ({ writes }) =>
    writes && proxy.holdsChanges ? "the request later" : undefined,
  )
  const capabilities = { ...memory.capabilities, writers: "any", replace: false } as const
  const open = (fetch: typeof direct) =>
    createSessions({ storage: createHttpStorage({ url: URL_OF_STORAGE, fetch, capabilities, timeout: 10 * LEASE }) })
  const one = await open(network.fetch).create({ id: "s" })
  const two = await open(direct).open("s")
  const document = async (): Promise<unknown> => JSON.parse((await memory.docs.get("sessions/s/turn"))?.text ?? "null")
  return { one, two, proxy, document }
}

function say(role: "user" | "assistant", content: string) {
  return { type: "message", message: { role, content } } as const
}

async function textsOf(session: Session): Promise<readonly unknown[]> {
  const { messages } = await session.messages()
  return messages.map(({ message }) => (message.content as readonly { readonly text: string }[])[0]?.text)
}

/** Lets the time pass until the promise has settled. */
async function passing<T>(promise: Promise<T>): Promise<T> {
  let settled = false
  const end = (): void => void (settled = true)
  promise.then(end, end)
  while (!settled) await vi.advanceTimersByTimeAsync(50)
  return promise
}
