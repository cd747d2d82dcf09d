import type { SessionStorage } from "@sessions/core/storage"
import { show } from "../helpers/show.ts"

/** The calls that a case has made: what a failure without words of its own (a case that hangs, a TypeError) can be told by. */
export interface Trace {
  last(): string | undefined
  pending(): readonly string[]
  /** Refuses every further call: a case that was given up must not go on behind the next one's back. */
  stop(): void
}

type Call = () => string

/** The storage as it is, its calls written down. */
export function traced(storage: SessionStorage): { readonly storage: SessionStorage; readonly trace: Trace } {
  const pending = new Set<Call>()
  let last: Call | undefined
  let stopped = false

  function track<T>(call: Call, result: T): T {
    if (isThenable(result)) {
      pending.add(call)
      const forget = (): boolean => pending.delete(call)
      result.then(forget, forget)
      return result
    }
    return isAsyncIterable(result) ? (tracedIterable(call, result) as T) : result
  }

  function tracedIterable(call: Call, iterable: AsyncIterable<unknown>): AsyncIterable<unknown> {
    return {
      [Symbol.asyncIterator]() {
        const inner = iterable[Symbol.asyncIterator]()
        let asked = 0
        return {
          async next() {
            if (++asked % 256 === 0) await turn()
            if (stopped) throw new Stopped()
            return track(() => `next() of ${call()}`, inner.next())
          },
          return: async () => (await inner.return?.()) ?? { done: true, value: undefined },
        }
      },
    }
  }

  // A stand-in for an empty object: one for the storage itself could not give other functions where that is frozen.
  function standIn<T extends object>(target: T, name: string): T {
    return new Proxy({} as T, {
      get(_, key) {
        const value: unknown = Reflect.get(target, key, target)
        if (key === "docs" || key === "blobs") return isObject(value) ? standIn(value, `${key}.`) : value
        if (typeof value !== "function") return value
        return (...args: unknown[]) => {
          if (stopped) throw new Stopped()
          const call: Call = () => `${name}${String(key)}(${args.map(show).join(", ")})`
          last = call
          return track(call, Reflect.apply(value, target, args) as unknown)
        }
      },
    })
  }

  return {
    storage: standIn(storage, ""),
    trace: {
      last: () => last?.(),
      pending: () => [...pending].map((call) => call()),
      stop() {
        stopped = true
      },
    },
  }
}

class Stopped extends Error {
  constructor() {
    super("The case has ended.")
  }
}

/** Timers fire in between, the time limit's too: an iterable that never ends can be given up. */
function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null
}

function isThenable(value: unknown): value is Promise<unknown> {
  return isObject(value) && typeof (value as { then?: unknown }).then === "function"
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return isObject(value) && typeof (value as { [Symbol.asyncIterator]?: unknown })[Symbol.asyncIterator] === "function"
}
