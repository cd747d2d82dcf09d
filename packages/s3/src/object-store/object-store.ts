/**
 * The five methods of an object store that the adapter uses. `createS3ObjectStore` implements them over an `S3Client`; implement
 * them yourself to use another client. Every method rejects with an {@link ObjectStoreError} only, and believes an answer only if it can
 * be the store's: a proxy may answer any request with any status and page, in place of the store or after it. Such an answer is `foreign`.
 */
export interface ObjectStore {
  /** `undefined` if the store says that the object does not exist, `"unchanged"` if it still has the ETag given as `unless`. */
  get(key: string, o?: GetOptions): Promise<StoredObject | "unchanged" | undefined>
  /** Creates the object or replaces all of it. Rejects with `precondition` if the condition does not hold. */
  put(key: string, bytes: Uint8Array, o?: PutOptions): Promise<PutResult>
  head(key: string, o?: RequestOptions): Promise<ObjectInfo | undefined>
  /** One page of the objects whose keys start with `prefix`, in ascending order of keys. Pass `next` as `after` to get the next page. */
  list(prefix: string, o?: RequestOptions & { readonly after?: string }): Promise<ObjectPage>
  /**
   * Succeeds if the object does not exist. Rejects with `precondition` if the condition does not hold. A store without conditional
   * deletes may ignore it: the storage finds that out before it relies on it.
   */
  delete(key: string, o?: DeleteOptions): Promise<void>
  /**
   * Names the store and the bucket as no other, after the first request: sessions keep under it that conditional writes were proven, and
   * their copies elsewhere are proven anew. Default: the `name` of the storage.
   */
  place?(): Promise<string>
}

export interface RequestOptions {
  readonly signal?: AbortSignal
}

export interface GetOptions extends RequestOptions {
  /** Bytes from `from` up to, not including, `to`; clipped to the object. Rejects with `range` if it ends at or before `from`. */
  readonly range?: { readonly from: number; readonly to?: number }
  /** An ETag without its quotes. */
  readonly unless?: string
}

export interface PutOptions extends RequestOptions {
  readonly condition?: PutCondition
}

export interface DeleteOptions extends RequestOptions {
  readonly condition?: Extract<PutCondition, { kind: "match" }>
}

/** How the ETag of a condition is written: stores differ. `"bare"` is without quotes. */
export type EtagForm = "quoted" | "bare"

export type PutCondition =
  | { readonly kind: "absent" }
  | { readonly kind: "match"; readonly etag: string; readonly form: EtagForm }

export interface PutResult {
  readonly etag: string
  /** The bucket is versioned: it keeps the object that this one replaced. */
  readonly versioned: boolean
}

export interface ObjectInfo {
  /** Without quotes. */
  readonly etag: string
  /** Bytes of the whole object. */
  readonly size: number
  /** Milliseconds since the epoch. */
  readonly lastModified: number
  /** The answer shows that the bucket is versioned (`x-amz-version-id`). Missing in a listing, which does not show it. */
  readonly versioned?: boolean
}

export interface StoredObject extends ObjectInfo {
  /** Bytes of the complete `body`. */
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
 * Why a request failed.
 *
 * - `precondition`: its condition did not hold (412), or the object to match does not exist.
 * - `busy`: another write to the same key was in progress (409).
 * - `slow`: the store throttles (429, 503).
 * - `network`: no answer, or none in time.
 * - `server`: an internal error of the store (5xx).
 * - `denied`: the credentials lack a permission. `credentials`: they are wrong or expired.
 * - `bucket`: no such bucket. `clock`: this machine's clock is too far off. `quota`: the store is full.
 * - `unreachable`: no store accepts connections at the endpoint. `configuration`: the client lacks a region, or has an invalid endpoint.
 * - `foreign`: no store gives such an answer: a proxy, a gateway or a sign-in page gave it, before or after the request was done.
 * - `versioned`: the bucket is versioned, which the storage does not allow; the storage itself refuses its writes.
 * - `checksum`: with a part of an object came the checksum of all of it.
 * - `range`: the object ends before the range that was asked for (416).
 * - `archived`: the object is in a class of storage that is not read at once. `redirected`: the bucket is new, and its name not known
 *   everywhere yet.
 * - `refused`: anything else.
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
  | "unreachable"
  | "configuration"
  | "foreign"
  | "versioned"
  | "checksum"
  | "range"
  | "archived"
  | "redirected"
  | "refused"

/** The only error that an {@link ObjectStore} rejects with. */
export class ObjectStoreError extends Error {
  readonly failure: StoreFailure
  /** The store itself rejected the request, and no copy of it can still arrive. */
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
