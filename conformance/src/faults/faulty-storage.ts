/** Wraps a storage so that calls fail as a test plans it, or as a simulation decides at random. */
import {
  type BlobStore,
  type Capabilities,
  type SessionStorage,
  StorageError,
  type StorageErrorCode,
} from "@sessions/core/storage"

export type Operation = "append" | "head" | "read" | "put"

/**
 * - an error code: the call rejects with it and has no effect;
 * - `request lost`: the call rejects with `indeterminate` and has no effect;
 * - `response lost`: the call takes effect if it can, and rejects with `indeterminate`;
 * - `late`: the call rejects with `indeterminate`, and takes effect at {@link FaultyStorage.deliver} if its precondition still
 *   holds;
 * - `prefix`: the first line of the batch is appended, and the call rejects with `indeterminate`. A creation has no effect.
 */
export type Fault = StorageErrorCode | "request lost" | "response lost" | "late" | "prefix"

/** Undefined means that the call succeeds. A function is called when the call is made. */
export type PlannedFault = Fault | undefined | (() => Fault | undefined)

export interface Call {
  readonly operation: Operation
  readonly session: string
  /** The lines of an append; empty for other operations. */
  readonly lines: readonly string[]
}

export interface FaultyStorage extends SessionStorage {
  /** The calls so far, in order. */
  readonly calls: readonly Call[]
  /** The number of late writes that are not yet delivered. */
  readonly late: number
  /** Plans the faults of the next calls of an operation, one fault per call. */
  fail(operation: Operation, ...faults: readonly PlannedFault[]): void
  /** Makes calls of the operation wait before they take effect, until the returned function is called. */
  hold(operation: Operation): () => void
  /** Delivers the oldest late write; resolves with whether it succeeded. */
  deliver(): Promise<boolean>
}

export interface FaultyOptions {
  readonly capabilities?: Partial<Capabilities>
  /** Decides the fault of each call for which none is planned. */
  readonly decide?: (call: Call) => Fault | undefined
  /** Awaited before a call takes effect, and again before it settles. */
  readonly pause?: (call: Call) => Promise<void>
  /** Replaces the blob store. A simulation needs one that does not hash, because the time that hashing takes is not deterministic. */
  readonly blobs?: BlobStore
}

/** The effect of a call on the inner storage: the whole effect, or the part that an interrupted call may leave. */
interface Effect<T> {
  readonly whole: () => Promise<T>
  readonly part?: () => Promise<unknown>
}

export function createFaultyStorage(inner: SessionStorage, o: FaultyOptions = {}): FaultyStorage {
  const calls: Call[] = []
  const planned = new Map<Operation, PlannedFault[]>()
  const held = new Map<Operation, Promise<void>>()
  const lateWrites: (() => Promise<unknown>)[] = []
  const blobs = o.blobs ?? inner.blobs
  const description = `faulty ${inner.description}`

  const nextFault = (call: Call): Fault | undefined => {
    const faults = planned.get(call.operation) ?? []
    if (faults.length === 0) return o.decide?.(call)
    const next = faults.shift()
    return typeof next === "function" ? next() : next
  }

  async function perform<T>(call: Call, effect: Effect<T>): Promise<T> {
    calls.push(call)
    const fault = nextFault(call)
    await o.pause?.(call)
    await held.get(call.operation)
    try {
      if (fault === undefined) return await effect.whole()
      if (fault === "response lost") await effect.whole().catch(ignore)
      if (fault === "prefix") await effect.part?.().catch(ignore)
      if (fault === "late") lateWrites.push(effect.whole)
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
        // A copy, because the caller may change its array after the call.
        const copy = bytes instanceof Uint8Array ? bytes.slice() : bytes
        return perform({ operation: "put", session: "", lines: [] }, { whole: () => blobs.put(copy, options) })
      },
      get: (hash, options) => blobs.get(hash, options),
      has: (hash, options) => blobs.has(hash, options),
      delete: (hash, options) => blobs.delete(hash, options),
      list: (options) => blobs.list(options),
    },
    calls,
    get late() {
      return lateWrites.length
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
      const late = lateWrites.shift()
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
          // A creation is whole or has no effect.
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

function ignore(): void {
  // A caller whose response is lost does not learn that its call was refused.
}
