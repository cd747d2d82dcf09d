/** Sends requests to a session handler, and tells its answers from those of other servers. Repeats only what has the same effect once or twice. */
import { bytesOf } from "../bytes.ts"
import { type ClientOptions, dropRedirect, handlerUrl } from "../client-options.ts"
import { errorIn, isDenied, kindOf, REFUSED, senderOf } from "../provenance.ts"
import { pauseFor } from "../pause.ts"
import { DEFAULT_TIMEOUT, isTimeout, startTimeLimit, type TimeLimit } from "../time-limit.ts"
import { createWriteIds, WRITE_ID } from "../write-id.ts"
import { SessionApiError } from "./api-error.ts"

export interface SessionClientOptions extends ClientOptions {
  /** Milliseconds without an answer, or without more of one, after which a request has failed. Default 60,000. */
  readonly timeout?: number
}

export interface CallSignal {
  readonly signal?: AbortSignal
}

export interface ApiRequest extends CallSignal {
  /** JSON. */
  readonly body?: string | undefined
  readonly accept?: string
}

export interface ApiCall<T> extends CallSignal {
  readonly body?: unknown
  /** Whether it is sent again until there is an answer. */
  readonly repeats: boolean
  /** Whether JSON with the status of success is the handler's answer. */
  readonly is: (value: Partial<T>) => unknown
}

/** Why there is no answer of the handler's, or the refusal in it. */
export interface Failure {
  readonly error: SessionApiError
  /** Whether the same request may be answered otherwise later. */
  readonly passes: boolean
  /** Whether another server has answered, with a status that is not one of a failure that passes by itself. */
  readonly isForeign: boolean
  /** Milliseconds that the answer asks to wait. */
  readonly retryAfter: number
}

export interface ApiRequests {
  readonly send: (method: string, path: string, o?: ApiRequest) => Promise<Response>
  /** Begins to limit the time of a request, whose server may wait for `more` milliseconds before it answers. */
  readonly limit: (o: ApiRequest, more?: number) => TimeLimit
  readonly call: <T>(method: string, path: string, o: ApiCall<T>) => Promise<T>
  /** The failure of an answer that is not the one that was asked for. */
  readonly failureOf: (method: string, path: string, answer: Response) => Promise<Failure>
}

/** Attempts of a call that may be repeated, and the pauses between them. */
const ATTEMPTS = 5
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 15_000

