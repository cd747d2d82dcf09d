/** Resumes the session of a pointer, else the newest session of a directory, else creates one. Scripts use it, not pages. */
import { hasCode, SessionError } from "../format/errors.ts"
import type { OpenOptions, Sessions } from "./repository-types.ts"
import type { Session } from "./types.ts"

export async function continueRecent(
  sessions: Sessions,
  options: Parameters<Sessions["continueRecent"]>[0] | undefined,
): Promise<Session> {
  if (typeof options?.cwd !== "string")
    throw new SessionError("invalid", "continueRecent needs the `cwd` of the session, a string.")
  const { cwd, pointer, create = true, ...o } = options
  const target = pointer === undefined ? undefined : await sessions.pointers.get(pointer, o)
  const pointed = target?.cwd === cwd ? await openIfThere(sessions, target.session, o) : undefined
  const found = pointed ?? (await openNewest(sessions, cwd, o))
  if (found === undefined && !create)
    throw new SessionError("not_found", `No session of the folder ${JSON.stringify(cwd)} is there to continue.`)
  const session = found ?? (await sessions.create({ ...o, cwd }))
  if (pointer === undefined) return session
  try {
    await sessions.pointers.set(pointer, { session: session.id, cwd }, o)
    return session
  } catch (error) {
    await session.close()
    throw error
  }
}

async function openNewest(sessions: Sessions, cwd: string, o: OpenOptions): Promise<Session | undefined> {
  for (let cursor: string | undefined; ; ) {
    const page = await sessions.list({ ...o, cwd, kind: null, limit: 10, ...(cursor === undefined ? {} : { cursor }) })
    // It may be the newest one; resuming an older session instead would go unnoticed.
    const away = page.unreadable.find(({ error }) => hasCode(error, "unavailable"))
    if (away !== undefined) throw away.error
    // An interrupted import, fork or copy is not a session that the user worked in.
    for (const info of page.sessions) {
      const session = info.incomplete === true ? undefined : await openIfThere(sessions, info.id, o)
      if (session !== undefined) return session
    }
    if (page.next === undefined) return undefined
    cursor = page.next
  }
}

async function openIfThere(sessions: Sessions, id: string, o: OpenOptions): Promise<Session | undefined> {
  try {
    return await sessions.open(id, o)
  } catch (error) {
    if (hasCode(error, "not_found") || hasCode(error, "not_a_session") || hasCode(error, "invalid")) return undefined
    throw error
  }
}
