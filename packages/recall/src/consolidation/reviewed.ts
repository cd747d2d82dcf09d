/** The sessions of a scope: those with messages since the last consolidation, and the text of one. */
import {
  type ContextMessage,
  hasCode,
  type Message,
  type Session,
  SessionError,
  type SessionInfo,
  type Sessions,
} from "@sessions/core"
import { serializeConversation } from "@sessions/core/compaction"
import type { CallOptions } from "@sessions/core/storage"
import { signalOf } from "../signal.ts"
import type { ConsolidationOptions, SessionRow, SessionText } from "./types.ts"

export interface ReviewOptions extends CallOptions {
  readonly filter: NonNullable<ConsolidationOptions["filter"]>
  readonly now: () => number
}

/** An answer that is missing for longer is not being made: its process was killed. */
const TURN_MS = 3_600_000

/** Newest first, without the current session, those in a turn, and those that are deleted meanwhile. `since`: milliseconds; undefined: all. At most `most`, and then it stops. */
export async function newSessions(
  sessions: Sessions,
  since: number | undefined,
  most: number,
  { filter, now, current, ...o }: ReviewOptions & { readonly current?: string | undefined },
): Promise<readonly SessionRow[]> {
  const call = signalOf(o)
  const rows: SessionRow[] = []
  let cursor: string | undefined
  do {
    const limit = Math.min(most + 1, 200)
    const page = await sessions.list({ ...filter, ...call, limit, ...(cursor !== undefined && { cursor }) })
    for (const info of page.sessions) {
      const at = Date.parse(info.lastMessageAt)
      if (since !== undefined && at <= since) return rows
      if (info.id === current || info.messageCount === 0) continue
      if (now() - at < TURN_MS && (await isInTurnOrDeleted(sessions, info.id, call))) continue
      if (rows.push(toRow(info)) >= most) return rows
    }
    cursor = page.next
  } while (cursor !== undefined)
  return rows
}

/** A page of the conversation, with the time of each message. Rejects with `not_found` for a session of another scope. */
export async function sessionText(
  sessions: Sessions,
  id: string,
  page: { readonly before?: string; readonly limit?: number },
  { filter, toolResults, ...o }: Omit<ReviewOptions, "now"> & { readonly toolResults: boolean },
): Promise<SessionText> {
  const call = signalOf(o)
  if (!(await belongs(sessions, id, filter, call))) {
    throw new SessionError("not_found", `There is no session ${JSON.stringify(id)} in this scope.`)
  }
  return opened(sessions, id, call, async (session) => {
    const { messages, before } = await session.messages({ ...page, ...call })
    const texts = messages.flatMap(({ entryId, timestamp, message }) => {
      if (!isShown(message, toolResults)) return []
      const item: ContextMessage = { entryId, kind: "message", message }
      const text = serializeConversation([item])
      return text === "" ? [] : [`[${timestamp}]\n${text}`]
    })
    return { text: texts.join("\n\n"), ...(before !== undefined && { before }) }
  })
}

export async function belongs(
  sessions: Sessions,
  id: string,
  filter: ReviewOptions["filter"],
  o: CallOptions,
): Promise<boolean> {
  // The id may be the prefix of others.
  let cursor: string | undefined
  do {
    const page = await sessions.list({
      ...filter,
      ...o,
      idPrefix: id,
      limit: 200,
      ...(cursor !== undefined && { cursor }),
    })
    if (page.sessions.some((info) => info.id === id)) return true
    cursor = page.next
  } while (cursor !== undefined)
  return false
}

function toRow({ id, title, lastMessageAt, messageCount }: SessionInfo): SessionRow {
  return { id, ...(title !== undefined && { title }), at: lastMessageAt, messages: messageCount }
}

/** Whether the last message waits for an answer, or for the result of a call; or the session was deleted since it was listed. */
async function isInTurnOrDeleted(sessions: Sessions, id: string, o: CallOptions): Promise<boolean> {
  try {
    return await opened(sessions, id, o, async (session) => {
      const { messages } = await session.messages({ ...o, limit: 1 })
      const last = messages.at(-1)?.message
      if (last?.role !== "assistant") return last !== undefined
      return last.content.some(({ type }) => type === "toolCall")
    })
  } catch (error) {
    if (hasCode(error, "not_found")) return true
    throw error
  }
}

/** As in extraction: what people and the model said. */
function isShown({ role, synthetic }: Message, toolResults: boolean): boolean {
  if (synthetic === true) return false
  return role === "user" || role === "assistant" || (toolResults && role === "toolResult")
}

async function opened<T>(
  sessions: Sessions,
  id: string,
  o: CallOptions,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await sessions.open(id, o)
  try {
    return await work(session)
  } finally {
    await session.close()
  }
}
