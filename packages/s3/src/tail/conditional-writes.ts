/** Whether a store keeps the one promise that two writers rest on: a write takes place only if its condition holds. */
import type { CallOptions } from "@sessions/core/storage"
import type { StorageError } from "@sessions/core/storage"
import type { Environment } from "../base/deps.ts"
import { storageError, toStorageError } from "../requests/errors.ts"
import { once } from "../requests/request.ts"
import type { EtagForm, PutCondition, PutResult } from "../object-store/object-store.ts"
import { ObjectStoreError } from "../object-store/object-store.ts"
import { persistently } from "../requests/retry.ts"
import type { Manifest } from "../format/manifest.ts"
import type { Tail } from "../format/tail.ts"
import { createTombstone } from "../format/tombstone.ts"
import { createToken, TOKEN_LENGTH } from "../base/time.ts"

export interface S3Probe {
  /** Whether sessions may be made in this bucket by several writers. */
  readonly safe: boolean
  /** How the bucket compares ETags; what the option `etags` takes, so that nobody has to probe again. */
  readonly etags: EtagForm | "none"
  /** Every append leaves the version before it behind. */
  readonly versioned: boolean
  /** What is wrong, in a sentence, and what to do. */
  readonly problem?: string
}

export interface Comparing {
  readonly unsafe: boolean
  /**
   * A condition was refused although it holds: the objects have come from another store, which wants its ETags otherwise. Tries it
   * out anew, and goes by that from then on.
   */
  correct(): Promise<void>
  /** What to write into a manifest that said this. */
  corrected(etags: Manifest["etags"]): Manifest["etags"]
  /** How to compare in this bucket; probes where nobody has told. `unsupported` where the bucket is not to be used. */
  known(signal?: AbortSignal): Promise<Manifest["etags"]>
  condition(base: Tail, etags: Manifest["etags"]): PutCondition | undefined
  probe(o?: CallOptions): Promise<S3Probe>
  /** Of a session that was made without comparing. */
  refusal(session: string): StorageError
}

export interface ComparingOptions {
  readonly etags?: EtagForm | undefined
  readonly unsafeSingleWriter: boolean
  readonly allowVersions: boolean
  /** What a tail of this bucket has told. */
  readonly told: () => EtagForm | undefined
}

export function createComparing(env: Environment, options: ComparingOptions): Comparing {
  let probing: Promise<Manifest["etags"]> | undefined
  let correction: EtagForm | undefined
  const corrected = (etags: Manifest["etags"]): Manifest["etags"] => (etags === "none" ? etags : (correction ?? etags))

  async function demand(): Promise<Manifest["etags"]> {
    const { safe, etags, problem } = await probe(env, options)
    if (safe || (options.unsafeSingleWriter && etags === "none")) return etags
    throw storageError(env, "unsupported", problem ?? "", { at: env.keys.probes })
  }

  return {
    unsafe: options.unsafeSingleWriter,
    corrected,
    async correct() {
      const etags = await demand()
      if (etags !== "none") correction = etags
    },
    async known() {
      const told = correction ?? options.etags ?? options.told()
      if (told !== undefined) return told
      probing ??= demand().catch((error: unknown) => {
        // A store that was out of reach is asked again.
        probing = undefined
        throw error
      })
      return probing
    },
    condition(base, etags) {
      if (etags === "none") return undefined
      if (base.kind === "absent") return { kind: "absent" }
      return { kind: "match", etag: base.etag, form: correction ?? etags }
    },
    probe: (o) => probe(env, options, o?.signal),
    refusal(session) {
      const message = `The session ${session} was made without conditional writes, which two writers need. Set \`unsafeSingleWriter\` where only one ever writes, or move the bucket to a store that has them.`
      return storageError(env, "unsupported", message, { session, at: env.keys.tail(session) })
    },
  }
}

async function probe(env: Environment, { allowVersions }: ComparingOptions, signal?: AbortSignal): Promise<S3Probe> {
  const key = `${env.keys.probes}${createToken(env.time)}`
  try {
    const { etags, versioned } = await compare(env, key, signal)
    if (etags === "none") {
      const problem = `${env.description} does not keep the conditions of a write (If-None-Match: * and If-Match), so that two writers would lose each other's lines. Use a store that does, or set \`unsafeSingleWriter\` where only one process ever writes.`
      return { safe: false, etags, versioned, problem }
    }
    if (versioned && !allowVersions) {
      const problem = `${env.description} keeps every version of an object, and an append replaces one of up to ${env.settings.tailBytes} bytes. Use a bucket without versioning, or give it a lifecycle rule that expires noncurrent versions and set \`allowVersions\`.`
      return { safe: false, etags, versioned, problem }
    }
    return { safe: true, etags, versioned }
  } catch (error) {
    throw toStorageError(env, error, "try out conditional writes", { at: key })
  }
}

async function compare(
  env: Environment,
  key: string,
  signal: AbortSignal | undefined,
): Promise<{ readonly etags: EtagForm | "none"; readonly versioned: boolean }> {
  const put = async (condition: PutCondition): Promise<PutResult | undefined> => {
    const bytes = createTombstone({
      life: createToken(env.time),
      token: createToken(env.time),
      made: key.slice(-TOKEN_LENGTH),
    })
    try {
      return await once(env, signal, (within) => env.store.put(key, bytes, { condition, signal: within }))
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
      // The first ETag has passed: a store that takes it once more compares nothing.
      const again = await put({ kind: "match", etag: first.etag, form })
      return { etags: again === undefined ? form : "none", versioned }
    }
    return { etags: "none", versioned }
  } finally {
    await persistently(env, undefined, (within) => env.store.delete(key, { signal: within })).catch(() => undefined)
  }
}

/** Ceph answers a condition that does not hold with 500 at times; some stores call conditions not implemented. */
const REFUSALS: ReadonlySet<string> = new Set(["precondition", "busy", "server", "refused"])
