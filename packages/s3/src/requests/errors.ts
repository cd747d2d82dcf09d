/** What a failure of the store means to a caller of the storage, with a sentence that says what to do. */
import { StorageError } from "@sessions/core/storage"
import type { StorageErrorCode } from "@sessions/core/storage"
import type { Environment } from "../base/deps.ts"
import { ChangedObject } from "./open-object.ts"
import type { StoreFailure } from "../object-store/object-store.ts"
import { ObjectStoreError } from "../object-store/object-store.ts"

export interface ErrorPlace {
  readonly session?: string | undefined
  /** The key. */
  readonly at?: string | undefined
}

export function toStorageError(env: Environment, error: unknown, what: string, place: ErrorPlace = {}): StorageError {
  if (error instanceof StorageError) return error
  if (error instanceof ChangedObject) {
    return storageError(
      env,
      "unavailable",
      `The object changed each time while it was read to ${what}. Try again.`,
      place,
    )
  }
  const { code, advice } = meaningOf(error)
  const at = place.at ?? env.description
  return storageError(env, code, `Could not ${what} at ${at} (${messageOf(error)}): ${advice}.`, place, error)
}

export function storageError(
  env: Environment,
  code: StorageErrorCode,
  message: string,
  { session, at }: ErrorPlace = {},
  cause?: unknown,
): StorageError {
  return new StorageError(code, message, {
    storage: env.description,
    ...(session !== undefined && { session }),
    ...(at !== undefined && { at }),
    cause,
  })
}

function meaningOf(error: unknown): Meaning {
  return error instanceof ObjectStoreError ? MEANINGS[error.failure] : MEANINGS.refused
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

interface Meaning {
  readonly code: StorageErrorCode
  readonly advice: string
}

const MEANINGS: Readonly<Record<StoreFailure, Meaning>> = {
  precondition: { code: "unavailable", advice: "others write there at the same time; repeat the call" },
  busy: { code: "unavailable", advice: "others write there at the same time; repeat the call" },
  slow: { code: "unavailable", advice: "the store asks for fewer requests; repeat the call later" },
  network: { code: "unavailable", advice: "the store cannot be reached; look at the endpoint and the network" },
  server: { code: "unavailable", advice: "the store failed; repeat the call" },
  denied: {
    code: "unavailable",
    advice:
      "these credentials may not do that; they need s3:GetObject, s3:PutObject and s3:DeleteObject on the keys under the prefix, and s3:ListBucket on the bucket (without it S3 refuses to say that an object is not there)",
  },
  credentials: {
    code: "unavailable",
    advice: "the store does not accept these credentials; give the client valid ones that have not expired",
  },
  bucket: {
    code: "unavailable",
    advice:
      "there is no such bucket for this client; create it, or correct `bucket` and the client's region or endpoint",
  },
  clock: { code: "unavailable", advice: "this machine's clock is too far from the store's; set it" },
  quota: { code: "quota", advice: "the store has no room for it; make room or raise the quota, and repeat the call" },
  refused: { code: "unavailable", advice: "the store refused it; its message says why" },
}
