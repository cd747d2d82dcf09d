/** The session of a thread. Thread ids are any text, ids of sessions 1 to 128 characters of a small alphabet. */
import { sha256Hex } from "@sessions/core/storage"

export const KIND = "langgraph"
export const ID_PREFIX = "langgraph."

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

/** A UUID stays readable; any other text is hashed, and the hash has no dashes. The thread id itself is in the session's metadata. */
export async function sessionOf(thread: string): Promise<string> {
  return ID_PREFIX + (UUID.test(thread) ? thread : (await sha256Hex(JSON.stringify(thread))).slice(0, 32))
}
