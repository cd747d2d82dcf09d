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
  #rest = ""

  /** The chunks that this piece completes. */
  read(piece: string): Chunk[] {
    const events = (this.#rest + piece).split("\n\n")
    this.#rest = events.pop() ?? ""
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
