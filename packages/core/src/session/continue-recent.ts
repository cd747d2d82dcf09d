/** Resumes the session of a pointer, else the newest session that a person works in, else creates one. Scripts use it, not pages. */
import { hasCode, SessionError } from "../format/errors.ts"
import { signalOf } from "../storage/signals.ts"
import type { OpenOptions, Sessions } from "./repository-types.ts"
import type { Session } from "./types.ts"

export async function continueRecent(
  sessions: Sessions,
  options: Parameters<Sessions["continueRecent"]>[0] | undefined,
): Promise<Session> {
  const { cwd, pointer, create = true, ...o } = options ?? {}
  if (typeof cwd !== "string" && (cwd !== undefined || create || pointer !== undefined))
    throw new SessionError("invalid", "continueRecent needs the `cwd` of the session, a string.")
  const target = pointer === undefined ? undefined : await sessions.pointers.get(pointer, o)
  const pointed =
    target !== undefined && target.cwd === cwd ? await openIfThere(sessions, target.session, o) : undefined
  const found = pointed ?? (await openNewest(sessions, cwd, o))
  if (found === undefined && !create) {
    const of = cwd === undefined ? "" : ` of the folder ${JSON.stringify(cwd)}`
    throw new SessionError("not_found", `No session${of} is there to continue.`)
  }
  const folder = cwd === undefined ? {} : { cwd }
  const session = found ?? (await sessions.create({ ...o, ...folder }))
  if (pointer === undefined) return session
  try {
    await sessions.pointers.set(pointer, { session: session.id, ...folder }, o)
    return session
  } catch (error) {
    await session.close()
    throw error
  }
}

async function openNewest(sessions: Sessions, cwd: string | undefined, o: OpenOptions): Promise<Session | undefined> {
  for (let cursor: string | undefined; ; ) {
    const found = { kind: null, source: "interactive", limit: 10 } as const
    const from = { ...(cwd === undefined ? {} : { cwd }), ...(cursor === undefined ? {} : { cursor }) }
    const page = await sessions.list({ ...o, ...found, ...from })
    // It may be the newest one; resuming an older session instead would go unnoticed.
    const away = page.unreadable.find(({ error }) => hasCode(error, "unavailable") || hasCode(error, "misconfigured"))
    if (away !== undefined) throw away.error
    for (const info of page.sessions) {
      // An interrupted import, fork or copy is not a session that the user worked in; nor is an empty one.
      if (info.incomplete === true || info.messageCount === 0) continue
      const session = await openIfThere(sessions, info.id, o)
      if (session === undefined) continue
      if (info.firstPrompt !== undefined || (await hasOwnMessage(session, o))) return session
      await session.close()
    }
    if (page.next === undefined) return undefined
    cursor = page.next
  }
}

/** Whether its path has a message that no program made. A person may have sent an image alone, which is no first prompt. */
async function hasOwnMessage(session: Session, o: OpenOptions): Promise<boolean> {
  let before: string | undefined
  do {
    const page = await session.messages({ ...signalOf(o), ...(before === undefined ? {} : { before }) })
    if (page.messages.some(({ message }) => message.synthetic !== true)) return true
    before = page.before
  } while (before !== undefined)
  return false
}

async function openIfThere(sessions: Sessions, id: string, o: OpenOptions): Promise<Session | undefined> {
  try {
    return await sessions.open(id, o)
  } catch (error) {
    if (hasCode(error, "not_found") || hasCode(error, "not_a_session") || hasCode(error, "invalid")) return undefined
    throw error
  }
}
