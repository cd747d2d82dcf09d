/** Reads server-sent events from the body of an answer, as the HTML standard parses them. */

export interface ReceivedEvent {
  readonly event: string
  /** Of this event, or the last one before it that had an id. */
  readonly id: string | undefined
  readonly data: string
}

/** Three comments of the server have not arrived. */
const SILENCE_MS = 45_000

/** Nothing of a stream has arrived. */
export class SilentStream extends Error {}

/**
 * Yields the events until the stream ends, and rejects if it breaks or is silent for 45 s, as it is when the network has gone without a
 * word, or from its beginning for `first`. Stopping early cancels the stream; after the signal it ends without an error.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  signal?: AbortSignal,
  first: number = SILENCE_MS,
): AsyncGenerator<ReceivedEvent, void, undefined> {
  const reader = body.getReader()
  const parser = new EventParser()
  const text = new TextDecoder()
  const cancel = (): void => void reader.cancel().catch(() => undefined)
  signal?.addEventListener("abort", cancel)
  try {
    if (signal?.aborted === true) return
    for (let limit = first; ; limit = SILENCE_MS) {
      const { done, value } = await within(limit, reader.read(), limit === first ? SilentStream : Error)
      if (done) return
      yield* parser.push(text.decode(value, { stream: true }))
    }
  } catch (error) {
    if (signal?.aborted !== true) throw error
  } finally {
    signal?.removeEventListener("abort", cancel)
    cancel()
  }
}

async function within<T>(ms: number, read: Promise<T>, Silence: new (message: string) => Error): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Silence(`The server sent nothing for ${ms / 1000} s.`)), ms)
  })
  try {
    return await Promise.race([read, silence])
  } finally {
    clearTimeout(timer)
  }
}

class EventParser {
  /** The line that has not ended, in pieces: each is looked at once, however long the line is. */
  #rest: string[] = []
  /** The last piece ended with a CR, which may be the first half of CR LF. */
  #afterCr = false
  #id: string | undefined
  #event = ""
  #data: string[] = []

  /** The events that end in this piece of the stream. */
  push(piece: string): readonly ReceivedEvent[] {
    const events: ReceivedEvent[] = []
    if (piece === "") return events
    const lines = (this.#afterCr && piece.startsWith("\n") ? piece.slice(1) : piece).split(/\r\n|\n|\r/)
    this.#afterCr = piece.endsWith("\r")
    const rest = lines.pop() ?? ""
    for (const part of lines) {
      const line = this.#rest.length === 0 ? part : [...this.#rest, part].join("")
      this.#rest = []
      if (line !== "") this.#field(line)
      else {
        if (this.#data.length > 0)
          events.push({ event: this.#event || "message", id: this.#id, data: this.#data.join("\n") })
        this.#event = ""
        this.#data = []
      }
    }
    if (rest !== "") this.#rest.push(rest)
    return events
  }

  #field(line: string): void {
    const colon = line.indexOf(":")
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1)
    if (name === "data") this.#data.push(value)
    else if (name === "event") this.#event = value
    else if (name === "id" && !value.includes("\0")) this.#id = value
  }
}
