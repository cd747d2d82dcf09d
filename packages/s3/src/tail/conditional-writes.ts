/**
 * Conditional writes: finds out with a probe whether the store honours `If-None-Match: *` and `If-Match`, on which the safety of
 * several writers rests, and in which form it expects ETags.
 */
import type { CallOptions, StorageError } from "@sessions/core/storage"
import type { Deps } from "../base/deps.ts"
import { createToken, TOKEN_LENGTH } from "../base/time.ts"
import type { Manifest } from "../format/manifest.ts"
import { createTombstone } from "../format/tombstone.ts"
import { type EtagForm, ObjectStoreError, type PutCondition, type PutResult } from "../object-store/object-store.ts"
import { storageError, toStorageError } from "../requests/errors.ts"
import { sendOnce } from "../requests/request.ts"

export interface S3Probe {
  /** Whether several writers are safe in this bucket, with the storage's options. */
  readonly safe: boolean
  /** How the bucket compares ETags. Given as the option `etags`, it spares every process its own probe. */
  readonly etags: EtagForm | "none"
  /** The bucket keeps the replaced object of every append. */
  readonly versioned: boolean
  /** If not safe: the reason and what to do. */
  readonly problem?: string
}

export interface ConditionalWrites {
  readonly unsafeSingleWriter: boolean
  /** The form for this bucket; probes if no option, tail or earlier probe says it. `unsupported` if the bucket is refused. */
  etagForm(): Promise<Manifest["etags"]>
  /** The condition for replacing the object with this ETag, or for creating it. Undefined without conditional writes. */
  conditionFor(etag: string | undefined, etags: Manifest["etags"]): PutCondition | undefined
  /**
   * Called if a condition was refused although it holds: the objects were moved here from a store that expects another form.
   * Probes, and uses the result from then on.
   */
  probeAgain(): Promise<void>
  /** The form for a manifest that has `etags`: that of the last {@link probeAgain}, if there was one. */
  currentForm(etags: Manifest["etags"]): Manifest["etags"]
  /** Rejects with `unavailable` if the store has not answered within three seconds. */
  probe(o?: CallOptions): Promise<S3Probe>
  /** The error for writing to a session that was created without conditional writes. */
  unsafeSessionError(session: string): StorageError
}

export interface ConditionalWriteOptions {
  readonly etags?: EtagForm | undefined
  readonly unsafeSingleWriter: boolean
  readonly allowVersions: boolean
  /** The form that a tail of this bucket says, if one has been read. */
  readonly formInTails: () => EtagForm | undefined
}

export function createConditionalWrites(deps: Deps, options: ConditionalWriteOptions): ConditionalWrites {
  let probing: Promise<Manifest["etags"]> | undefined
  let corrected: EtagForm | undefined

  async function probedForm(): Promise<Manifest["etags"]> {
    const { safe, etags, problem } = await probe(deps, options, deps.settings.patience)
    if (safe || (options.unsafeSingleWriter && etags === "none")) return etags
    throw storageError(deps, "unsupported", problem ?? "", { at: deps.keys.probes })
  }

  return {
    unsafeSingleWriter: options.unsafeSingleWriter,
    async etagForm() {
      const known = corrected ?? options.etags ?? options.formInTails()
      if (known !== undefined) return known
      probing ??= probedForm().catch((error: unknown) => {
        // The next call probes again: the store may only have been unreachable.
        probing = undefined
        throw error
      })
      return probing
    },
    conditionFor(etag, etags) {
      if (etags === "none") return undefined
      return etag === undefined ? { kind: "absent" } : { kind: "match", etag, form: corrected ?? etags }
    },
    async probeAgain() {
      const etags = await probedForm()
      if (etags !== "none") corrected = etags
    },
    currentForm: (etags) => (etags === "none" ? etags : (corrected ?? etags)),
    probe: (o) => probe(deps, options, PROBE_MS, o?.signal),
    unsafeSessionError(session) {
      const message = `The session ${session} was created without conditional writes, which several writers need. Set \`unsafeSingleWriter\` if only one process ever writes, or move the bucket to a store that has them.`
      return storageError(deps, "unsupported", message, { session, at: deps.keys.tail(session) })
    },
  }
}

/** A deployment waits for this probe. Six round trips of 300 ms, across continents, fit. */
const PROBE_MS = 3_000

/** `longestMs` limits all requests together. */
async function probe(
  deps: Deps,
  { allowVersions }: ConditionalWriteOptions,
  longestMs: number,
  signal?: AbortSignal,
): Promise<S3Probe> {
  const key = deps.keys.probe(createToken(deps.time))
  try {
    const { etags, versioned } = await tryConditions(deps, key, longestMs, signal)
    if (etags === "none") {
      const problem = `${deps.description} ignores the conditions of a write (If-None-Match: * and If-Match), so two writers would lose each other's lines. Use a store that honours them, or set \`unsafeSingleWriter\` if only one process ever writes.`
      return { safe: false, etags, versioned, problem }
    }
    if (versioned && !allowVersions) {
      const problem = `${deps.description} keeps every version of an object, and each append replaces one of up to ${deps.settings.tailBytes} bytes. Use a bucket without versioning, or give it a lifecycle rule that expires noncurrent versions and set \`allowVersions\`.`
      return { safe: false, etags, versioned, problem }
    }
    return { safe: true, etags, versioned }
  } catch (error) {
    throw toStorageError(deps, error, "probe conditional writes", { at: key })
  }
}

/** Six requests at most, on an object that is removed afterwards. */
async function tryConditions(
  deps: Deps,
  key: string,
  longestMs: number,
  signal: AbortSignal | undefined,
): Promise<{ readonly etags: EtagForm | "none"; readonly versioned: boolean }> {
  const end = deps.time.now() + longestMs
  const timeoutMs = (): number => Math.max(1, Math.min(deps.settings.requestTimeout, end - deps.time.now()))
  const put = async (condition: PutCondition): Promise<PutResult | undefined> => {
    const bytes = createTombstone({
      generation: createToken(deps.time),
      token: createToken(deps.time),
      createdBy: key.slice(-TOKEN_LENGTH),
    })
    try {
      return await sendOnce(
        deps,
        signal,
        (requestSignal) => deps.store.put(key, bytes, { condition, signal: requestSignal }),
        timeoutMs(),
      )
    } catch (error) {
      if (error instanceof ObjectStoreError && REFUSALS.has(error.failure)) return undefined
      throw error
    }
  }
  try {
    const first = await put({ kind: "absent" })
    if (first === undefined) return { etags: "none", versioned: false }
    const { versioned } = first
    if ((await put({ kind: "absent" })) !== undefined) return { etags: "none", versioned }
    for (const form of ["quoted", "bare"] as const) {
      if ((await put({ kind: "match", etag: first.etag, form })) === undefined) continue
      // The object has another ETag now: a store that accepts the first one again ignores the condition.
      const again = await put({ kind: "match", etag: first.etag, form })
      return { etags: again === undefined ? form : "none", versioned }
    }
    return { etags: "none", versioned }
  } finally {
    // Without a retry: an object of 64 bytes may stay, and a probe that failed has to say so soon.
    const remove = sendOnce(
      deps,
      undefined,
      (requestSignal) => deps.store.delete(key, { signal: requestSignal }),
      timeoutMs(),
    )
    await remove.catch(() => undefined)
  }
}

/** Ceph sometimes answers a condition that does not hold with 500; some stores answer that conditions are not implemented. */
const REFUSALS: ReadonlySet<string> = new Set(["precondition", "busy", "server", "refused"])
