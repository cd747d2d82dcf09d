/** Servers on one storage that can stand still, with clocks of their own, and what a history of their turns shows. */
import { createFaultyStorage } from "@sessions/conformance/faults"
import type { Session, Sessions } from "@sessions/core"
import type { DocStore, SessionStorage } from "@sessions/core/storage"
import { sessionBranches } from "@sessions/core/transfer"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { vi } from "vitest"
import { say, serve, type Served, type ServeOptions, type Turn } from "./server.ts"

export const LEASE = 3_000
const HOUR = 60 * 60 * 1000

/** A server that can stand still: its calls to the storage wait until it goes on. */
export interface StandingServer extends Served {
  stand(): void
  go(): void
}

export interface ServerOptions extends Omit<ServeOptions, "storage"> {
  /** What the server's repository gets in place of the storage. */
  readonly through?: ((storage: SessionStorage) => SessionStorage) | undefined
}

export function serverOn(
  location: MemoryLocation,
  { through = (one) => one, ...o }: ServerOptions = {},
): StandingServer {
  const memory = createMemoryStorage({ location })
  let gate: Promise<void> | undefined
  let open = (): void => undefined
  let release = (): void => undefined
  const docs: DocStore = {
    ...memory.docs,
    get: async (...args) => (await gate, memory.docs.get(...args)),
    put: async (...args) => (await gate, memory.docs.put(...args)),
  }
  const storage = createFaultyStorage({ ...memory, docs })
  const served = serve({ storage: through(storage), lease: LEASE, ...o })
  return {
    ...served,
    stand() {
      gate = new Promise((resolve) => (open = resolve))
      release = storage.hold("append")
    },
    go() {
      gate = undefined
      open()
      release()
    },
  }
}

/** Lets the time pass until the promise has settled. */
export async function passing<T>(promise: Promise<T>): Promise<T> {
  let settled = false
  const end = (): void => void (settled = true)
  promise.then(end, end)
  while (!settled) await vi.advanceTimersByTimeAsync(50)
  return promise
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms))
}

/** A rule that is taken out. */
export interface Variant {
  /** Of the server that stands still. */
  readonly first?: Pick<ServerOptions, "through" | "wrap">
  /** Of the one that takes over. */
  readonly second?: Pick<ServerOptions, "through" | "wrap">
}

/**
 * Two servers whose clocks are two hours apart. The first one runs a turn of several leases, then one in which it stands still with an append in
 * flight, and goes on in the middle of the turn of the second one. Returns what is wrong; nothing for none.
 */
export async function history(sign: 1 | -1, { first = {}, second = {} }: Variant = {}): Promise<readonly string[]> {
  const location = createMemoryLocation()
  const wrong: string[] = []
  let running = 0
  let stoodSince: number | undefined
  let late: Promise<unknown> = Promise.resolve()
  const one = serverOn(location, {
    ...first,
    now: () => Date.now() - sign * HOUR,
    run: async ({ session, message: { text }, signal }) => {
      running++
      await say(session, `to ${text}`)
      if (text === "long") await pause(4 * LEASE)
      else {
        one.stand()
        running--
        stoodSince = performance.now()
        // As a tool's result is appended, and an entry that is no part of the conversation.
        late = Promise.allSettled([
          session.append(
            { type: "message", message: { role: "assistant", content: "late" } },
            { onConflict: "rebase" },
          ),
          session.append({ type: "custom", customType: "late" }, { onConflict: "rebase" }),
        ])
        await late
        if (!signal.aborted) wrong.push("the signal of the old turn has not fired")
        return
      }
      if (running > 1) wrong.push("two turns at once")
      running--
    },
  })
  const two = serverOn(location, {
    ...second,
    now: () => Date.now() + sign * HOUR,
    run: async ({ session, message: { text } }: Turn) => {
      if (++running > 1) wrong.push("two turns at once")
      if (stoodSince !== undefined && performance.now() - stoodSince < LEASE - LEASE / 3) wrong.push("taken over early")
      await say(session, `to ${text}`)
      one.go()
      await late
      await say(session, "done")
      running--
    },
  })
  const { id } = await passing(one.client.create())
  await passing(one.client.prompt(id, { text: "long" }))
  await vi.advanceTimersByTimeAsync(100)
  // It only queues: the turn of the first one is longer than a lease, and that one takes this prompt, too.
  await passing(two.client.prompt(id, { text: "halt" }))
  for (let waited = 0; stoodSince === undefined; waited += 50) {
    await vi.advanceTimersByTimeAsync(50)
    if (waited > 20 * LEASE) return [...wrong, "it hangs"]
  }
  await passing(two.client.prompt(id, { text: "after" }))
  const texts = async (): Promise<readonly string[]> => {
    const session = await two.sessions.open(id)
    try {
      await session.refresh()
      const { messages } = await session.messages({ limit: 100 })
      return messages.map(({ message }) => textIn(message.content))
    } finally {
      await session.close()
    }
  }
  for (let waited = 0; !(await passing(texts())).some((text) => text === "done" || text === "late"); waited += 50) {
    await vi.advanceTimersByTimeAsync(50)
    if (waited > 20 * LEASE) return [...wrong, "it hangs"]
  }
  const seen = (await passing(texts())).join()
  if (seen !== "long,to long,halt,to halt,after,to after,done") wrong.push(`mixed up: ${seen}`)
  const [branches, types] = await passing(logOf(two.sessions, id))
  if (branches !== 1) wrong.push("mixed up: a branch")
  if (types.includes("custom")) wrong.push("mixed up: an entry of the old turn")
  await passing(Promise.all([one.handler.close(), two.handler.close()]))
  return wrong
}

