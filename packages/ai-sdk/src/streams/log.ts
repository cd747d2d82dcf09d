/**
 * The log of one stream: a session of the kind `ai-sdk-stream` with `custom` entries. They are annotations, so the process that generates
 * and those that stop it write side by side.
 *
 * - `ai-sdk:run` `{chatId, after, continues?}`: the first entry. `after` is the id of the message that the answer follows; `continues` is
 *   the message that the answer goes on with.
 * - `ai-sdk:chunks` `{from, chunks}`: chunks of the stream; `from` counts those before. A repeated write brings chunks again.
 * - `ai-sdk:alive`: written if there was no chunk for a while.
 * - `ai-sdk:stop`: someone asks the generating process to stop.
 * - `ai-sdk:end` `{reason}`: the answer is saved in the chat, and nothing behind this counts.
 */
import type { Entry, NewEntry, Session } from "@sessions/core"
import { isObject } from "../json.ts"
import type { ChatMessage } from "../types.ts"
import { type Chunk, isChunk } from "./chunks.ts"

export const STREAM_KIND = "ai-sdk-stream"

export interface RunData {
  readonly chatId: string
  readonly after?: string
  readonly continues?: ChatMessage
}

/** `lost`: the process that generated has ended without a word, or could not go on. */
export type EndReason = "finished" | "lost"

export function runEntry(data: RunData): NewEntry {
  return { type: "custom", customType: "ai-sdk:run", data }
}

export function chunksEntry(from: number, chunks: readonly Chunk[]): NewEntry {
  return { type: "custom", customType: "ai-sdk:chunks", data: { from, chunks } }
}

export const ALIVE_ENTRY: NewEntry = { type: "custom", customType: "ai-sdk:alive" }
export const STOP_ENTRY: NewEntry = { type: "custom", customType: "ai-sdk:stop" }

export function endEntry(reason: EndReason): NewEntry {
  return { type: "custom", customType: "ai-sdk:end", data: { reason } }
}

/** The state by the entries of a log that were read so far, in order. */
export class StreamState {
  run: RunData | undefined
  /** How many chunks have come. */
  count = 0
  isStopped = false
  end: EndReason | undefined

  /** Takes the next entry, and returns the chunks that it adds. */
  take({ type, customType, data }: Readonly<Pick<Entry, "type"> & Record<string, unknown>>): readonly Chunk[] {
    if (type !== "custom" || this.end !== undefined) return []
    if (customType === "ai-sdk:stop") this.isStopped = true
    if (customType === "ai-sdk:end") this.end = isObject(data) && data["reason"] === "lost" ? "lost" : "finished"
    if (customType === "ai-sdk:run" && isRun(data)) this.run = data
    if (customType !== "ai-sdk:chunks" || !isObject(data) || !Array.isArray(data["chunks"])) return []
    const added = data["chunks"].filter(isChunk).slice(Math.max(0, this.count - Number(data["from"])))
    this.count += added.length
    return added
  }
}

function isRun(data: unknown): data is RunData {
  return isObject(data) && typeof data["chatId"] === "string"
}

/** All that the log has now. */
export async function readStream(session: Session): Promise<{ state: StreamState; chunks: readonly Chunk[] }> {
  const state = new StreamState()
  const chunks: Chunk[] = []
  for await (const entry of session.entries()) chunks.push(...state.take(entry))
  return { state, chunks }
}
