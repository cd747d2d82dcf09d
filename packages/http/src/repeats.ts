/**
 * Recognizes writes that arrive twice: proxies and browsers send a request again when its connection breaks. A write has an id
 * (`Idempotency-Key`). The second request with it gets the outcome of the first, also a refusal, so that nothing is done after the client
 * was told that it was not.
 *
 * The memory is that of one process. A repeat that reaches another one is recognized by its content, see `append.ts` and `documents.ts`.
 */

import { invalid } from "./refusal.ts"
import { WRITE_ID } from "./write-id.ts"

/** Outcomes that are remembered for each storage. A repeat follows within seconds. */
const KEPT = 1_000

/** Characters of an id. Those of our clients have some 50. */
const MAX_ID = 256

/** Causes of a cause, which may be in a circle. */
const MAX_CAUSES = 10

/** The id of a write, if the request has one; 400 for one that is too long to be remembered. */
export function writeIdOf({ headers }: Request): string | undefined {
  const id = headers.get(WRITE_ID) ?? undefined
  if (id !== undefined && id.length > MAX_ID) throw invalid(`${WRITE_ID} has more than ${MAX_ID} characters.`)
  return id
}

export interface Repeats {
  /**
   * The outcome of the write with this id; `act` if none has begun. Without an id every request is a write of its own. Outcomes are kept, so one
   * must be small whatever the request was.
   */
  once<T>(id: string | undefined, act: () => Promise<T>): Promise<T>
  /** Remembers which write put what is at a place. */
  wrote(place: string, id: string | undefined): void
  /** The id of the write that put what is at the place; undefined if it is not known. */
  writerOf(place: string): string | undefined
}

const known = new WeakMap<object, Repeats>()

/** The repeats of a storage object. A host that makes a storage for each request loses only the memory. */
export function repeatsOf(storage: object): Repeats {
  let repeats = known.get(storage)
  if (repeats === undefined) {
    repeats = createRepeats()
    known.set(storage, repeats)
  }
  return repeats
}

function createRepeats(): Repeats {
  const outcomes = new Map<string, Promise<unknown>>()
  const writers = new Map<string, string>()
  return {
    once<T>(id: string | undefined, act: () => Promise<T>): Promise<T> {
      if (id === undefined) return act()
      const first = outcomes.get(id) as Promise<T> | undefined
      if (first !== undefined) return first
      const outcome = act()
      outcome.catch(letGo)
      keep(outcomes, id, outcome)
      return outcome
    },
    wrote: (place, id) => keep(writers, place, id ?? ""),
    writerOf: (place) => writers.get(place),
  }
}

/** Until the stack of an error is read, V8 keeps the variables of all functions in it: here the body of the request. */
function letGo(error: unknown): void {
  let one = error
  for (let depth = 0; depth < MAX_CAUSES && one instanceof Error; depth++) {
    void one.stack
    one = one.cause
  }
}

/** A map keeps the order in which keys were added. */
function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key)
  map.set(key, value)
  if (map.size <= KEPT) return
  const [oldest] = map.keys()
  if (oldest !== undefined) map.delete(oldest)
}
