/** Translates errors of the AWS SDK to {@link ObjectStoreError}. */
import { ObjectStoreError, type StoreFailure } from "./object-store.ts"

interface SdkError {
  readonly name?: string
  readonly message?: string
  /** Of the system or the runtime, e.g. `ECONNREFUSED`. */
  readonly code?: unknown
  readonly $metadata?: { readonly httpStatusCode?: number; readonly attempts?: number }
}

export function toObjectStoreError(error: unknown): ObjectStoreError {
  if (error instanceof ObjectStoreError) return error
  const { name = "", message = "", code, $metadata } = (error ?? {}) as SdkError
  const status = statusOf(error)
  const failure = failureOf(name, status) ?? failureWithoutAnswer(message, code)
  // The SDK retries by itself. After a retry an earlier attempt may still arrive.
  const certain = !UNCERTAIN.has(failure) && ($metadata?.attempts ?? 1) === 1
  const parts = [status, name === "Unknown" ? "" : name, message].filter((part) => part !== undefined && part !== "")
  return new ObjectStoreError(failure, parts.join(" "), { certain, cause: error })
}

export function statusOf(error: unknown): number | undefined {
  return ((error ?? {}) as SdkError).$metadata?.httpStatusCode
}

export function isMissingObject(error: unknown): boolean {
  return statusOf(error) === 404 && (error as SdkError).name !== "NoSuchBucket"
}

const UNCERTAIN: ReadonlySet<StoreFailure> = new Set(["network", "server"])

/** Error codes of S3, which compatible stores share. */
const BY_NAME: Readonly<Record<string, StoreFailure>> = {
  NoSuchBucket: "bucket",
  PermanentRedirect: "bucket",
  AuthorizationHeaderMalformed: "bucket",
  RequestTimeTooSkewed: "clock",
  InvalidAccessKeyId: "credentials",
  SignatureDoesNotMatch: "credentials",
  ExpiredToken: "credentials",
  InvalidToken: "credentials",
  CredentialsProviderError: "credentials",
  QuotaExceeded: "quota",
  ServiceQuotaExceeded: "quota",
  InsufficientStorage: "quota",
  EntityTooLarge: "refused",
  NotImplemented: "refused",
  SlowDown: "slow",
  ServiceUnavailable: "slow",
  TooManyRequests: "slow",
  ThrottlingException: "slow",
}

/** Errors of Node and of Bun at a wrong endpoint. The SDK has tried three times by then. */
const UNREACHABLE: ReadonlySet<unknown> = new Set([
  "ECONNREFUSED",
  "ConnectionRefused",
  "ENOTFOUND",
  "EPROTO",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "CERT_HAS_EXPIRED",
])

function failureWithoutAnswer(message: string, code: unknown): StoreFailure {
  if (UNREACHABLE.has(code)) return "unreachable"
  // The SDK throws these before it sends anything, as plain errors.
  if (code === "ERR_INVALID_URL" || /^(Region is missing|Region not accepted|Invalid URL)/.test(message))
    return "configuration"
  return "network"
}

/** Undefined without an answer of the store. */
function failureOf(name: string, status: number | undefined): StoreFailure | undefined {
  const known = BY_NAME[name]
  if (known !== undefined || status === undefined) return known
  if (status === 412 || status === 404) return "precondition"
  if (status === 409) return "busy"
  if (status === 429) return "slow"
  if (status === 403 || status === 401) return "denied"
  if (status === 507) return "quota"
  if (status === 408) return "network"
  return status >= 500 ? "server" : "refused"
}
