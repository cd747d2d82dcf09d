/** A storage around another that fails as storages do: at a test's command, or by a simulation's dice. */
import type { BlobStore, Capabilities, SessionStorage, StorageErrorCode } from "@sessions/core/storage"
import { StorageError } from "@sessions/core/storage"

export type Operation = "append" | "head" | "read" | "put"

/**
 * - a code: the call rejects with it, and nothing happens;
 * - `request lost`: rejects with `indeterminate`, and nothing happens;
 * - `response lost`: happens if it can, and rejects with `indeterminate`;
 * - `late`: rejects with `indeterminate`, and happens at {@link FaultyStorage.deliver}, if its precondition still holds then;
 * - `prefix`: the first line of a batch happens, and the call rejects with `indeterminate`.
 */
export type Fault = StorageErrorCode | "request lost" | "response lost" | "late" | "prefix"

export type Planned = Fault | undefined | (() => Fault | undefined)

export interface Call {
  readonly operation: Operation
  readonly session: string
  /** Of an append. */
  readonly lines: readonly string[]
}

export interface FaultyStorage extends SessionStorage {
  /** What was asked of it, in order. */
  readonly calls: readonly Call[]
  /** How many writes are late. */
  readonly late: number
  /** How the next calls of an operation fail, one after the other; undefined: that one does not. A function is asked at the call. */
  fail(operation: Operation, ...faults: readonly Planned[]): void
  /** Calls of this operation wait from now on, before anything happens, until the function given is called. */
  hold(operation: Operation): () => void
  /** Hands in the oldest write that is late; says whether it happened. */
  deliver(): Promise<boolean>
}

export interface FaultyOptions {
  readonly capabilities?: Partial<Capabilities>
  /** Asked at each call that no command stands for. */
  readonly decide?: (call: Call) => Fault | undefined
  /** Awaited before a call takes effect, and again before its answer comes. */
  readonly pause?: (call: Call) => Promise<void>
  /** Stands in for the blob store; a simulation's must not hash, which takes as long as it takes. */
  readonly blobs?: BlobStore
}

/** What a call does to the storage behind: all of it, or as much as an interrupted one may. */
interface Act<T> {
  readonly whole: () => Promise<T>
  readonly part?: () => Promise<unknown>
}

export function createFaultyStorage(inner: SessionStorage, o: FaultyOptions = {}): FaultyStorage {
  const calls: Call[] = []
  const planned = new Map<Operation, Planned[]>()
  const held = new Map<Operation, Promise<void>>()
  const stragglers: (() => Promise<unknown>)[] = []
  const blobs = o.blobs ?? inner.blobs
  const description = `faulty ${inner.description}`

  const nextFault = (call: Call): Fault | undefined => {
    const faults = planned.get(call.operation) ?? []
    if (faults.length === 0) return o.decide?.(call)
    const next = faults.shift()
    return typeof next === "function" ? next() : next
  }

  async function perform<T>(call: Call, act: Act<T>): Promise<T> {
    calls.push(call)
    const fault = nextFault(call)
    await o.pause?.(call)
    await held.get(call.operation)
    try {
      if (fault === undefined) return await act.whole()
      if (fault === "response lost") await act.whole().catch(nothing)
      if (fault === "prefix") await act.part?.().catch(nothing)
      if (fault === "late") stragglers.push(act.whole)
      throw errorOf(fault, description)
    } finally {
      await o.pause?.(call)
    }
  }

  return {
    capabilities: { ...inner.capabilities, ...o.capabilities },
    description,
    docs: inner.docs,
    blobs: {
      put(bytes, options) {
        // The caller may change its array as soon as the call is made.
        const own = bytes instanceof Uint8Array ? bytes.slice() : bytes
        return perform({ operation: "put", session: "", lines: [] }, { whole: () => blobs.put(own, options) })
      },
      get: (hash, options) => blobs.get(hash, options),
      has: (hash, options) => blobs.has(hash, options),
      delete: (hash, options) => blobs.delete(hash, options),
      list: (options) => blobs.list(options),
    },
    calls,
    get late() {
      return stragglers.length
    },
    fail(operation, ...faults) {
      planned.set(operation, [...(planned.get(operation) ?? []), ...faults])
    },
    hold(operation) {
      let release = (): void => undefined
      held.set(operation, new Promise((resolve) => (release = resolve)))
      return () => {
        held.delete(operation)
        release()
      }
    },
    async deliver() {
      const late = stragglers.shift()
      if (late === undefined) return false
      return late().then(
        () => true,
        () => false,
      )
    },

    append: (session, lines, options) =>
      perform(
        { operation: "append", session, lines: [...lines] },
        {
          whole: () => inner.append(session, lines, options),
          // Creating is always whole.
          part: async () => {
            if (options.expect !== 0) await inner.append(session, lines.slice(0, 1), { expect: options.expect })
          },
        },
      ),
    head: (session, options) =>
      perform({ operation: "head", session, lines: [] }, { whole: () => inner.head(session, options) }),
    async *read(session, range, options) {
      await perform({ operation: "read", session, lines: [] }, { whole: async () => undefined })
      yield* inner.read(session, range, options)
    },
    list: (options) => inner.list(options),
    delete: (session, options) => inner.delete(session, options),
    sync: async (session, options) => inner.sync?.(session, options),
    ...(inner.replace === undefined ? {} : { replace: inner.replace.bind(inner) }),
    ...(inner.watch === undefined ? {} : { watch: inner.watch.bind(inner) }),
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  }
}

function errorOf(fault: Fault, storage: string): StorageError {
  const unknown = fault === "request lost" || fault === "response lost" || fault === "late" || fault === "prefix"
  return new StorageError(unknown ? "indeterminate" : fault, `The test says: ${fault}.`, { storage })
}

function nothing(): void {
  // Whoever is not answered does not learn that it was refused, either.
}
