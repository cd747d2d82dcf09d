/** Reads and changes one chat; all changes of this package go through `changeChat`. */
import { type Entry, hasCode, type NewEntry, type Session, SessionError, type Sessions } from "@sessions/core"
import { leastDifference } from "./branches.ts"
import { asJson, isObject } from "./json.ts"
import { inTurn } from "./queue.ts"
import { readMessages } from "./read.ts"
import { withResultsOfRuns } from "./results.ts"
import { appendDifference, readToEnd, withChat, withNewChat } from "./session.ts"
import type { ChatMessage } from "./types.ts"

export interface Change {
  /** The messages that the chat shall have, from those that it has; undefined: they stay. */
  readonly messages?: (stored: readonly ChatMessage[]) => readonly ChatMessage[]
  /** Further entries, in the same append. */
  readonly entries?: (session: Session) => Promise<readonly NewEntry[]>
}

/** Runs after the earlier calls on the chat, and creates it if there is none. */
export function changeChat(sessions: Sessions, id: string, change: Change): Promise<void> {
  return inTurn(sessions, id, () =>
    untilNoConflict(() => withNewChat(sessions, id, (session) => apply(session, change))),
  )
}

/** Runs after the earlier calls on the chat. `not_found` if there is none. */
export function readChat<T>(sessions: Sessions, id: string, work: (session: Session) => Promise<T>): Promise<T> {
  return inTurn(sessions, id, () => withChat(sessions, id, work))
}

export async function loadMessages(session: Session): Promise<readonly ChatMessage[]> {
  const { path } = await readToEnd(session)
  return readMessages(path).map(({ message }) => message)
}

/** A copy as JSON has it, without the messages that `validateUIMessages` refuses. */
export function storable(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const copies: unknown = asJson(messages, "The messages")
  if (!Array.isArray(copies)) throw refusedError("The messages are no array")
  for (const [index, copy] of copies.entries()) {
    const problem = problemOf(copy)
    if (problem !== undefined) throw refusedError(`The message ${index} has ${problem}`)
  }
  return (copies as ChatMessage[]).filter(({ parts }) => parts.length > 0)
}

/** The problem with a message that could not be loaded again. The rest is up to `validateUIMessages`. */
function problemOf(message: unknown): string | undefined {
  const { id, role, parts } = isObject(message) ? message : {}
  if (typeof id !== "string") return "no text as its `id`"
  if (typeof role !== "string") return "no text as its `role`"
  if (!Array.isArray(parts)) return "no array as its `parts`"
  const isPart = (part: unknown): boolean => isObject(part) && typeof part["type"] === "string"
  return parts.every(isPart) ? undefined : "a part that is no object with a `type`"
}

function refusedError(problem: string): SessionError {
  return new SessionError("invalid", `${problem}. Nothing was written.`)
}

async function apply(session: Session, { messages, entries }: Change): Promise<void> {
  const more = (await entries?.(session)) ?? []
  const end = messages === undefined ? { path: [] } : await readToEnd(session)
  const { entries: changes = [], ...place } =
    messages === undefined ? {} : await leastDifference(session, end, saved(end.path, messages))
  await appendDifference(session, end, { ...place, entries: [...changes, ...more] })
}

function saved(path: readonly Entry[], messages: NonNullable<Change["messages"]>): readonly ChatMessage[] {
  return withResultsOfRuns(path, messages(readMessages(path).map(({ message }) => message)))
}

/** More than the writers that could meet in one chat; each conflict means that another writer has succeeded. */
const MOST_CONFLICTS = 100

/** Reads and compares again when another writer was faster. What is gone must not be passed over, nor a lease that was lost. */
async function untilNoConflict(change: () => Promise<void>): Promise<void> {
  for (let conflicts = 1; ; conflicts++) {
    try {
      return await change()
    } catch (error) {
      const { lost, leaseLost } = error as SessionError
      const isOvertaken = hasCode(error, "conflict") && lost === undefined && leaseLost !== true
      if (conflicts === MOST_CONFLICTS || !isOvertaken) throw error
    }
  }
}
