/** Sends requests to a storage handler, and turns whatever comes back instead of its answer into the error that is true of the call. */
import { StorageError, type StorageErrorCode } from "@sessions/core/storage"
import { type ClientOptions, dropRedirect } from "../client-options.ts"
import { WRITE_ID } from "./protocol.ts"

export interface Ask {
  readonly method?: "GET" | "POST" | "PUT" | "DELETE"
  /** Encoded, from the first slash behind the URL of the handler. */
  readonly path: string
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: string | Uint8Array
  readonly type?: string
  /** A status beside success whose answer `read` gets. */
  readonly allow?: number
  readonly signal?: AbortSignal | undefined
}

export interface Requests {
  /** Resolves with what `read` makes of the handler's answer. Rejects with a {@link StorageError}. */
  readonly send: <T>(ask: Ask, read: (response: Response) => Promise<T>) => Promise<T>
  /** The answer as soon as it begins. Its body has no time limit. */
  readonly stream: (ask: Ask) => Promise<Response>
  /** Milliseconds without an answer, or without more of one, after which a request has failed. */
  readonly timeout: number
}

/** The codes that a handler's error keeps. The others are those of the handler's own storage object, such as `closed`. */
const KEPT: ReadonlySet<string> = new Set<StorageErrorCode>([
  "conflict",
  "indeterminate",
  "invalid",
  "unsupported",
  "corrupt",
  "quota",
  "unavailable",
  "misconfigured",
])

/** With these the request was not sent: the connection was refused, or the name is unknown. The first three are Node's, the last Bun's. */
const NOT_SENT: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "ConnectionRefused"])

export function createRequests(
  { url, headers = {}, credentials, fetch = globalThis.fetch }: ClientOptions,
  timeout: number,
): Requests {
  const newWriteId = createWriteIds()

  async function open(ask: Ask, signal: AbortSignal): Promise<Response> {
    const { method = "GET", body, type } = ask
    const own = typeof headers === "function" ? await headers() : headers
    const writes = method !== "GET"
    return fetch(urlOf(ask), {
      method,
      headers: {
        ...own,
        ...(type !== undefined && { "content-type": type }),
        ...(writes && { [WRITE_ID]: newWriteId() }),
      },
      ...(body !== undefined && { body: body as BodyInit }),
      ...(credentials !== undefined && { credentials }),
      // A redirect turns a POST into a GET, and would send the credentials to another place. It is refused below: workerd has no "error".
      redirect: "manual",
      signal,
    })
  }

  function urlOf({ path, query = {} }: Ask): string {
    return `${url}${path}${searchOf(query)}`
  }

  async function within<T>(ask: Ask, read: (response: Response) => Promise<T>): Promise<T> {
    const limit = new AbortController()
    const timer = setTimeout(() => limit.abort(new Error(`There was no answer within ${timeout} ms.`)), timeout)
    const signal = ask.signal === undefined ? limit.signal : AbortSignal.any([ask.signal, limit.signal])
    try {
      const response = await open(ask, signal)
      if (!response.ok && response.status !== ask.allow) throw await refusal(ask, response, { asked: urlOf(ask), url })
      return await read(response)
    } catch (error) {
      if (error instanceof StorageError) throw error
      throw lost(ask, error)
    } finally {
      clearTimeout(timer)
    }
  }

  return { send: within, stream: (ask) => within(ask, async (response) => response), timeout }
}

/** Numbers the writes of a client. Its part of the ids is random; pages without https have no `crypto.randomUUID`. */
function createWriteIds(): () => string {
  const client = crypto.getRandomValues(new Uint32Array(4)).join("-")
  let writes = 0
  return () => `${client}-${++writes}`
}

function searchOf(query: NonNullable<Ask["query"]>): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`
}

/** No answer, or only a part of one. A write may have been done. */
function lost(ask: Ask, cause: unknown): StorageError {
  const code =
    (cause as { readonly cause?: { readonly code?: unknown } }).cause?.code ?? (cause as { code?: unknown }).code
  if (!isWrite(ask) || NOT_SENT.has(code))
    return new StorageError("unavailable", `The server was not reached (${reasonOf(cause)}); repeat the call.`, {
      cause,
    })
  const message = `The answer of the server was lost (${reasonOf(cause)}), so the write may have happened; read what is there.`
  return new StorageError("indeterminate", message, { cause })
}

function reasonOf(cause: unknown): string {
  const { message, cause: inner } = cause as {
    readonly message?: unknown
    readonly cause?: { readonly message?: unknown }
  }
  return String(inner?.message ?? message ?? cause)
}

/** The error of an answer that is no success. Only the handler's own words say that a write was not done, or that it is refused. */
async function refusal(
  ask: Ask,
  response: Response,
  at: { readonly asked: string; readonly url: string },
): Promise<StorageError> {
  const { status } = response
  const redirect = await dropRedirect(response, at)
  if (redirect !== undefined)
    return isWrite(ask)
      ? new StorageError("indeterminate", `${redirect} The write may have happened; read there what is there.`)
      : new StorageError("unavailable", redirect)
  const error = await errorIn(response)
  if (error !== undefined && KEPT.has(error.code))
    return new StorageError(error.code as StorageErrorCode, error.message)
  if (status === 413) return new StorageError("invalid", error?.message ?? "The server refuses a body of this size.")
  if (status === 401 || status === 403)
    return new StorageError("unavailable", `The server refuses the credentials (${status}); check \`headers\`.`)
  if (status === 429 || (status === 503 && response.headers.has("retry-after")))
    return new StorageError("unavailable", `The server is busy (${status}); repeat the call later.`)
  if (isWrite(ask) && error === undefined)
    return new StorageError(
      "indeterminate",
      `A server on the way answered ${status}, so the write may have happened; read what is there.`,
    )
  if (isWrite(ask) && status >= 500)
    return new StorageError(
      "indeterminate",
      `The server failed (${status}), so the write may have happened; read what is there.`,
    )
  const hint = status < 500 ? `; check \`url\`${error === undefined ? "" : `: ${error.message}`}` : "; repeat the call"
  return new StorageError("unavailable", `The server answered ${status}${hint}.`)
}

/** The error in the body, if the handler wrote it. */
async function errorIn(response: Response): Promise<{ readonly code: string; readonly message: string } | undefined> {
  const body: unknown = await response.json().catch(() => undefined)
  const { code, message } =
    (body as { readonly error?: { readonly code?: unknown; readonly message?: unknown } })?.error ?? {}
  return typeof code === "string" && typeof message === "string" ? { code, message } : undefined
}

function isWrite({ method = "GET" }: Ask): boolean {
  return method !== "GET"
}
