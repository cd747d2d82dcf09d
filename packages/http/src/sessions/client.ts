/** `createSessionClient`: the session API as functions, for pages and programs. Repeats only what has the same effect once or twice. */
import { createIds } from "@sessions/core/format"
import type { Entry, SessionContext, SessionInfo } from "@sessions/core"
import { type ClientOptions, dropRedirect } from "../client-options.ts"
import { readEvents } from "../read-events.ts"
import type {
  AnsweredError,
  DeleteAnswer,
  EventPage,
  LoadedSession,
  NewPrompt,
  NewSession,
  PromptAnswer,
  SessionEvent,
  SessionFilter,
  SessionList,
  StopAnswer,
} from "./types.ts"

/** A call that the server has refused, or that got no answer. `hasCode` of `@sessions/core` works on it. */
export class SessionApiError extends Error {
  /**
   * The code of the answer: one of `@sessions/core`, or `forbidden`, `too_many_prompts`, `failed` … Without an answer: `unavailable` if the
   * call may be repeated, else `indeterminate`; `aborted` if its signal has fired.
   */
  readonly code: string
  /** Of the answer; undefined if there was none. */
  readonly status: number | undefined

  constructor(code: string, message: string, o: { readonly status?: number; readonly cause?: unknown } = {}) {
    super(message, o.cause === undefined ? undefined : { cause: o.cause })
    this.name = "SessionApiError"
    this.code = code
    this.status = o.status
  }
}

export interface CallSignal {
  readonly signal?: AbortSignal
}

export interface SessionClient {
  /** The server makes the id. Never repeated: without an answer it is `indeterminate` whether there is a new session. */
  create(session?: NewSession, o?: CallSignal): Promise<{ readonly id: string; readonly info: SessionInfo }>
  list(filter?: SessionFilter, o?: CallSignal): Promise<SessionList>
  /** The information and the newest messages; `before` of a page gets the one before it. */
  load(id: string, page?: { readonly before?: string; readonly limit?: number }, o?: CallSignal): Promise<LoadedSession>
  context(id: string, o?: CallSignal & { readonly window?: number }): Promise<SessionContext>
  rename(id: string, title: string | null, o?: CallSignal): Promise<{ readonly info: SessionInfo }>
  delete(id: string, o?: CallSignal): Promise<DeleteAnswer>
  /**
   * Resolves when the prompt is stored, and will run. Repeated until there is an answer, with the same id, which is made here unless it is
   * given. Send a prompt again, with its id, after an error without a `status`.
   */
  prompt(id: string, prompt: Omit<NewPrompt, "id"> & { readonly id?: string }, o?: CallSignal): Promise<PromptAnswer>
  stop(id: string, messageId: string, o?: CallSignal): Promise<StopAnswer>
  /**
   * The events of a session from a cursor on, else from the first connection on, until it is deleted or the signal fires. Connects again by
   * itself and goes on behind the last event: each line of the log and each `turn_end` is given once. Rejects if the server refuses, such as `not_found`.
   */
  events(id: string, o?: EventsOptions): AsyncIterable<SessionEvent>
}

export interface EventsOptions extends CallSignal {
  /** `cursor` of `load` or of an event. */
  readonly after?: string
  /** False asks for pages of events, for a network that does not let streams through. Default true. */
  readonly stream?: boolean
}

/** Attempts of a call that may be repeated, and the pauses between them. */
const ATTEMPTS = 5
const FIRST_PAUSE_MS = 250
const LONGEST_PAUSE_MS = 15_000
/** Seconds that a request for a page of events waits: below the 30 s after which some proxies close a silent connection. */
const WAIT_S = 25

