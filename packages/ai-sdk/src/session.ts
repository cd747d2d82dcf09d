/** The session of a chat: opened for one call, read at the end of its log, and appended to behind that end. */
import { type Entry, hasCode, type NewEntry, type Session, SessionError, type Sessions } from "@sessions/core"
import type { Difference } from "./difference.ts"

export const KIND = "ai-sdk"

/** Other bridges take an object with the repository. */
export function checkSessions(name: string, sessions: Sessions): void {
  if (typeof (sessions as Partial<Sessions> | undefined)?.openOrCreate !== "function")
    throw new SessionError(
      "invalid",
      `${name} takes a repository that createSessions() has made, as ${name}(sessions).`,
    )
}

/** Opens the session for `work` and closes it. `not_found` if there is none, or one of another kind. */
export async function withChat<T>(sessions: Sessions, id: string, work: (session: Session) => Promise<T>): Promise<T> {
  const session = await sessions.open(id)
  return closing(session, async () => {
    if (session.header.kind !== KIND) throw notAChatError("not_found", id)
    return await work(session)
  })
}

/** {@link withChat}, and creates the session if there is none. `exists` if it is of another kind. */
export async function withNewChat<T>(
  sessions: Sessions,
  id: string,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await openChatLog(sessions, id)
  return closing(session, async () => await work(session))
}

/**
 * The log of a chat as a session of `@sessions/core`, for tool calls and contexts. It is created if there is none. `exists` if the session is none
 * of this package.
 */
export async function openChatLog(sessions: Sessions, id: string): Promise<Session> {
  const session = await sessions.openOrCreate(id, { kind: KIND })
  if (session.header.kind === KIND) return session
  await session.close().catch(() => undefined)
  throw notAChatError("exists", id)
}

/** Resolves if there is no such session. */
export async function deleteIfThere(sessions: Sessions, id: string): Promise<void> {
  try {
    await sessions.delete(id)
  } catch (error) {
    if (!hasCode(error, "not_found")) throw error
  }
}

async function closing<T>(session: Session, work: () => Promise<T>): Promise<T> {
  let result: T
  try {
    result = await work()
  } catch (error) {
    // The error of the call is the one to report; that of closing only repeats it.
    await session.close().catch(() => undefined)
    throw error
  }
  await session.close()
  return result
}

function notAChatError(code: "not_found" | "exists", id: string): SessionError {
  const message = `The session ${id} is no chat of the AI SDK: its kind is not ${JSON.stringify(KIND)}. Use another id for the chat.`
  return new SessionError(code, message, { session: id })
}

export interface End {
  /** From the root to the end. */
  readonly path: readonly Entry[]
  /** Behind which entry to append, null for the start; undefined: behind the session's leaf. */
  readonly at?: string | null
}

/**
 * The path to the end of the log, which is what was saved last. Another handle on the session may have its leaf elsewhere: it opened the
 * session before another process began a branch.
 */
export async function readToEnd(session: Session): Promise<End> {
  const path: Entry[] = []
  const { next } = await session.refresh()
  const last = next < 2 ? undefined : await lastEntry(session, next)
  const isElsewhere = last !== undefined && last.id !== session.leafId
  if (isElsewhere && isReset(last)) return { path, ...(session.leafId === null ? {} : { at: null }) }
  if (isElsewhere) path.push(last)
  let before = isElsewhere ? last.id : undefined
  do {
    const page = await session.path({ limit: PAGE, ...(before === undefined ? {} : { before }) })
    path.unshift(...page.entries)
    before = page.before
  } while (before !== undefined)
  return isElsewhere ? { path, at: last.id } : { path }
}

/** The most that `path` gives at once. */
const PAGE = 1_000

async function lastEntry(session: Session, next: number): Promise<Entry | undefined> {
  let last: Entry | undefined
  for await (const entry of session.entries({ from: next - 1 })) last = entry
  return last
}

/** Whether the conversation was taken back to its start. */
function isReset({ type, parentId }: Entry): boolean {
  return type === "leaf" && parentId === null
}

/**
 * Appends the difference to what was read, in batches of about 1 MB, which every storage takes. Rejects with `conflict`, perhaps after some
 * batches, if another writer has continued or branched the conversation meanwhile.
 */
export async function appendDifference(session: Session, { at }: End, difference: Difference): Promise<void> {
  const { entries } = difference
  const target = difference.at === undefined ? at : difference.at
  if (entries.length === 0 && difference.at === undefined) return
  const [first = [], ...rest] = batches(entries)
  await session.append(first, { onConflict: "fail", ...(target === undefined ? {} : { at: target }) })
  for (const batch of rest) await session.append(batch, { onConflict: "fail" })
}

const BATCH_UNITS = 1_000_000

function batches(entries: readonly NewEntry[]): readonly NewEntry[][] {
  if (entries.length < 2) return [[...entries]]
  const list: NewEntry[][] = [[]]
  let units = 0
  for (const entry of entries) {
    const { length } = JSON.stringify(entry)
    if (units > 0 && units + length > BATCH_UNITS) {
      list.push([])
      units = 0
    }
    list.at(-1)?.push(entry)
    units += length
  }
  return list
}
