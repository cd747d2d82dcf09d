/** The ids of logs, and the lists of them. A session id of the SDK is any text; the log has it in its metadata. */
import { type ListOptions, SessionError, type SessionInfo, type Sessions } from "@sessions/core"
import { isSessionId, sha256Hex } from "@sessions/core/storage"

/** The kind of the logs, see `docs/bridges.md`. */
export const KIND = "openai-agents"
/** The key of the metadata that has the session id of the SDK. */
export const SESSION_ID = "sessionId"

const PREFIX = `${KIND}.`
const PLAIN = /^[A-Za-z0-9._-]{1,100}$/
const HASHED = "sha256-"

/** The id of the log in which a session of the SDK is stored: `openai-agents.` and its id, or its hash if that is no id of a session. */
export async function logIdOf(sessionId: string): Promise<string> {
  if (typeof sessionId !== "string" || sessionId === "")
    throw new SessionError("invalid", "The option `sessionId` must be a text that is not empty.")
  const isPlain = PLAIN.test(sessionId) && isSessionId(PREFIX + sessionId)
  if (isPlain && !sessionId.startsWith(HASHED)) return PREFIX + sessionId
  return PREFIX + HASHED + (await sha256Hex(new TextEncoder().encode(sessionId)))
}

/** A stored session: the information of its log, and its id in the SDK. */
export interface AgentSessionInfo extends SessionInfo {
  readonly sessionId: string
}

export interface AgentSessionPage {
  readonly sessions: readonly AgentSessionInfo[]
  /** Pass it as `cursor` to get the next page. */
  readonly next?: string
}

/** The stored sessions of the OpenAI Agents SDK, newest message first. Sessions of other kinds are not listed. */
export async function listAgentSessions(
  sessions: Sessions,
  options: Omit<ListOptions, "kind" | "idPrefix"> = {},
): Promise<AgentSessionPage> {
  const { sessions: rows, next } = await sessions.list({ ...options, kind: KIND, idPrefix: PREFIX })
  const found = rows.map((info) => ({ ...info, sessionId: String(info.metadata[SESSION_ID]) }))
  return { sessions: found, ...(next === undefined ? {} : { next }) }
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