export function createSessionClient(options: ClientOptions): SessionClient {
  const { url, fetch = globalThis.fetch.bind(globalThis), headers = {}, credentials } = options
  const handler = url.replace(/\/$/, "")
  const base = `${handler}/sessions`
  const newId = createIds()

  async function request(method: string, path: string, o: Request = {}): Promise<Response> {
    const { body, signal, accept = "application/json" } = o
    const given = typeof headers === "function" ? await headers() : headers
    return fetch(`${base}${path}`, {
      method,
      headers: { ...given, accept, ...(body !== undefined && { "content-type": "application/json" }) },
      // Only what is given: workerd has no credentials.
      ...(credentials !== undefined && { credentials }),
      cache: "no-store",
      redirect: "manual",
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    })
  }

  const at = (path: string) => ({ asked: `${base}${path}`, url: handler })

  /** Once, or with `repeats` until there is an answer. */
  async function call<T>(method: string, path: string, o: Request & { readonly repeats: boolean }): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      let failure: { readonly error: SessionApiError; readonly retryAfter?: string | null }
      try {
        const answer = await request(method, path, o)
        if (answer.ok) return (await answer.json()) as T
        failure = { error: await refusalOf(answer, at(path)), retryAfter: answer.headers.get("retry-after") }
      } catch (cause) {
        if (o.signal?.aborted === true) throw new SessionApiError("aborted", "The call was aborted.", { cause })
        const code = o.repeats ? "unavailable" : "indeterminate"
        failure = { error: new SessionApiError(code, `${method} ${path} got no answer.`, { cause }) }
      }
      const { error } = failure
      if (!o.repeats || attempt === ATTEMPTS || !mayPass(error)) throw error
      await pause(attempt, o.signal, failure.retryAfter)
    }
  }

  async function* events(id: string, o: EventsOptions = {}): AsyncGenerator<SessionEvent, void, undefined> {
    const { signal, stream = true } = o
    const place: Place = { cursor: o.after, queue: undefined }
    for (let attempt = 1; !isAborted(signal); ) {
      let got: readonly SessionEvent[] | ReadableStream<Uint8Array>
      try {
        got = await connect(id, place, { signal, stream })
      } catch (error) {
        if (isAborted(signal)) return
        if (error instanceof SessionApiError && !mayPass(error)) throw error
        await pause(attempt++, signal)
        continue
      }
      try {
        for await (const event of Array.isArray(got) ? got : parsed(got as ReadableStream<Uint8Array>, signal)) {
          attempt = 1
          place.cursor = event.cursor
          if (event.event === "state") place.queue = event.data.queue
          yield event
          if (event.event === "deleted") return
        }
      } catch (error) {
        if (!(error instanceof BrokenStream)) throw error
      }
      if (stream) await pause(attempt++, signal)
    }
  }

  async function connect(
    id: string,
    { cursor, queue }: Place,
    { signal, stream }: { readonly signal: AbortSignal | undefined; readonly stream: boolean },
  ): Promise<readonly SessionEvent[] | ReadableStream<Uint8Array>> {
    const query = search({ after: cursor, ...(stream ? {} : { wait: WAIT_S, queue }) })
    const path = `/${encodeURIComponent(id)}/events${query}`
    const answer = await request("GET", path, {
      ...(signal !== undefined && { signal }),
      ...(stream && { accept: "text/event-stream" }),
    })
    if (!answer.ok) throw await refusalOf(answer, at(path))
    if (stream && answer.body !== null) return answer.body
    return ((await answer.json()) as EventPage).events
  }

  return {
    create: (session = {}, o) => call("POST", "", { ...o, body: session, repeats: false }),
    list: (filter = {}, o) => call("GET", search(filter), { ...o, repeats: true }),
    load: (id, page = {}, o) => call("GET", `${pathOf(id)}${search(page)}`, { ...o, repeats: true }),
    context: (id, { window, ...o } = {}) =>
      call("GET", `${pathOf(id)}/context${search({ window })}`, { ...o, repeats: true }),
    rename: (id, title, o) => call("PATCH", pathOf(id), { ...o, body: { title }, repeats: false }),
    delete: (id, o) => call("DELETE", pathOf(id), { ...o, repeats: false }),
    prompt: (id, prompt, o) =>
      call("POST", `${pathOf(id)}/prompts`, { ...o, body: { ...prompt, id: prompt.id ?? newId() }, repeats: true }),
    stop: (id, messageId, o) =>
      call("DELETE", `${pathOf(id)}/prompts/${encodeURIComponent(messageId)}`, { ...o, repeats: true }),
    events,
  }
}

interface Request extends CallSignal {
  readonly body?: unknown
  readonly accept?: string
}

/** Where the events go on. */
interface Place {
  cursor: string | undefined
  queue: string | undefined
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}

function pathOf(id: string): string {
  return `/${encodeURIComponent(id)}`
}

function search(query: object): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  return given.length === 0
    ? ""
    : `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()}`
}

/** The connection broke within the stream; what came before it is whole. */
class BrokenStream extends Error {}

async function* parsed(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<SessionEvent, void, undefined> {
  const received = readEvents(body, signal)[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await received.next().catch((cause: unknown) => {
        throw new BrokenStream("The stream of events broke.", { cause })
      })
      if (next.done === true) return
      const { event, id = "", data } = next.value
      yield {
        event,
        cursor: id,
        data: JSON.parse(data) as { readonly entries?: readonly Entry[] },
      } as unknown as SessionEvent
    }
  } finally {
    await received.return(undefined)
  }
}

async function refusalOf(
  answer: Response,
  at: { readonly asked: string; readonly url: string },
): Promise<SessionApiError> {
  const { status } = answer
  const redirect = await dropRedirect(answer, at)
  if (redirect !== undefined) return new SessionApiError(NOT_THE_HANDLER, redirect, { status })
  const body = (await answer.json().catch(() => undefined)) as { readonly error?: AnsweredError } | undefined
  const { code = NOT_THE_HANDLER, message = `The server answered ${status}.` } = body?.error ?? {}
  return new SessionApiError(code, message, { status })
}

/** The code of an answer that has none: a server on the way sent it. */
const NOT_THE_HANDLER = "failed"

/** Whether the same call may be answered otherwise later. A full queue is not waited for: that may take as long as a turn. */
function mayPass({ status, code }: SessionApiError): boolean {
  if (status === undefined || status === 408 || (status >= 502 && status <= 504)) return true
  return status >= 500 && code === NOT_THE_HANDLER
}

/** Longer at each attempt, with jitter; at least as long as the server asks for. Ends early when the signal fires. */
function pause(attempt: number, signal: AbortSignal | undefined, retryAfter?: string | null): Promise<void> {
  const most = Math.min(FIRST_PAUSE_MS * 2 ** (attempt - 1), LONGEST_PAUSE_MS)
  const asked = Math.min(Number(retryAfter ?? 0) * 1_000 || 0, LONGEST_PAUSE_MS)
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", done)
      resolve()
    }
    const timer = setTimeout(done, Math.max(asked, most / 2 + (Math.random() * most) / 2))
    signal?.addEventListener("abort", done)
    if (signal?.aborted === true) done()
  })
}
