/** Sends requests to a storage handler, and turns whatever comes back instead of its answer into the error that is true of the call. */
import { StorageError, type StorageErrorCode } from "@sessions/core/storage"
import { type ClientOptions, dropRedirect } from "../client-options.ts"
import { errorIn, isDenied, kindOf, REFUSED, senderOf } from "../provenance.ts"
import { startTimeLimit } from "../time-limit.ts"
import { createWriteIds, WRITE_ID } from "../write-id.ts"

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
  /** Of a write: whether what it would change is still as it was. */
  readonly isUndone?: () => Promise<boolean>
  /** It changes nothing that could be read, so after a lost answer it is sent again. */
  readonly changesNothing?: boolean
}

/** Reads the answer to a request, and calls `alive` with each piece of it. Throws if it is not the handler's. */
export type Read<T> = (response: Response, alive: () => void) => Promise<T>

export interface Requests {
  /** Resolves with what `read` makes of the handler's answer. Rejects with a {@link StorageError}. */
  readonly send: <T>(ask: Ask, read: Read<T>) => Promise<T>
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
  "too_large",
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

  async function send<T>(ask: Ask, read: Read<T>): Promise<T> {
    const { signal, alive, within, end } = startTimeLimit(timeout, ask.body?.length ?? 0, ask.signal)
    const answered = async (): Promise<T> => {
      const response = await open(ask, signal)
      alive()
      if (!response.ok && response.status !== ask.allow) throw await refusal(ask, response, { asked: urlOf(ask), url })
      return read(response, alive)
    }
    try {
      return await within(answered())
    } catch (error) {
      if (error instanceof StorageError) throw error
      throw lostConnectionError(ask, error)
    } finally {
      end()
    }
  }

  return { send, stream: (ask) => send(ask, async (response) => response), timeout }
}

function searchOf(query: NonNullable<Ask["query"]>): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]))
  return given.length === 0 ? "" : `?${new URLSearchParams(given)}`
}

/** No answer, or only a part of one. A write may have been done. */
function lostConnectionError(ask: Ask, cause: unknown): StorageError {
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
  // The handler's own failure, such as `internal`, leaves a write open as well.
  const isRefusal = (error !== undefined && status < 500) || response.headers.has(REFUSED)
  if (!isRefusal && isWrite(ask)) return openWrite(ask, response)
  const { code, text } = meaningOf(status)
  const message = error === undefined ? `${text}.` : `${text}: ${error.message}`
  return new StorageError(isDenied(response) ? "misconfigured" : code, message)
}

/** What a status means if nothing was written. */
function meaningOf(status: number): { readonly code: StorageErrorCode; readonly text: string } {
  if (status === 401 || status === 403)
    return {
      code: "unavailable",
      text: `The server refuses the credentials (${status}); check \`headers\`, and what they allow`,
    }
  if (status === 429 || status === 503)
    return { code: "unavailable", text: `The server is busy (${status}); repeat the call later` }
  if (status === 507) return { code: "quota", text: "The server has no space (507)" }
  const hint = status < 500 ? "check `url`" : "repeat the call"
  return { code: "unavailable", text: `The server answered ${status}; ${hint}` }
}

/** A server on the way has answered a write, in place of the handler or after it: whatever its status, the write may have happened. */
async function openWrite({ body, isUndone }: Ask, response: Response): Promise<StorageError> {
  const { status } = response
  // These have a way out of their own, so it is worth a look.
  const byStatus = status === 413 || status === 507
  if (byStatus && (await isUndone?.().catch(() => false)) === true)
    return status === 413
      ? new StorageError(
          "too_large",
          `${senderOf(response)} refuses a body of ${body?.length ?? 0} bytes (413), so its limit is lower: that of nginx is ` +
            "`client_max_body_size`, 1 MB by default. Raise it, or set `limits` of the handler below it. Nothing was written.",
        )
      : new StorageError("quota", `${meaningOf(status).text}; nothing was written.`)
  const message = `${senderOf(response)} answered ${kindOf(response)}, so the write may have happened; read what is there.`
  return new StorageError("indeterminate", message)
}

function isWrite({ method = "GET", changesNothing = false }: Ask): boolean {
  return method !== "GET" && !changesNothing
}
