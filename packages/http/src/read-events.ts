/** Reads server-sent events from the body of an answer, as the HTML standard parses them. */

export interface ReceivedEvent {
  readonly event: string
  /** Of this event, or the last one before it that had an id. */
  readonly id: string | undefined
  readonly data: string
}

/** Three comments of the server have not arrived. */
const SILENCE_MS = 45_000

/**
 * Yields the events until the stream ends, and rejects if it breaks or is silent for 45 s, as it is when the network has gone without a
 * word. Stopping early cancels the stream; after the signal it ends without an error.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<ReceivedEvent, void, undefined> {
  const reader = body.getReader()
  const parser = new EventParser()
  const text = new TextDecoder()
  const cancel = (): void => void reader.cancel().catch(() => undefined)
  signal?.addEventListener("abort", cancel)
  try {
    if (signal?.aborted === true) return
    for (;;) {
      const { done, value } = await withinSilence(reader.read())
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

async function withinSilence<T>(read: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The server sent nothing for ${SILENCE_MS / 1000} s.`)), SILENCE_MS)
  })
  try {
    return await Promise.race([read, silence])
  } finally {
    clearTimeout(timer)
  }
}

class EventParser {
  #rest = ""
  #id: string | undefined
  #event = ""
  #data: string[] = []

  /** The events that end in this piece of the stream. */
  push(piece: string): readonly ReceivedEvent[] {
    const events: ReceivedEvent[] = []
    const text = this.#rest + piece
    // A CR at the end may be the first half of CR LF.
    const whole = text.endsWith("\r") ? text.length - 1 : text.length
    const lines = text.slice(0, whole).split(/\r\n|\n|\r/)
    this.#rest = (lines.pop() ?? "") + text.slice(whole)
    for (const line of lines) {
      if (line !== "") this.#field(line)
      else {
        if (this.#data.length > 0)
          events.push({ event: this.#event || "message", id: this.#id, data: this.#data.join("\n") })
        this.#event = ""
        this.#data = []
      }
    }
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
