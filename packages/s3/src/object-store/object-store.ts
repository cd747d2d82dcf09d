/**
 * What the adapter asks of an object store: five methods, all it ever calls. Implemented over the caller's `S3Client`; a store
 * with another client implements these.
 */
export interface ObjectStore {
  /** `undefined` where there is no such object, `"unchanged"` where it still has the ETag of `unless`. */
  get(key: string, o?: GetOptions): Promise<StoredObject | "unchanged" | undefined>
  /** Replaces the object as a whole, or creates it. */
  put(key: string, bytes: Uint8Array, o?: PutOptions): Promise<PutResult>
  head(key: string, o?: RequestOptions): Promise<ObjectInfo | undefined>
  /** A page of the objects whose keys start with the prefix, in the order of their keys; `next` is `after` of the next page. */
  list(prefix: string, o?: RequestOptions & { readonly after?: string }): Promise<ObjectPage>
  /** Of an object that is not there, too. */
  delete(key: string, o?: RequestOptions): Promise<void>
}

export interface RequestOptions {
  readonly signal?: AbortSignal
}

export interface GetOptions extends RequestOptions {
  /** Bytes from `from` up to, not including, `to`; beyond the end there is nothing. */
  readonly range?: { readonly from: number; readonly to?: number }
  /** An ETag without its quotes. */
  readonly unless?: string
}

export interface PutOptions extends RequestOptions {
  readonly condition?: PutCondition
}

/** Stores differ in how they want the ETag of a condition written; `"bare"` is without quotes. */
export type EtagForm = "quoted" | "bare"

export type PutCondition =
  | { readonly kind: "absent" }
  | { readonly kind: "match"; readonly etag: string; readonly form: EtagForm }

export interface PutResult {
  readonly etag: string
  /** The bucket keeps the version that this one replaced. */
  readonly versioned: boolean
}

export interface ObjectInfo {
  /** Without quotes. */
  readonly etag: string
  /** Of the whole object, in bytes. */
  readonly size: number
  /** Milliseconds since the epoch. */
  readonly lastModified: number
}

export interface StoredObject extends ObjectInfo {
  /** Bytes that `body` has when it comes whole. */
  readonly length: number
  readonly body: AsyncIterable<Uint8Array>
}

export interface ListedObject extends ObjectInfo {
  readonly key: string
}

export interface ObjectPage {
  readonly objects: readonly ListedObject[]
  readonly next?: string
}

/**
 * Why a request did not do what it should.
 *
 * - `precondition`: its condition did not hold (412), or the object it should match is not there.
 * - `busy`: another write of the same key was under way (409).
 * - `slow`: the store asks to be left in peace for a while (429, 503).
 * - `network`: no answer, or not in time. `server`: an answer that says nothing (5xx).
 * - `denied`, `credentials`, `bucket`, `clock`, `quota`: what their names say; `refused`: anything else.
 */
export type StoreFailure =
  | "precondition"
  | "busy"
  | "slow"
  | "network"
  | "server"
  | "denied"
  | "credentials"
  | "bucket"
  | "clock"
  | "quota"
  | "refused"

/** The one error that an {@link ObjectStore} rejects with. */
export class ObjectStoreError extends Error {
  readonly failure: StoreFailure
  /** The store itself said that it did not do it, and nothing of the request can still be under way. */
  readonly certain: boolean

  constructor(
    failure: StoreFailure,
    message: string,
    details: { readonly certain: boolean; readonly cause?: unknown },
  ) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = "ObjectStoreError"
    this.failure = failure
    this.certain = details.certain
  }
}
