/** Follows the events of a session: connects again behind the last event, and never more often than a server can bear. */
import { bytesOf } from "../bytes.ts"
import { readEvents, SilentStream } from "../read-events.ts"
import { SessionApiError } from "./api-error.ts"
import { type ApiRequests, type CallSignal, type Failure, pause } from "./requests.ts"
import { search } from "./search.ts"
import type { EventPage, SessionEvent } from "./types.ts"

export interface EventsOptions extends CallSignal {
  /** `cursor` of `load` or of an event. */
  readonly after?: string
  /** False asks for pages of events, for a network that does not let streams through. Default true. */
  readonly stream?: boolean
}

/** Seconds that a request for a page of events waits: below the 30 s after which some proxies close a silent connection. */
const WAIT_S = 25
/** Answers of other servers in a row, such as a page or a 404 of a proxy that restarts: about 30 s with the pauses between them. */
const FOREIGN_ATTEMPTS = 8
/** The longest that an answer may make it wait. */
const LONGEST_WAIT_MS = 60_000
/** A connection that ends sooner, with nothing but the state, is one that the next one will not be better than. */
const LASTED_MS = 5_000
/** The state is sent at once. */
const SILENT_MS = 15_000
/** Streams in a row of which nothing has arrived. */
const SILENT_ATTEMPTS = 2

/** Where the events go on. */
interface Place {
  cursor: string | undefined
  queue: string | undefined
}

export async function* follow(
  requests: ApiRequests,
  id: string,
  { signal, after, stream = true }: EventsOptions,
): AsyncGenerator<SessionEvent, void, undefined> {
  const place: Place = { cursor: after, queue: undefined }
  let attempt = 1
  let foreign = 0
  let silent = 0
  while (!isAborted(signal)) {
    const got = await connect(requests, id, place, { signal, stream })
    if (isAborted(signal)) return
    if ("error" in got) {
      if (got.isForeign) foreign++
      if (!got.passes || foreign === FOREIGN_ATTEMPTS) throw got.error
      await pause(attempt++, signal, Math.min(got.retryAfter, LONGEST_WAIT_MS))
      continue
    }
    foreign = 0
    const began = Date.now()
    let news = false
    try {
      for await (const event of "events" in got ? got.events : parsed(got.body, signal)) {
        silent = 0
        place.cursor = event.cursor
        if (event.event === "state") place.queue = event.data.queue
        else news = true
        yield event
        if (event.event === "deleted") return
      }
    } catch (error) {
      if (!(error instanceof BrokenStream)) throw error
      if (error.cause instanceof SilentStream && ++silent === SILENT_ATTEMPTS) throw heldBack()
    }
    const counts = news || Date.now() - got.asked >= LASTED_MS || Date.now() - began >= LASTED_MS
    if (counts) attempt = 1
    if (stream || !counts) await pause(attempt++, signal)
  }
}

type Connected = { readonly asked: number } & (
  | { readonly events: readonly SessionEvent[] }
  | { readonly body: ReadableStream<Uint8Array> }
)

/** The events, or why there are none. A stream is one only with its type: a page may have the status of success. */
async function connect(
  { send, limit, failureOf }: ApiRequests,
  id: string,
  { cursor, queue }: Place,
  { signal, stream }: { readonly signal: AbortSignal | undefined; readonly stream: boolean },
): Promise<Connected | Failure> {
  const query = search({ after: cursor, ...(stream ? {} : { wait: WAIT_S, queue }) })
  const path = `/${encodeURIComponent(id)}/events${query}`
  const accept = stream ? "text/event-stream" : "application/json"
  const asked = Date.now()
  // Of a stream until it begins; then it has limits of its own.
  const time = limit({ ...(signal !== undefined && { signal }) }, stream ? 0 : WAIT_S * 1_000)
  try {
    const answer = await time.within(send("GET", path, { accept, signal: time.signal }))
    const [type = ""] = (answer.headers.get("content-type") ?? "").split(";")
    if (!answer.ok || type.trim().toLowerCase() !== accept) return await time.within(failureOf("GET", path, answer))
    if (stream && answer.body !== null) return { body: answer.body, asked }
    const page = parsedPage(await time.within(bytesOf(answer, time.alive)))
    return Array.isArray(page?.events) ? { events: page.events, asked } : await failureOf("GET", path, answer)
  } catch (cause) {
    const error = new SessionApiError("unavailable", `GET ${path} got no answer.`, { cause })
    return { error, passes: true, isForeign: false, retryAfter: 0 }
  } finally {
    time.end()
  }
}

function parsedPage(bytes: Uint8Array): Partial<EventPage> | null {
  try {
    return JSON.parse(new TextDecoder().decode(bytes)) as Partial<EventPage> | null
  } catch {
    return null
  }
}

function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true
}

/** The connection broke within the stream; what came before it is whole. */
class BrokenStream extends Error {}

async function* parsed(
  body: ReadableStream<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<SessionEvent, void, undefined> {
  const received = readEvents(body, signal, SILENT_MS)[Symbol.asyncIterator]()
  try {
    for (;;) {
      const next = await received.next().catch((cause: unknown) => {
        throw new BrokenStream("The stream of events broke.", { cause })
      })
      if (next.done === true) return
      const { event, id = "", data } = next.value
      yield { event, cursor: id, data: JSON.parse(data) as object } as unknown as SessionEvent
    }
  } finally {
    await received.return(undefined)
  }
}

function heldBack(): SessionApiError {
  const message =
    `Nothing of ${SILENT_ATTEMPTS} streams of events has arrived within ${SILENT_MS / 1_000} s each, though the server has answered: something on ` +
    "the way collects them, such as compression or a proxy. Let it pass text/event-stream through at once, or use `stream: false`."
  return new SessionApiError("failed", message, { status: 200 })
}
