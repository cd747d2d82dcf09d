/** Translates errors of the AWS SDK to {@link ObjectStoreError}. */
import { ObjectStoreError, type StoreFailure } from "./object-store.ts"

interface SdkError {
  readonly name?: string
  /** From the error document that a store sends, so it is missing if a proxy answered. */
  readonly Code?: unknown
  readonly message?: string
  /** Code of the system or the runtime, e.g. `ECONNREFUSED`. */
  readonly code?: unknown
  readonly $metadata?: { readonly httpStatusCode?: number; readonly attempts?: number }
}

export interface AnswerKind {
  /** Of a GET with a range. */
  readonly isPart?: boolean
}

export function toObjectStoreError(error: unknown, { isPart = false }: AnswerKind = {}): ObjectStoreError {
  if (error instanceof ObjectStoreError) return error
  const { name = "", message = "", code, $metadata } = (error ?? {}) as SdkError
  const status = statusOf(error)
  const isOfStore = status === undefined || hasDocument(error)
  const failure = failureOf(isOfStore ? name : "", status, isOfStore) ?? failureWithoutAnswer(message, code, isPart)
  // The SDK retries by itself. After a retry an earlier attempt may still arrive.
  const certain = isOfStore && !UNCERTAIN.has(failure) && ($metadata?.attempts ?? 1) === 1
  // Without a document, the SDK's message is about its parser.
  const said = isOfStore ? [name === "Unknown" ? "" : name, message] : ["without an error document"]
  const parts = [status, ...said].filter((part) => part !== undefined && part !== "")
  return new ObjectStoreError(failure, parts.join(" "), { certain, cause: error })
}

export function statusOf(error: unknown): number | undefined {
  return ((error ?? {}) as SdkError).$metadata?.httpStatusCode
}

/** Whether the store says that the object does not exist. A page of a proxy has the status alone. */
export function isMissingObject(error: unknown): boolean {
  return statusOf(error) === 404 && (error as SdkError).name === "NoSuchKey"
}

/** An answer with success that no store gives. */
export function foreignAnswer(lacks: string): ObjectStoreError {
  return new ObjectStoreError("foreign", `the answer has no ${lacks}`, { certain: false })
}

/** The SDK takes the name of an error from the document as well. */
function hasDocument(error: unknown): boolean {
  const { name = "", Code } = error as SdkError
  return typeof Code === "string" || name === "NoSuchKey" || Object.hasOwn(BY_NAME, name)
}

const UNCERTAIN: ReadonlySet<StoreFailure> = new Set(["network", "server", "foreign"])

/** Error codes of S3, which compatible stores share. */
const BY_NAME: Readonly<Record<string, StoreFailure>> = {
  NoSuchBucket: "bucket",
  PermanentRedirect: "bucket",
  AuthorizationHeaderMalformed: "bucket",
  InvalidBucketName: "bucket",
  TemporaryRedirect: "redirected",
  RequestTimeTooSkewed: "clock",
  RequestExpired: "clock",
  InvalidAccessKeyId: "credentials",
  SignatureDoesNotMatch: "credentials",
  ExpiredToken: "credentials",
  ExpiredTokenException: "credentials",
  InvalidToken: "credentials",
  CredentialsProviderError: "credentials",
  QuotaExceeded: "quota",
  ServiceQuotaExceeded: "quota",
  InsufficientStorage: "quota",
  InvalidObjectState: "archived",
  // Of a request that was cut off or changed on the way.
  RequestTimeout: "network",
  IncompleteBody: "network",
  BadDigest: "network",
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

function failureWithoutAnswer(message: string, code: unknown, isPart: boolean): StoreFailure {
  if (UNREACHABLE.has(code)) return "unreachable"
  // The SDK throws these before it sends anything, as plain errors.
  if (code === "ERR_INVALID_URL" || /^(Region is missing|Region not accepted|Invalid URL)/.test(message))
    return "configuration"
  // The SDK compares what has come with the checksum that the store has sent. Of a whole object it is wrong if bytes were changed on the way.
  if (isPart && message.startsWith("Checksum mismatch")) return "checksum"
  return "network"
}

/** Undefined without an answer. */
function failureOf(name: string, status: number | undefined, isOfStore: boolean): StoreFailure | undefined {
  const known = BY_NAME[name]
  if (known !== undefined || status === undefined) return known
  // A failed condition needs no proof: the object is read again.
  if (status === 412) return "precondition"
  if (status === 429) return "slow"
  if (status === 408) return "network"
  if (!isOfStore) return status >= 500 ? "server" : "foreign"
  // The object to match does not exist.
  if (status === 404) return name === "NoSuchKey" ? "precondition" : "refused"
  if (status === 409) return "busy"
  if (status === 416) return "range"
  if (status === 403 || status === 401) return "denied"
  if (status === 507) return "quota"
  return status >= 500 ? "server" : "refused"
}
