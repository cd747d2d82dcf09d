/** The chunks of a UI message stream as server-sent events, both ways. */
import { type Fields, isObject } from "../json.ts"

/** A `UIMessageChunk` of the AI SDK. */
export type Chunk = { readonly type: string } & Fields

export const DONE_EVENT = "data: [DONE]\n\n"
/** A comment. Proxies close connections that are silent for long. */
export const KEEP_ALIVE_EVENT = ": keep-alive\n\n"
export const ABORT_CHUNK: Chunk = { type: "abort" }

export function eventOf(chunk: Chunk): string {
  return `data: ${JSON.stringify(chunk)}\n\n`
}

/** Collects the chunks of a text that arrives in pieces. */
export class EventReader {
  /** The event that has not ended, in pieces: each is looked at once, however long the event is. */
  #rest: string[] = []
  /** A line feed behind it, which may be the first half of its end. */
  #lf = ""

  /** The chunks that this piece completes. */
  read(piece: string): Chunk[] {
    const events = (this.#lf + piece).split("\n\n")
    const last = events.pop() ?? ""
    if (events.length > 0) {
      events[0] = this.#rest.join("") + (events[0] as string)
      this.#rest = []
    }
    this.#lf = last.endsWith("\n") ? "\n" : ""
    const rest = last.slice(0, last.length - this.#lf.length)
    if (rest !== "") this.#rest.push(rest)
    return events.flatMap(chunkOf)
  }
}

function chunkOf(event: string): Chunk[] {
  if (!event.startsWith("data: ") || event === DONE_EVENT.trimEnd()) return []
  const chunk: unknown = JSON.parse(event.slice("data: ".length))
  return isChunk(chunk) ? [chunk] : []
}

export function isChunk(value: unknown): value is Chunk {
  return isObject(value) && typeof value["type"] === "string"
}
