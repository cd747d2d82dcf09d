/** A synchronous bucket in memory with the guarantees of S3: atomic objects, conditional writes, listings ordered by key. */
import {
  type EtagForm,
  type ListedObject,
  type ObjectInfo,
  ObjectStoreError,
  type PutCondition,
  type PutResult,
} from "../src/index.ts"

export interface BucketOptions {
  readonly now?: () => number
  /** The form of ETag that matches. `"none"`: ignores all conditions; `"ignored"`: ignores those with an ETag. */
  readonly etags?: EtagForm | "none" | "ignored"
  readonly versioned?: boolean
  readonly pageSize?: number
  /** Default true; false: ignores the condition of a DELETE. */
  readonly conditionalDeletes?: boolean
}

interface Stored extends ObjectInfo {
  readonly bytes: Uint8Array
}

export class FakeBucket {
  readonly objects: Map<string, Stored> = new Map()
  versioned: boolean
  readonly #now: () => number
  readonly #etags: EtagForm | "none" | "ignored"
  readonly #pageSize: number
  readonly #conditionalDeletes: boolean

  constructor(options: BucketOptions = {}) {
    this.#now = options.now ?? ticking()
    this.#etags = options.etags ?? "quoted"
    this.versioned = options.versioned ?? false
    this.#pageSize = options.pageSize ?? 1_000
    this.#conditionalDeletes = options.conditionalDeletes ?? true
  }

  /** Throws `precondition` if the condition does not hold. */
  put(key: string, bytes: Uint8Array, condition?: PutCondition): PutResult {
    if (condition !== undefined && this.#etags !== "none" && !this.#holds(key, condition)) {
      throw new ObjectStoreError("precondition", "412 PreconditionFailed", { certain: true })
    }
    // Like S3's, derived from the content: equal bytes have equal ETags.
    const etag = hashOf(bytes)
    const versioned = this.versioned
    this.objects.set(key, { bytes: bytes.slice(), etag, size: bytes.length, lastModified: this.#now(), versioned })
    return { etag, versioned }
  }

  /** Throws `precondition` if the condition does not hold. */
  remove(key: string, condition?: PutCondition): void {
    if (condition !== undefined && this.#conditionalDeletes && !this.#holds(key, condition)) {
      throw new ObjectStoreError("precondition", "412 PreconditionFailed", { certain: true })
    }
    this.objects.delete(key)
  }

  list(prefix: string, after = ""): { readonly objects: ListedObject[]; readonly next?: string } {
    const keys = [...this.objects.keys()].filter((key) => key.startsWith(prefix) && key > after).sort()
    const page = keys.slice(0, this.#pageSize)
    const objects = page.map((key) => {
      const { etag, size, lastModified } = this.objects.get(key) as Stored
      return { key, etag, size, lastModified }
    })
    return keys.length > page.length ? { objects, next: page.at(-1) as string } : { objects }
  }

  #holds(key: string, condition: PutCondition): boolean {
    const stored = this.objects.get(key)
    if (condition.kind === "absent") return stored === undefined
    return this.#etags === "ignored" || (stored?.etag === condition.etag && condition.form === this.#etags)
  }
}

/** A clock that advances one second per write: S3 reports whole seconds, and tests must not wait for the next one. */
function ticking(): () => number {
  let time = Date.now()
  return () => (time += 1_000)
}

/** FNV-1a in two lanes, of the length and both ends only: objects that differ do so there, and hashing megabytes would be slow. */
function hashOf(bytes: Uint8Array): string {
  let a = 0x811c9dc5 ^ bytes.length
  let b = 0x01000193
  for (const end of [bytes.subarray(0, 2_048), bytes.subarray(-256)]) {
    for (const byte of end) {
      a = Math.imul(a ^ byte, 0x01000193)
      b = Math.imul(b ^ byte, 0x85ebca6b) ^ (b >>> 13)
    }
  }
  return (a >>> 0).toString(16).padStart(8, "0") + (b >>> 0).toString(16).padStart(8, "0")
}
