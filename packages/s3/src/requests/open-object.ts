/** An object, or a stretch of it, whose body goes on where it broke off. */
import type { Environment } from "../base/deps.ts"
import type { Attempt } from "./request.ts"
import { startAttempt } from "./request.ts"
import type { GetOptions, ObjectInfo, StoredObject } from "../object-store/object-store.ts"
import { ObjectStoreError } from "../object-store/object-store.ts"
import type { Patience } from "./retry.ts"
import { isPassing, startPatience } from "./retry.ts"

export interface OpenObject extends ObjectInfo {
  /** Once. Ends with a {@link ChangedObject} where the rest would come from another object. */
  bytes(): AsyncGenerator<Uint8Array, void, undefined>
  /** All of it. */
  whole(): Promise<Uint8Array>
  /** In the place of reading it: a body that nobody takes holds its connection. */
  drop(): void
}

/** The object was replaced or deleted while its body was read. */
export class ChangedObject extends Error {
  override readonly name = "ChangedObject"
}

export async function openObject(
  env: Environment,
  key: string,
  o: Pick<GetOptions, "range" | "unless">,
  signal: AbortSignal | undefined,
): Promise<OpenObject | "unchanged" | undefined> {
  const first = await begin(env, key, o, signal)
  if (first === undefined || first === "unchanged") return first
  const { etag, size, lastModified, length } = first.object
  const from = o.range?.from ?? 0

  async function* bytes(): AsyncGenerator<Uint8Array, void, undefined> {
    let patience: Patience | undefined
    let current = first as Begun
    let got = 0
    for (;;) {
      try {
        const iterator = current.object.body[Symbol.asyncIterator]()
        for (;;) {
          const step = await current.attempt.within(iterator.next())
          if (step.done === true) break
          got += step.value.length
          patience = undefined
          yield step.value
        }
        if (got >= length) return
        throw new ObjectStoreError("network", `the body ended after ${got} of ${length} bytes`, { certain: false })
      } catch (error) {
        patience ??= startPatience(env)
        if (!isPassing(error) || !(await patience.pause(error, signal))) throw error
      } finally {
        current.attempt.end()
      }
      const next = await begin(env, key, { range: { from: from + got, to: from + length } }, signal)
      if (next === undefined || next === "unchanged" || next.object.etag !== etag) {
        if (typeof next === "object") next.attempt.end()
        throw new ChangedObject(key)
      }
      current = next
    }
  }

  return {
    etag,
    size,
    lastModified,
    bytes,
    drop: () => first.attempt.end(),
    async whole() {
      const all = new Uint8Array(length)
      let at = 0
      for await (const piece of bytes()) {
        all.set(piece, at)
        at += piece.length
      }
      return all
    },
  }
}

interface Begun {
  readonly object: StoredObject
  readonly attempt: Attempt
}

async function begin(
  env: Environment,
  key: string,
  o: Pick<GetOptions, "range" | "unless">,
  signal: AbortSignal | undefined,
): Promise<Begun | "unchanged" | undefined> {
  const patience = startPatience(env)
  for (;;) {
    const attempt = startAttempt(env, signal)
    try {
      const object = await attempt.within(env.store.get(key, { ...o, signal: attempt.signal }))
      return object === undefined || object === "unchanged" ? object : { object, attempt }
    } catch (error) {
      attempt.end()
      if (!isPassing(error) || !(await patience.pause(error, signal))) throw error
    }
  }
}
