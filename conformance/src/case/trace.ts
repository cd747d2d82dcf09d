/** Records the calls of a case, so that a failure such as a hang or a TypeError can name the call. */
import type { SessionStorage } from "@sessions/core/storage"
import { show } from "../helpers/show.ts"

export interface Trace {
  last(): string | undefined
  pending(): readonly string[]
  /** Makes every further call throw, so that a case that timed out does not keep running during the next one. */
  stop(): void
}

type Call = () => string

/** A proxy of the storage that records calls and changes nothing else. */
export function traced(storage: SessionStorage): { readonly storage: SessionStorage; readonly trace: Trace } {
  const pending = new Set<Call>()
  let last: Call | undefined
  let stopped = false

  function track<T>(call: Call, result: T): T {
    if (isThenable(result)) {
      pending.add(call)
      const ended = (): boolean => pending.delete(call)
      result.then(ended, ended)
      return result
    }
    return isAsyncIterable(result) ? (tracedIterable(call, result) as T) : result
  }

  function tracedIterable(call: Call, iterable: AsyncIterable<unknown>): AsyncIterable<unknown> {
    return {
      [Symbol.asyncIterator]() {
        const inner = iterable[Symbol.asyncIterator]()
        let steps = 0
        return {
          async next() {
            if (++steps % 256 === 0) await tick()
            if (stopped) throw new Stopped()
            return track(() => `next() of ${call()}`, inner.next())
          },
          return: async () => (await inner.return?.()) ?? { done: true, value: undefined },
        }
      },
    }
  }

  // The proxy's target is an empty object, because a proxy of a frozen storage could not return other functions.
  function proxyOf<T extends object>(target: T, name: string): T {
    return new Proxy({} as T, {
      get(_, key) {
        const value: unknown = Reflect.get(target, key, target)
        if (key === "docs" || key === "blobs") return isObject(value) ? proxyOf(value, `${key}.`) : value
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
    storage: proxyOf(storage, ""),
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

/** Lets timers fire, including the one of the time limit, while an endless iterable is read. */
function tick(): Promise<void> {
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
