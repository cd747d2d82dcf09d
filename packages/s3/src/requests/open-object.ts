/** Opens an object, or a range of it. A body that breaks off is continued with a ranged GET. */
import type { Deps } from "../base/deps.ts"
import { type GetOptions, type ObjectInfo, ObjectStoreError, type StoredObject } from "../object-store/object-store.ts"
import { startRequest, type TimedRequest } from "./request.ts"
import { type Backoff, isTransient, startBackoff } from "./retry.ts"

export interface OpenObject extends ObjectInfo {
  /** Can be read once. Throws {@link ObjectChangedError} if the rest of the body would come from another object. */
  bytes(): AsyncGenerator<Uint8Array, void, undefined>
  /** Reads the whole body, in place of {@link bytes}. */
  readAll(): Promise<Uint8Array>
  /** Required if the body is not read: an unread body keeps its connection open. */
  cancel(): void
}

/** The object was replaced or deleted while its body was read. */
export class ObjectChangedError extends Error {
  override readonly name = "ObjectChangedError"
}

/** `undefined` if the object does not exist, `"unchanged"` if it still has the ETag given as `unless`. */
export async function openObject(
  deps: Deps,
  key: string,
  o: Pick<GetOptions, "range" | "unless">,
  signal: AbortSignal | undefined,
  callBackoff: Backoff = startBackoff(deps),
): Promise<OpenObject | "unchanged" | undefined> {
  const first = await get(deps, key, o, signal, callBackoff)
  if (first === undefined || first === "unchanged") return first
  const { etag, size, lastModified, length } = first.object
  const from = o.range?.from ?? 0

  async function* bytes(): AsyncGenerator<Uint8Array, void, undefined> {
    let backoff: Backoff = callBackoff
    let progressed = false
    let current = first as Answer
    let received = 0
    for (;;) {
      try {
        const iterator = current.object.body[Symbol.asyncIterator]()
        for (;;) {
          const step = await current.request.receive(iterator.next())
          if (step.done === true) break
          // Something on the way has sent the body twice, or another one.
          if (received + step.value.length > length) throw brokenBody(`has more than ${length} bytes`)
          received += step.value.length
          progressed = true
          yield step.value
        }
        if (received === length) return
        throw brokenBody(`ended after ${received} of ${length} bytes`)
      } catch (error) {
        // It broke off behind its last byte. There is no rest to ask for.
        if (received === length) return
        if (progressed) backoff = startBackoff(deps)
        progressed = false
        if (!isTransient(error) || !(await backoff.pause(error, signal))) throw error
      } finally {
        current.request.cancel()
      }
      const rest = { from: from + received, to: from + length }
      const next = await get(deps, key, { range: rest }, signal, backoff).catch((error: unknown) => {
        // The object that is there now is shorter than what has been received.
        if (error instanceof ObjectStoreError && error.failure === "range") throw new ObjectChangedError(key)
        throw error
      })
      if (next === undefined || next === "unchanged" || next.object.etag !== etag) {
        if (typeof next === "object") next.request.cancel()
        throw new ObjectChangedError(key)
      }
      current = next
    }
  }

  return {
    etag,
    size,
    lastModified,
    bytes,
    cancel: () => first.request.cancel(),
    async readAll() {
      const all = new Uint8Array(length)
      let at = 0
      for await (const part of bytes()) {
        all.set(part, at)
        at += part.length
      }
      return all
    },
  }
}

function brokenBody(how: string): ObjectStoreError {
  return new ObjectStoreError("network", `the body ${how}`, { certain: false })
}

interface Answer {
  readonly object: StoredObject
  readonly request: TimedRequest
}

async function get(
  deps: Deps,
  key: string,
  o: Pick<GetOptions, "range" | "unless">,
  signal: AbortSignal | undefined,
  backoff: Backoff,
): Promise<Answer | "unchanged" | undefined> {
  for (;;) {
    const request = startRequest(deps, signal)
    try {
      const object = await request.receive(deps.store.get(key, { ...o, signal: request.signal }))
      return object === undefined || object === "unchanged" ? object : { object, request }
    } catch (error) {
      request.cancel()
      if (!isTransient(error) || !(await backoff.pause(error, signal))) throw error
    }
  }
}