async function logOf(sessions: Sessions, id: string): Promise<readonly [branches: number, types: readonly string[]]> {
  const session = await sessions.open(id)
  const types: string[] = []
  for await (const { type } of session.entries()) types.push(type)
  const branches = await sessionBranches(session)
  await session.close()
  return [branches.length, types]
}

function textIn(content: unknown): string {
  return (content as readonly { readonly text?: string }[]).map(({ text }) => text).join()
}

/** The rules of a lease, each taken out in turn, and what a history then shows. */
export const VARIANTS: Readonly<Record<string, { readonly variant: Variant; readonly found: RegExp }>> = {
  "who takes the lease appends its fence": { variant: { second: { wrap: withoutFence } }, found: /mixed up/ },
  "a retry looks for a higher fence first": { variant: { first: { through: blindToFences } }, found: /mixed up/ },
  "a lease is waited for": {
    variant: {
      second: { through: (storage) => readThrough(storage, (text) => text.replace(`"lease":${LEASE}`, '"lease":1')) },
    },
    found: /two turns at once/,
  },
  "each sign of life changes the document": {
    variant: {
      first: { through: (storage) => writtenThrough(storage, (text) => text.replace(/"count":\d+/, '"count":0')) },
    },
    found: /two turns at once/,
  },
}

function withoutFence(sessions: Sessions): Sessions {
  return replaced(sessions, {
    open: async (id: string) => {
      const session = await sessions.open(id)
      const turn: Session["turn"] = (fn, o = {}) => session.turn(fn, o.signal === undefined ? {} : { signal: o.signal })
      return replaced(session, { turn })
    },
  })
}

/** A storage that shows fences as other entries. */
function blindToFences(storage: SessionStorage): SessionStorage {
  return replaced(storage, {
    read: async function* (...args: Parameters<SessionStorage["read"]>) {
      for await (const chunk of storage.read(...args))
        yield { ...chunk, lines: chunk.lines.map((line) => line.replace('"type":"fence"', '"type":"x:fence"')) }
    },
  })
}

function readThrough(storage: SessionStorage, change: (text: string) => string): SessionStorage {
  const get: DocStore["get"] = async (...args) => {
    const doc = await storage.docs.get(...args)
    return doc && { ...doc, text: change(doc.text) }
  }
  return replaced(storage, { docs: replaced(storage.docs, { get }) })
}

function writtenThrough(storage: SessionStorage, change: (text: string) => string): SessionStorage {
  const put: DocStore["put"] = (key, text, o) => storage.docs.put(key, change(text), o)
  return replaced(storage, { docs: replaced(storage.docs, { put }) })
}

function replaced<T extends object>(target: T, members: object): T {
  return new Proxy(target, {
    get: (_, name) => {
      const value: unknown = Reflect.get(members, name) ?? Reflect.get(target, name, target)
      return typeof value === "function" && !Object.hasOwn(members, name) ? value.bind(target) : value
    },
  })
}
