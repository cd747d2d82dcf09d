/** Writes server-sent events: a `Response` that sends what an async iterable yields, and a comment while it yields nothing. */

export interface StreamedEvent {
  readonly event: string
  /** Which the client sends back as `Last-Event-ID`. */
  readonly id?: string
  /** JSON: it has no line feeds, so it is one `data` field. */
  readonly data: string
}

/** Proxies close a connection that is silent for 30 to 60 s. */
const COMMENT_MS = 15_000

/** The iterable gets a signal, which fires when the client has gone. The next event is asked for when the last one was taken. */
export function eventStream(open: (signal: AbortSignal) => AsyncIterable<StreamedEvent>): Response {
  const gone = new AbortController()
  const events = open(gone.signal)[Symbol.asyncIterator]()
  const utf8 = new TextEncoder()
  let comments: ReturnType<typeof setInterval> | undefined
  const end = (): void => {
    clearInterval(comments)
    gone.abort()
    // A source that waits for its event to be taken does not look at the signal.
    events.return?.().catch(() => undefined)
  }
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      comments = setInterval(() => {
        // A client that has not taken the last event needs no sign of life.
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(utf8.encode(":\n\n"))
      }, COMMENT_MS)
    },
    async pull(controller) {
      // An error becomes the end of the stream: the client connects again, and that answer has a status.
      const next = await events.next().catch(() => ({ done: true as const, value: undefined }))
      if (gone.signal.aborted) return
      if (next.done !== true) return controller.enqueue(utf8.encode(eventText(next.value)))
      end()
      controller.close()
    },
    cancel: end,
  })
  // Compression would collect events until it has enough of them.
  const cacheControl = "no-store, no-transform"
  return new Response(body, {
    headers: { "content-type": "text/event-stream", "cache-control": cacheControl, "x-accel-buffering": "no" },
  })
}

/** The events, and then `leave`, whoever ends them. */
export async function* left<T>(events: AsyncIterable<T>, leave: () => void): AsyncGenerator<T, void, undefined> {
  try {
    yield* events
  } finally {
    leave()
  }
}

function eventText({ event, id, data }: StreamedEvent): string {
  return `event: ${event}\n${id === undefined ? "" : `id: ${id}\n`}data: ${data}\n\n`
}
