/**
 * Tries the conditional writes of a store on an object of its own: several creations at once, then several replacements of one object at
 * once. Exactly one of each may pass. A store that checks a condition and writes a moment later is right about each write that is alone.
 */
import type { Deps } from "../base/deps.ts"
import { createToken, TOKEN_LENGTH } from "../base/time.ts"
import { createTombstone } from "../format/tombstone.ts"
import {
  type EtagForm,
  ObjectStoreError,
  type PutCondition,
  type PutResult,
  type StoreFailure,
} from "../object-store/object-store.ts"
import { sendOnce } from "../requests/request.ts"
import { type Backoff, isTransient, startBackoff } from "../requests/retry.ts"

export interface Conditions {
  /** The form in which the store takes the ETags of conditions; `"none"`: two writers would lose each other's lines. */
  readonly etags: EtagForm | "none"
  readonly versioned: boolean
  /** With `"none"`: what the store does with conditions, to follow its name in a sentence. */
  readonly why?: string
}

/** The writes that are sent at once. */
const WRITERS = 4

const IGNORED = "ignores the conditions of a write (If-None-Match: * and If-Match)"
const NOT_ATOMIC = "does not check a condition and write in one step: of writes at the same time several passed"
const NOT_CREATED = "refuses to create an object that does not exist with If-None-Match: *"
const NOT_MATCHED =
  "refuses If-Match with the ETag that it has given; something on the way may change ETags, such as a proxy that compresses"

/**
 * Rejects with an {@link ObjectStoreError}. Nothing is concluded from a failure: after one, the probe begins anew with another object until
 * `longestMs` are over.
 */
export async function tryConditions(
  deps: Deps,
  longestMs: number,
  signal: AbortSignal | undefined,
): Promise<Conditions> {
  const end = deps.time.now() + longestMs
  const backoff = startBackoff({ ...deps, settings: { ...deps.settings, patience: longestMs } })
  for (;;) {
    const writer = createWriter(deps, end, signal)
    try {
      return await tryWith(writer, backoff, signal)
    } catch (error) {
      if (!isTransient(error) || !(await backoff.pause(error, signal))) throw error
    } finally {
      await writer.remove()
    }
  }
}

async function tryWith(writer: Writer, backoff: Backoff, signal: AbortSignal | undefined): Promise<Conditions> {
  const race = (condition: PutCondition): Promise<Passed> => raceOf(writer, condition, backoff, signal)
  const none = (why: string, versioned: boolean): Conditions => ({ etags: "none", versioned, why })
  const several = async (condition: PutCondition, versioned: boolean): Promise<Conditions> =>
    none((await writer.passes(condition)) === undefined ? NOT_ATOMIC : IGNORED, versioned)

  let created: Passed
  try {
    created = await race({ kind: "absent" })
  } catch (error) {
    if (!(error instanceof ObjectStoreError && error.failure === "refused")) throw error
    // The store does not know conditions, or it refuses every write for a reason of its own.
    const { versioned } = await writer.put()
    return none(`refuses the conditions of a write (${error.message})`, versioned)
  }
  const [first] = created
  if (first === undefined) return none(NOT_CREATED, false)
  const { etag, versioned } = first
  if (created.length > 1) return several({ kind: "absent" }, versioned)
  for (const form of ["quoted", "bare"] as const) {
    const condition: PutCondition = { kind: "match", etag, form }
    const replaced = await race(condition)
    // The object has another ETag now.
    if (replaced.length > 1) return several(condition, versioned)
    if (replaced.length === 1) return { etags: form, versioned }
  }
  return none(NOT_MATCHED, versioned)
}

type Passed = readonly PutResult[]

/**
 * Sends a write several times at once, and returns those that have passed. One that the store has put off because of the others is sent
 * again, alone, until one has passed and one was refused.
 */
async function raceOf(
  writer: Writer,
  condition: PutCondition,
  backoff: Backoff,
  signal: AbortSignal | undefined,
): Promise<Passed> {
  const passed: PutResult[] = []
  let refused = 0
  let putOff: ObjectStoreError[] = []
  let failed: ObjectStoreError | undefined
  const send = async (): Promise<void> => {
    try {
      const result = await writer.passes(condition)
      if (result === undefined) refused++
      else passed.push(result)
    } catch (error) {
      if (!(error instanceof ObjectStoreError && PUT_OFF.has(error.failure))) throw error
      putOff.push(error)
      if (!error.certain) failed = error
    }
  }
  // All of them end before the object is removed.
  const all = await Promise.allSettled(Array.from({ length: WRITERS }, send))
  for (const one of all) if (one.status === "rejected") throw one.reason
  while (putOff.length > 0 && passed.length < 2 && (passed.length === 0 || refused === 0)) {
    const [first, ...others] = putOff
    putOff = others
    if (!(await backoff.pause(first, signal))) throw first
    await send()
  }
  // A write that failed may have passed.
  if (passed.length === 0 && failed !== undefined) throw failed
  return passed
}

/** S3 answers 409 to a write beside another one, R2 429. Ceph has answered 500 to a condition that does not hold. */
const PUT_OFF: ReadonlySet<StoreFailure> = new Set(["busy", "slow", "server"])

interface Writer {
  put(condition?: PutCondition): Promise<PutResult>
  /** Undefined if the store says that the condition does not hold. */
  passes(condition: PutCondition): Promise<PutResult | undefined>
  remove(): Promise<void>
}

/** Of an object of its own. Each write has another content, and so another ETag. */
function createWriter(deps: Deps, end: number, signal: AbortSignal | undefined): Writer {
  const { store, time, settings } = deps
  const key = deps.keys.probe(createToken(time))
  const timeoutMs = (): number => Math.max(1, Math.min(settings.requestTimeout, end - time.now()))

  async function put(condition?: PutCondition): Promise<PutResult> {
    const [generation, token] = [createToken(time), createToken(time)]
    const bytes = createTombstone({ generation, token, createdBy: key.slice(-TOKEN_LENGTH) })
    return sendOnce(
      deps,
      signal,
      (requestSignal) =>
        store.put(key, bytes, { signal: requestSignal, ...(condition !== undefined && { condition }) }),
      timeoutMs(),
    )
  }

  return {
    put,
    async passes(condition) {
      try {
        return await put(condition)
      } catch (error) {
        if (error instanceof ObjectStoreError && error.failure === "precondition") return undefined
        throw error
      }
    },
    // Without a retry: an object of 64 bytes may stay, and a probe that failed has to say so soon.
    async remove() {
      const removed = sendOnce(
        deps,
        undefined,
        (requestSignal) => store.delete(key, { signal: requestSignal }),
        timeoutMs(),
      )
      await removed.catch(() => undefined)
    },
  }
}
