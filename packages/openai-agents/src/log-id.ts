/** The ids of logs. A session id of the SDK is any text; the log has it in its metadata. */
import { type Session, SessionError, type Sessions } from "@sessions/core"
import { sha256Hex } from "@sessions/core/storage"

/** The kind of the logs, see `docs/bridges.md`. */
export const KIND = "openai-agents"
/** The key of the metadata that has the session id of the SDK. */
export const SESSION_ID = "sessionId"
/** The key of the metadata that is true if the first question of the log has been taken out of the history. */
export const REWRITTEN = "openai-agents:rewritten"

/** The beginning of all ids of logs. */
export const PREFIX = "openai-agents."
/** Fewer than a session id may be: an id that is stored as its hash has to be found by it. */
const PLAIN = /^(?!\.|.*\.\.)[A-Za-z0-9._-]{0,99}[A-Za-z0-9]$/
const HASHED = "sha256-"

/** The id of the log in which a session of the SDK is stored: `openai-agents.` and its id, or its hash if that is no id of a session. */
export async function logIdOf(sessionId: string): Promise<string> {
  if (typeof sessionId !== "string" || sessionId === "")
    throw new SessionError("invalid", "The option `sessionId` must be a text that is not empty.")
  if (PLAIN.test(sessionId) && !sessionId.startsWith(HASHED)) return PREFIX + sessionId
  return PREFIX + HASHED + (await sha256Hex(new TextEncoder().encode(sessionId)))
}

/** Deletes a session with its log. False if there is none. */
export async function deleteAgentSession(sessions: Sessions, sessionId: string): Promise<boolean> {
  try {
    await sessions.delete(await logIdOf(sessionId))
    return true
  } catch (error) {
    if (error instanceof SessionError && error.code === "not_found") return false
    throw error
  }
}

/** The log of a session as a session of `@sessions/core`, for tool calls, contexts and exports. It is created if there is none. */
export async function openAgentLog(
  sessions: Sessions,
  sessionId: string,
  { metadata = {} }: { readonly metadata?: Readonly<Record<string, unknown>> } = {},
): Promise<Session> {
  return sessions.openOrCreate(await logIdOf(sessionId), {
    kind: KIND,
    metadata: { ...metadata, [SESSION_ID]: sessionId },
  })
}
