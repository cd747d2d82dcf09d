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

/** Errors of one log: no reason to review no other session. */
const UNREADABLE = ["corrupt", "not_a_session", "newer_version", "older_version"] as const

/** An answer that is missing for longer is not being made: its process was killed. */
const TURN_MS = 3_600_000

export interface NewSessions {
  /** Newest first. */
  readonly rows: readonly SessionRow[]
  /** Ids of the current session and of those in a turn. They may get no message later. */
  readonly leftOut: readonly string[]
}

/** Those with messages since a time in milliseconds, or all; without those that are deleted meanwhile. Stops at `most` rows. */
export async function newSessions(
  sessions: Sessions,
  since: number | undefined,
  most: number,
  { filter, now, current, ...o }: ReviewOptions & { readonly current?: string | undefined },
): Promise<NewSessions> {
  const call = signalOf(o)
  const rows: SessionRow[] = []
  const leftOut: string[] = []
  let cursor: string | undefined
  do {
    const limit = Math.min(most + 1, 200)
    const page = await sessions.list({ ...filter, ...call, limit, ...(cursor !== undefined && { cursor }) })
    for (const info of page.sessions) {
      const at = Date.parse(info.lastMessageAt)
      if (since !== undefined && at <= since) return { rows, leftOut }
      if (info.messageCount === 0) continue
      const state = info.id === current ? "busy" : await stateOf(sessions, info, now(), call)
      if (state === "busy") leftOut.push(info.id)
      else if (state === "rests" && rows.push(toRow(info)) >= most) return { rows, leftOut }
    }
    cursor = page.next
  } while (cursor !== undefined)
  return { rows, leftOut }
}

/** The same for sessions with these ids, whatever the time of their messages. */
export async function sessionsOf(
  sessions: Sessions,
  ids: readonly string[],
  { filter, now, current, ...o }: ReviewOptions & { readonly current?: string | undefined },
): Promise<NewSessions> {
  const call = signalOf(o)
  const rows: SessionRow[] = []
  const leftOut: string[] = []
  for (const id of ids) {
    const info = await infoOf(sessions, id, filter, call)
    if (info === undefined) continue
    const state = id === current ? "busy" : await stateOf(sessions, info, now(), call)
    if (state === "busy") leftOut.push(id)
    else if (state === "rests") rows.push(toRow(info))
  }
  return { rows, leftOut }
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
  return (await infoOf(sessions, id, filter, o)) !== undefined
}

/** Undefined if there is no such session in the scope. */
async function infoOf(
  sessions: Sessions,
  id: string,
  filter: ReviewOptions["filter"],
  o: CallOptions,
): Promise<SessionInfo | undefined> {
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
    const found = page.sessions.find((info) => info.id === id)
    if (found !== undefined) return found
    cursor = page.next
  } while (cursor !== undefined)
  return undefined
}

function toRow({ id, title, lastMessageAt, messageCount }: SessionInfo): SessionRow {
  return { id, ...(title !== undefined && { title }), at: lastMessageAt, messages: messageCount }
}

/** `busy` if the last message waits for an answer, or for the result of a call; `gone` if the session was deleted since it was listed. */
async function stateOf(
  sessions: Sessions,
  { id, lastMessageAt }: SessionInfo,
  now: number,
  o: CallOptions,
): Promise<"rests" | "busy" | "gone"> {
  if (now - Date.parse(lastMessageAt) >= TURN_MS) return "rests"
  try {
    return await opened(sessions, id, o, async (session) => {
      const { messages } = await session.messages({ ...o, limit: 1 })
      const last = messages.at(-1)?.message
      if (last === undefined) return "rests"
      const isBusy = last.role !== "assistant" || last.content.some(({ type }) => type === "toolCall")
      return isBusy ? "busy" : "rests"
    })
  } catch (error) {
    if (hasCode(error, "not_found")) return "gone"
    // The agent is told when it reads it.
    if (UNREADABLE.some((code) => hasCode(error, code))) return "rests"
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
