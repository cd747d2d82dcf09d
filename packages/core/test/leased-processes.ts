/** Processes on one storage whose turns have leases, and time that passes when a test says so. */
import { createFaultyStorage } from "@sessions/conformance/faults"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { vi } from "vitest"
import type { Hooks } from "../src/session/hooks.ts"
import { createSessions } from "../src/session/repository.ts"
import type { DocStore } from "../src/storage/contract.ts"
import { StorageError } from "../src/storage/errors.ts"
import { storedEntries } from "./writers.ts"

export const KEY = "sessions/s/turn"

export interface FaultyDocs {
  /** Calls wait until `go`. */
  stop(): void
  /** Puts do. */
  stopPuts(): void
  go(): void
  fail: (() => Error) | undefined
  /** Puts take effect, and their callers are told that nobody knows. */
  loseAnswers: boolean
}

const faulty = new WeakMap<object, FaultyDocs>()

export function docsOf(storage: object): FaultyDocs {
  return faulty.get(storage) as FaultyDocs
}

/** A repository on a storage of its own, which can stop answering. */
export function process(location: MemoryLocation, hooks: Hooks = {}) {
  const memory = createMemoryStorage({ location })
  let gate: Promise<void> | undefined
  let putGate: Promise<void> | undefined
  let open = (): void => undefined
  const closed = (): Promise<void> => new Promise((resolve) => (open = resolve))
  const state: FaultyDocs = {
    stop: () => void (gate = closed()),
    stopPuts: () => void (putGate = closed()),
    go: () => {
      gate = undefined
      putGate = undefined
      open()
    },
    fail: undefined,
    loseAnswers: false,
  }
  const enter = async (): Promise<void> => {
    await gate
    if (state.fail !== undefined) throw state.fail()
  }
  const docs: DocStore = {
    ...memory.docs,
    get: async (...args) => (await enter(), memory.docs.get(...args)),
    put: async (...args) => {
      await enter()
      await putGate
      const version = await memory.docs.put(...args)
      if (state.loseAnswers) throw new StorageError("indeterminate", "The answer is lost.")
      return version
    },
  }
  const storage = createFaultyStorage({ ...memory, docs })
  faulty.set(storage, state)
  const sessions = createSessions({ storage, hooks })
  /** Nothing of it reaches the store any more. */
  const die = (): void => {
    state.stop()
    storage.hold("append")
  }
  return { storage, sessions, die }
}

export async function processes() {
  const location = createMemoryLocation()
  const [first, second] = [process(location), process(location)]
  const one = await first.sessions.create({ id: "s" })
  const two = await second.sessions.open("s")
  return { location, one, two, sessionsOne: first.sessions, storageOne: first.storage, storageTwo: second.storage }
}

/** Lets this much time pass; what the promise has resolved with by then. */
export async function within<T>(ms: number, promise: Promise<T>): Promise<T | undefined> {
  let value: T | undefined
  promise.then((resolved) => (value = resolved)).catch(() => undefined)
  for (let n = 0; n < ms; n++) await vi.advanceTimersByTimeAsync(1)
  return value
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

export async function fences(location: MemoryLocation) {
  return (await storedEntries(location)).filter(({ type }) => type === "fence")
}

export async function documentOf(location: MemoryLocation): Promise<unknown> {
  const doc = await createMemoryStorage({ location }).docs.get(KEY)
  return doc === undefined ? undefined : JSON.parse(doc.text)
}
