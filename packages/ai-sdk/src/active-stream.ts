/**
 * Which stream of a chat is active, in two metadata keys: the stream that was set last, and the one that has ended. Two processes that set
 * and clear at once need no order then: clearing a stream never clears a newer one.
 */
import type { NewEntry, Session } from "@sessions/core"

export const STREAM_KEY = "ai-sdk:stream"
export const ENDED_KEY = "ai-sdk:ended-stream"

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

function metadata(key: string, value: string | null): NewEntry {
  return { type: "metadata", key, value }
}
