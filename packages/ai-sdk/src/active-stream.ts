/**
 * Which stream of a chat is active, in two metadata keys: the stream that was set last, and the one that has ended. Two processes that set
 * and clear at once need no order then: clearing a stream never clears a newer one. A third key names the log of the last stream.
 */
import type { NewEntry, Session } from "@sessions/core"

const STREAM_KEY = "ai-sdk:stream"
const ENDED_KEY = "ai-sdk:ended-stream"
const LOG_KEY = "ai-sdk:stream-log"

/** The metadata of a chat without these keys. */
export function withoutStreams(all: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { [STREAM_KEY]: _stream, [ENDED_KEY]: _ended, [LOG_KEY]: _log, ...metadata } = all
  return metadata
}

export async function activeStream(session: Session): Promise<string | null> {
  const { metadata } = await session.info()
  const { [STREAM_KEY]: stream, [ENDED_KEY]: ended } = metadata
  return typeof stream === "string" && stream !== ended ? stream : null
}

/** The entries that make this the active stream; none if it is. */
export async function setStream(session: Session, id: string | null): Promise<readonly NewEntry[]> {
  if ((await activeStream(session)) === id) return []
  // A stream may be set again after it has ended.
  return [metadata(STREAM_KEY, id), metadata(ENDED_KEY, null)]
}

export async function endStream(session: Session, id: string): Promise<void> {
  if ((await activeStream(session)) === id) await session.append(metadata(ENDED_KEY, id))
}

/** The session that has the log of the last stream, also after its end. */
export async function streamLog(session: Session): Promise<string | undefined> {
  const { [LOG_KEY]: log } = (await session.info()).metadata
  return typeof log === "string" ? log : undefined
}

/** The entry that makes this the log of the last stream. */
export function setStreamLog(id: string): NewEntry {
  return metadata(LOG_KEY, id)
}

function metadata(key: string, value: string | null): NewEntry {
  return { type: "metadata", key, value }
}
