/** The list of stored sessions. */
import { type Entry, hasCode, type ListOptions, type Session, type SessionInfo, type Sessions } from "@sessions/core"
import { FIRST_PROMPT_UNITS } from "@sessions/core/format"
import { isQuestion, readHistory } from "./history.ts"
import { isObject } from "./items.ts"
import { KIND, PREFIX, REWRITTEN, SESSION_ID } from "./log-id.ts"

/** A stored session: the information of its log, and its id in the SDK. */
export interface AgentSessionInfo extends SessionInfo {
  readonly sessionId: string
  /** The start of the first question that is in the history; of the first one ever asked, if a compaction has replaced it. */
  readonly firstPrompt?: string
}

export interface AgentSessionPage {
  readonly sessions: readonly AgentSessionInfo[]
  /** Pass it as `cursor` to get the next page. */
  readonly next?: string
}

/**
 * The stored sessions of the OpenAI Agents SDK, newest message first. Sessions of other kinds are not listed. Reads the history of those whose
 * first question was taken back, since the information of a log has the first one ever asked.
 */
export async function listAgentSessions(
  sessions: Sessions,
  options: Omit<ListOptions, "kind" | "idPrefix"> = {},
): Promise<AgentSessionPage> {
  const { sessions: rows, next } = await sessions.list({ ...options, kind: KIND, idPrefix: PREFIX })
  const found: AgentSessionInfo[] = []
  for (const row of rows) found.push(await infoOf(sessions, row))
  return { sessions: found, ...(next === undefined ? {} : { next }) }
}

async function infoOf(sessions: Sessions, info: SessionInfo): Promise<AgentSessionInfo> {
  const sessionId = String(info.metadata[SESSION_ID])
  const { [REWRITTEN]: isRewritten, ...metadata } = info.metadata
  if (isRewritten !== true) return { ...info, sessionId }
  const { firstPrompt: _, ...rest } = info
  const firstPrompt = await firstQuestion(sessions, info.id)
  return { ...rest, metadata, sessionId, ...(firstPrompt === undefined ? {} : { firstPrompt }) }
}

/** Undefined if the history has none, or the log was deleted meanwhile or cannot be read. */
async function firstQuestion(sessions: Sessions, id: string): Promise<string | undefined> {
  let session: Session | undefined
  try {
    session = await sessions.open(id)
    await session.refresh()
    const { entries } = await readHistory(session, Number.POSITIVE_INFINITY)
    return entries
      .filter(isQuestion)
      .map(startOf)
      .find((text) => text !== "")
  } catch (error) {
    if (hasCode(error, "not_found") || hasCode(error, "corrupt")) return undefined
    throw error
  } finally {
    await session?.close()
  }
}

/** The start of the first text, as the information of a log has it: never inside a surrogate pair. */
function startOf({ message }: Entry): string {
  const content: unknown = isObject(message) ? message["content"] : undefined
  const blocks: readonly unknown[] = Array.isArray(content) ? content : []
  const texts = blocks.map((block) =>
    isObject(block) && typeof block["text"] === "string" ? block["text"].trim() : "",
  )
  const start = texts.find((text) => text !== "")?.slice(0, FIRST_PROMPT_UNITS) ?? ""
  return start.length === FIRST_PROMPT_UNITS && /[\uD800-\uDBFF]$/.test(start) ? start.slice(0, -1) : start
}
