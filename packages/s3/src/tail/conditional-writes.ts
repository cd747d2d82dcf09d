/**
 * Conditional writes: whether and how this store keeps `If-None-Match: *` and `If-Match`, on which the safety of several writers rests. It
 * is proven for each store: a manifest that was copied from another one says nothing of this one.
 */
import type { CallOptions, StorageError } from "@sessions/core/storage"
import type { Deps } from "../base/deps.ts"
import type { Manifest } from "../format/manifest.ts"
import { type EtagForm, ObjectStoreError, type PutCondition } from "../object-store/object-store.ts"
import { storageError, toStorageError } from "../requests/errors.ts"
import { type Conditions, tryConditions } from "./probe.ts"

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

/** The conditional writes of a store, as a manifest says. */
export type Proof = Pick<Manifest, "etags" | "proven">

export interface ConditionalWrites {
  readonly unsafeSingleWriter: boolean
  /** Of this store; probes if no option, proven tail or earlier probe says it. `unsupported` if the bucket is refused. */
  proofHere(): Promise<Proof>
  /** To write a manifest with: its own if it names this store or has no conditional writes, else that of {@link proofHere}. */
  proofFor(manifest: Proof): Promise<Proof>
  /** The condition for replacing the object with this ETag, or for creating it. Undefined without conditional writes. */
  conditionFor(etag: string | undefined, etags: Manifest["etags"]): PutCondition | undefined
  /** Called if a condition was refused although it holds: the store expects another form. Probes, and uses the result from then on. */
  probeAgain(): Promise<void>
  /** Rejects with `unavailable` if the store has not answered within ten seconds. */
  probe(o?: CallOptions): Promise<S3Probe>
  /** The error for writing to a session that was created without conditional writes. */
  unsafeSessionError(session: string): StorageError
}

export interface ConditionalWriteOptions {
  readonly etags?: EtagForm | undefined
  readonly unsafeSingleWriter: boolean
  readonly allowVersions: boolean
  /** Names the store and the bucket. */
  readonly place: () => Promise<string>
  /** The proof in the tails of this bucket that were read, the newest last. */
  readonly proofInTails: () => Proof | undefined
}

/** A deployment waits for this probe. R2 takes one write a second to an object, S3 across continents needs 300 ms for each. */
const PROBE_MS = 10_000

/** Of one bucket under several addresses, such as those of a private network. */
const KEPT_PLACES = 4

export function createConditionalWrites(deps: Deps, options: ConditionalWriteOptions): ConditionalWrites {
  const { unsafeSingleWriter } = options
  let probing: Promise<Manifest["etags"]> | undefined
  let corrected: EtagForm | undefined

  async function probedForm(): Promise<Manifest["etags"]> {
    const { safe, etags, problem } = await probe(deps, options, deps.settings.patience)
    if (safe || (unsafeSingleWriter && etags === "none")) return etags
    throw storageError(deps, "unsupported", problem ?? "", { at: deps.keys.probes })
  }

  function probeOnce(): Promise<Manifest["etags"]> {
    probing ??= probedForm().catch((error: unknown) => {
      // The next call probes again: the store may only have been unreachable.
      probing = undefined
      throw error
    })
    return probing
  }

  async function isProven({ proven }: Proof): Promise<boolean> {
    return proven !== undefined && proven.includes(await options.place())
  }

  async function proven(etags: Manifest["etags"]): Promise<Proof> {
    return etags === "none" ? { etags } : { etags, proven: [await options.place()] }
  }

  /** Of this store. The option is the word of a deployment, and proves nothing to other processes. */
  async function proofHere(): Promise<Proof> {
    if (corrected !== undefined) return proven(corrected)
    if (options.etags !== undefined) return { etags: options.etags }
    const inTails = options.proofInTails()
    return proven(inTails !== undefined && (await isProven(inTails)) ? inTails.etags : await probeOnce())
  }

  return {
    unsafeSingleWriter,
    proofHere,
    async proofFor(manifest) {
      if (manifest.etags === "none" || (corrected === undefined && (await isProven(manifest)))) {
        const { etags, proven: kept } = manifest
        return kept === undefined ? { etags } : { etags, proven: kept }
      }
      const here = await proofHere()
      const { proven: before = [] } = manifest
      const places = [...before.filter((one) => here.proven?.includes(one) !== true), ...(here.proven ?? [])]
      return places.length === 0 ? here : { etags: here.etags, proven: places.slice(-KEPT_PLACES) }
    },
    conditionFor(etag, etags) {
      if (etags === "none") return undefined
      return etag === undefined ? { kind: "absent" } : { kind: "match", etag, form: corrected ?? etags }
    },
    async probeAgain() {
      const etags = await probedForm()
      if (etags !== "none") corrected = etags
    },
    probe: (o) => probe(deps, options, PROBE_MS, o?.signal),
    unsafeSessionError(session) {
      const message = `The session ${session} was created without conditional writes, which several writers need. Set \`unsafeSingleWriter\` if only one process ever writes, or move the bucket to a store that has them.`
      return storageError(deps, "unsupported", message, { session, at: deps.keys.tail(session) })
    },
  }
}

/** `longestMs` limits all requests together. */
async function probe(
  deps: Deps,
  { allowVersions }: ConditionalWriteOptions,
  longestMs: number,
  signal?: AbortSignal,
): Promise<S3Probe> {
  let found: Conditions
  try {
    found = await tryConditions(deps, longestMs, signal)
  } catch (error) {
    if (error instanceof ObjectStoreError && error.failure === "refused") throw refusedWriteError(deps, error)
    throw toStorageError(deps, error, "probe conditional writes", { at: deps.keys.probes })
  }
  const { etags, versioned, why } = found
  if (etags === "none") {
    const problem = `${deps.description} ${why}, so two writers would lose each other's lines. Use a store that keeps conditions, or set \`unsafeSingleWriter\` if only one process ever writes.`
    return { safe: false, etags, versioned, problem }
  }
  if (versioned && !allowVersions) {
    const problem = `${deps.description} keeps every version of an object, and each append replaces one of up to ${deps.settings.tailBytes} bytes. Use a bucket without versioning, or give it a lifecycle rule that expires noncurrent versions and set \`allowVersions\`.`
    return { safe: false, etags, versioned, problem }
  }
  return { safe: true, etags, versioned }
}

/** Stores without these headers: since version 3.729 the SDK sends a checksum with each write unless it is told not to. */
const CHECKSUM = /checksum|content-md5|trailer|aws-chunked/i

/** A write was refused with a condition and without one. */
function refusedWriteError(deps: Deps, error: ObjectStoreError): StorageError {
  const advice = CHECKSUM.test(error.message)
    ? 'give the S3Client `requestChecksumCalculation: "WHEN_REQUIRED"` and `responseChecksumValidation: "WHEN_REQUIRED"`, and leave an object lock off'
    : "see the documentation of the store for what its answer means"
  const message = `${deps.description} refuses every write (${error.message}). Nothing is known of its conditional writes: ${advice}.`
  return storageError(deps, "misconfigured", message, { at: deps.keys.probes }, error)
}