export function createApiRequests(options: SessionClientOptions): ApiRequests {
  const { fetch = globalThis.fetch.bind(globalThis), headers = {}, credentials, timeout = DEFAULT_TIMEOUT } = options
  const url = checkedUrl(options)
  const base = `${url}/sessions`
  const newWriteId = createWriteIds()
  if (!isTimeout(timeout))
    throw invalid("createSessionClient: `timeout` must be a whole number of milliseconds above 0.")

  const limit: ApiRequests["limit"] = ({ body, signal }, more = 0) =>
    startTimeLimit(timeout + more, body?.length ?? 0, signal)

  async function send(method: string, path: string, o: ApiRequest = {}): Promise<Response> {
    const { body, signal, accept = "application/json" } = o
    const given = typeof headers === "function" ? await headers() : headers
    const writes = method !== "GET"
    return fetch(`${base}${path}`, {
      method,
      headers: {
        ...given,
        accept,
        ...(writes && { [WRITE_ID]: newWriteId() }),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      // Only what is given: workerd has no credentials.
      ...(credentials !== undefined && { credentials }),
      cache: "no-store",
      redirect: "manual",
      ...(body !== undefined && { body }),
      ...(signal !== undefined && { signal }),
    })
  }

  async function failureOf(method: string, path: string, answer: Response): Promise<Failure> {
    const { status } = answer
    const retryAfter = waitOf(answer)
    const redirect = await dropRedirect(answer, { asked: `${base}${path}`, url })
    const own = redirect === undefined ? await errorIn(answer) : { code: "failed", message: redirect }
    if (own !== undefined) {
      const isBusy = status === 408 || (status >= 502 && status <= 504) || own.code === "too_many_requests"
      const passes = redirect === undefined && isBusy
      // A host may have a code of its own for it.
      const code = own.code === "forbidden" && isDenied(answer) ? "misconfigured" : own.code
      return { error: new SessionApiError(code, own.message, { status }), passes, isForeign: false, retryAfter }
    }
    if (answer.headers.has(REFUSED)) {
      const [code, hint] = isDenied(answer)
        ? ["misconfigured", "; check `headers`, and what they allow"]
        : ["failed", ""]
      const error = new SessionApiError(code, `The server refuses the request (${status})${hint}.`, { status })
      return { error, passes: false, isForeign: false, retryAfter }
    }
    const isFailure = status >= 500 || status === 408
    const hint = isFailure || status === 429 ? "" : "; check `url` and `headers`"
    const message = `${senderOf(answer)} answered ${kindOf(answer)} in place of the session API${hint}.`
    const error = new SessionApiError(codeOf(method, status), message, { status })
    return { error, passes: status !== 401, isForeign: !isFailure, retryAfter }
  }

  async function attempt<T>(method: string, path: string, o: ApiCall<T>): Promise<{ readonly value: T } | Failure> {
    let answer: Response
    let text: string
    const body = o.body === undefined ? undefined : JSON.stringify(o.body)
    const { signal, alive, within, end } = limit({ ...o, body })
    try {
      answer = await within(send(method, path, { body, signal }))
      if (!answer.ok) return await within(failureOf(method, path, answer))
      text = new TextDecoder().decode(await within(bytesOf(answer, alive)))
    } catch (cause) {
      if (o.signal?.aborted === true) throw new SessionApiError("aborted", "The call was aborted.", { cause })
      const error = new SessionApiError(codeOf(method, undefined), `${method} ${path} got no answer.`, { cause })
      return { error, passes: true, isForeign: false, retryAfter: 0 }
    } finally {
      end()
    }
    const value = parsed(text) as Partial<T> | undefined
    if (typeof value === "object" && value !== null && o.is(value) === true) return { value: value as T }
    return failureOf(method, path, answer)
  }

  async function call<T>(method: string, path: string, o: ApiCall<T>): Promise<T> {
    for (let n = 1; ; n++) {
      const result = await attempt(method, path, o)
      if ("value" in result) return result.value
      const { error, passes, retryAfter } = result
      if (!o.repeats || n === ATTEMPTS || !passes) throw error
      await pause(n, o.signal, Math.min(retryAfter, LONGEST_PAUSE_MS))
    }
  }

  return { send, limit, call, failureOf }
}

function checkedUrl({ url }: ClientOptions): string {
  const handler = handlerUrl(url)
  if (handler !== undefined) return handler
  throw invalid('createSessionClient: `url` must be that of a session handler, such as "https://example.com/api".')
}

function invalid(message: string): SessionApiError {
  return new SessionApiError("invalid", message)
}

/** Of an answer that is not the handler's, or of none. Only what reads has certainly changed nothing. */
function codeOf(method: string, status: number | undefined): string {
  if (method !== "GET") return "indeterminate"
  if (status === 507) return "quota"
  return status === undefined || status >= 500 || status === 408 || status === 429 ? "unavailable" : "failed"
}

/** What `Retry-After` asks for: a number of seconds, or a time. */
function waitOf({ headers }: Response): number {
  const text = headers.get("retry-after") ?? ""
  const ms = /^\d+$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now()
  return ms > 0 ? ms : 0
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Longer at each attempt, with jitter; at least `asked`. Ends early when the signal fires. */
export function pause(attempt: number, signal: AbortSignal | undefined, asked = 0): Promise<void> {
  const most = Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), LONGEST_PAUSE_MS)
  return pauseFor(Math.max(asked, most / 2 + (Math.random() * most) / 2), signal)
}
