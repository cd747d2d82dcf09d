/** A storage whose calls are requests on a network, and its mutants: each believes an answer that it should not, or none. */
import { type SessionStorage, StorageError } from "@sessions/core/storage"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import type { Meet, Networked, Subject } from "../subject.ts"
import { current, type Mutant } from "./mutant.ts"

/** The store's answer, or what came in place of it. */
interface Answered<T> {
  /** What the request has done, whatever is answered; undefined if it did not arrive. */
  readonly result?: T
  readonly isForeign: boolean
}

/** A call of the storage, as its name in the contract. */
type Name = "append" | "delete" | "docs.put" | "docs.delete" | "blobs.put" | "blobs.delete" | ReadName
type ReadName = "head" | "read" | "list" | "docs.get" | "docs.list" | "blobs.get" | "blobs.has" | "blobs.list"

/** How a storage takes an answer that is not the store's. Undefined or a rejection: as the contract wants it. */
export interface Believing {
  /** The result of a call whose answer is not the store's. */
  readonly foreign?: (name: Name, real: SessionStorage, args: readonly unknown[]) => Promise<unknown> | undefined
  /** Milliseconds until it gives up when no answer comes. */
  readonly waits?: number
  /** Refuses further calls after an answer that is not the store's. */
  readonly latches?: boolean
}

const NAMES = ["another answer", "another answer, done", "no answer", "twice", "later"]

/** A correct storage on a network, or one that believes what it should not. */
export function networked(name: string, believing: Believing = {}): Subject<MemoryLocation> {
  return {
    name,
    makeLocation: createMemoryLocation,
    open: (location) => createMemoryStorage({ location }),
    network: { names: NAMES, open: (location, meet) => onNetwork(createMemoryStorage({ location }), meet, believing) },
  }
}

function onNetwork(real: SessionStorage, meet: Meet, { foreign, waits = 0, latches = false }: Believing): Networked {
  const late: (() => Promise<unknown>)[] = []
  let isLatched = false

  async function answerTo<T>(fault: string | undefined, send: () => Promise<T>): Promise<Answered<T>> {
    if (fault === "another answer") return { isForeign: true }
    if (fault === "no answer") {
      await new Promise((resolve) => setTimeout(resolve, waits))
      return { isForeign: true }
    }
    if (fault === "later") {
      late.push(send)
      return { isForeign: true }
    }
    const result = await send()
    // The store refuses the second one, or has done nothing more.
    if (fault === "twice") await send().catch(() => undefined)
    return { result, isForeign: fault === "another answer, done" }
  }

  async function request<T>(name: Name, writes: boolean, args: readonly unknown[], send: () => Promise<T>): Promise<T> {
    if (isLatched) throw new StorageError("unavailable", "An answer was lost before.")
    const { result, isForeign } = await answerTo(meet({ writes }), send)
    if (!isForeign) return result as T
    isLatched = latches
    const believed = foreign?.(name, real, args)
    if (believed !== undefined) return (await believed) as T
    throw new StorageError(writes ? "indeterminate" : "unavailable", "The answer is not the store's.")
  }

  async function* rows<T>(name: ReadName, args: readonly unknown[], all: () => AsyncIterable<T>): AsyncGenerator<T> {
    yield* await request(name, false, args, async () => {
      const found: T[] = []
      for await (const one of all()) found.push(one)
      return found
    })
  }

  const { docs, blobs } = real
  return {
    async arrive() {
      for (const send of late.splice(0)) await send().catch(() => undefined)
    },
    storage: {
      ...real,
      append: (...args) => request("append", true, args, () => real.append(...args)),
      delete: (...args) => request("delete", true, args, () => real.delete(...args)),
      head: (...args) => request("head", false, args, () => real.head(...args)),
      read: (...args) => rows("read", args, () => real.read(...args)),
      list: (...args) => rows("list", args, () => real.list(...args)),
      docs: {
        get: (...args) => request("docs.get", false, args, () => docs.get(...args)),
        put: (...args) => request("docs.put", true, args, () => docs.put(...args)),
        delete: (...args) => request("docs.delete", true, args, () => docs.delete(...args)),
        list: (...args) => rows("docs.list", args, () => docs.list(...args)),
      },
      blobs: {
        get: (...args) => request("blobs.get", false, args, () => blobs.get(...args)),
        has: (...args) => request("blobs.has", false, args, () => blobs.has(...args)),
        put: (...args) => request("blobs.put", true, args, () => blobs.put(...args)),
        delete: (...args) => request("blobs.delete", true, args, () => blobs.delete(...args)),
        list: (...args) => rows("blobs.list", args, () => blobs.list(...args)),
      },
    },
  }
}

/** Takes any answer to these calls for this. */
const believes =
  (names: readonly Name[], value: unknown): NonNullable<Believing["foreign"]> =>
  (name) =>
    names.includes(name) ? Promise.resolve(value) : undefined

const refuses =
  (names: readonly Name[], code: "unavailable" | "conflict" | "corrupt"): NonNullable<Believing["foreign"]> =>
  (name) =>
    names.includes(name) ? Promise.reject(new StorageError(code, "That is what the answer says.")) : undefined

const wrong = (name: string, fails: readonly string[], believing: Believing): Mutant => ({
  subject: networked(name, believing),
  fails,
})

export const networkMutants: readonly Mutant[] = [
  wrong("takes any answer to an append for its success", ["NETWORK-01"], {
    foreign: believes(["append"], { next: 1, log: "log" }),
  }),
  wrong("says that an append without an answer was not done", ["NETWORK-01"], {
    foreign: refuses(["append"], "unavailable"),
  }),
  wrong("appends again behind the end when an answer is lost", ["NETWORK-01"], {
    foreign(name, real, [session, lines]) {
      if (name !== "append") return undefined
      return current(real, session as string).then((expect) =>
        real.append(session as string, lines as string[], { expect }),
      )
    },
  }),
  wrong("takes any answer to a delete for its success", ["NETWORK-02"], {
    foreign: believes(["delete"], { bytes: 0, parts: 0, purged: true }),
  }),
  wrong("takes any answer to a change of a document for its success", ["NETWORK-03"], {
    foreign: believes(["docs.put", "docs.delete"], "version"),
  }),
  wrong("takes any answer to a put of a blob for its success", ["NETWORK-03"], {
    foreign: believes(["blobs.put"], "0".repeat(64)),
  }),
  wrong("takes a page for a missing log", ["NETWORK-04"], { foreign: believes(["head"], undefined) }),
  wrong("takes a page for an empty log", ["NETWORK-04"], { foreign: believes(["read"], []) }),
  wrong("takes a page for an empty list", ["NETWORK-05"], {
    foreign: believes(["list", "docs.list", "blobs.list"], []),
  }),
  wrong("takes a page for a missing document or blob", ["NETWORK-05"], {
    foreign: believes(["docs.get", "blobs.get"], undefined),
  }),
  wrong("takes a page for damage of the log", ["NETWORK-06"], { foreign: refuses(["head", "read"], "corrupt") }),
  // Longer than a case waits that must fail, and shorter than one that must pass.
  wrong("waits too long for an answer", ["NETWORK-07"], { waits: 1_000 }),
  wrong("refuses everything after a lost answer", ["NETWORK-07"], { latches: true }),
]
