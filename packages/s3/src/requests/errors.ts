/** Translates failures of the store to errors of the storage contract, with a sentence that says what to do. */
import { StorageError, type StorageErrorCode } from "@sessions/core/storage"
import type { Deps } from "../base/deps.ts"
import { ObjectStoreError, type StoreFailure } from "../object-store/object-store.ts"
import { ObjectChangedError } from "./open-object.ts"

export interface ErrorLocation {
  readonly session?: string | undefined
  /** The key. */
  readonly at?: string | undefined
}

/** `action` completes the sentence "Could not …". */
export function toStorageError(deps: Deps, error: unknown, action: string, location: ErrorLocation = {}): StorageError {
  if (error instanceof StorageError) return error
  if (error instanceof ObjectChangedError) {
    const message = `Could not ${action}: the object changed during each attempt to read it. Try again.`
    return storageError(deps, "unavailable", message, location)
  }
  const { code, advice } = error instanceof ObjectStoreError ? MEANINGS[error.failure] : MEANINGS.refused
  const reason = error instanceof Error ? error.message : String(error)
  const at = location.at ?? deps.description
  return storageError(deps, code, `Could not ${action} at ${at} (${reason}): ${advice}.`, location, error)
}

export function storageError(
  deps: Deps,
  code: StorageErrorCode,
  message: string,
  { session, at }: ErrorLocation = {},
  cause?: unknown,
): StorageError {
  return new StorageError(code, message, {
    storage: deps.description,
    ...(session !== undefined && { session }),
    ...(at !== undefined && { at }),
    cause,
  })
}

interface Meaning {
  readonly code: StorageErrorCode
  readonly advice: string
}

const MEANINGS: Readonly<Record<StoreFailure, Meaning>> = {
  precondition: { code: "unavailable", advice: "other writers use the same key; repeat the call" },
  busy: { code: "unavailable", advice: "other writers use the same key; repeat the call" },
  slow: { code: "unavailable", advice: "the store throttles requests; repeat the call later" },
  network: { code: "unavailable", advice: "the store cannot be reached; check the endpoint and the network" },
  server: { code: "unavailable", advice: "the store failed; repeat the call" },
  denied: {
    code: "misconfigured",
    advice:
      "the credentials lack a permission; they need s3:GetObject, s3:PutObject and s3:DeleteObject on the keys under the prefix, and s3:ListBucket on the bucket (without it S3 answers 403 for an object that does not exist)",
  },
  credentials: {
    code: "misconfigured",
    advice: "the store does not accept these credentials; give the client valid ones that have not expired",
  },
  bucket: {
    code: "misconfigured",
    advice: "this client finds no such bucket; create it, or correct `bucket` and the client's region or endpoint",
  },
  clock: { code: "misconfigured", advice: "this machine's clock is too far from the store's; set it" },
  quota: { code: "quota", advice: "the store is full; make room or raise the quota, and repeat the call" },
  unreachable: {
    code: "unavailable",
    advice: "nothing accepts this connection; correct the client's `endpoint`, or start the store",
  },
  configuration: {
    code: "misconfigured",
    advice:
      "nothing was sent; give the client a `region` and, for a store other than S3, its `endpoint` with https:// or http://",
  },
  foreign: {
    code: "unavailable",
    advice:
      "no store answers so; look at the client's `endpoint`, and at the proxy, gateway or sign-in page in front of it",
  },
  versioned: {
    code: "unsupported",
    advice:
      "the bucket is versioned, so it would keep what is replaced and deleted; use a bucket without versioning, or give it a lifecycle rule that expires noncurrent versions and set `allowVersions`",
  },
  checksum: {
    code: "misconfigured",
    advice:
      'the store sends the checksum of the whole object with a part of it; give the S3Client `responseChecksumValidation: "WHEN_REQUIRED"`',
  },
  range: {
    code: "corrupt",
    advice: "the object is shorter than it was written, so it was changed from outside; put back the object as it was",
  },
  archived: {
    code: "misconfigured",
    advice:
      "the object was moved to an archive; restore it, and except the prefix from the rule of the bucket that moves objects there",
  },
  redirected: {
    code: "unavailable",
    advice:
      "the name of a new bucket is not known everywhere yet; give the client the bucket's region, or wait some minutes",
  },
  refused: { code: "misconfigured", advice: "the store refused the request; its message says why" },
}
