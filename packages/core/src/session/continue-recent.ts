/** Resumes the session of a pointer, else the newest session of a directory, else creates one. */
import { hasCode } from "../format/errors.ts"
import type { OpenOptions, Session, Sessions } from "./types.ts"

export async function continueRecent(
  sessions: Sessions,
  { cwd, pointer, ...o }: OpenOptions & { readonly cwd: string; readonly pointer?: string },
): Promise<Session> {
  const session =
    (await pointed(sessions, cwd, pointer, o)) ??
    (await newest(sessions, cwd, o)) ??
    (await sessions.create({ ...o, cwd }))
  if (pointer === undefined) return session
  try {
    await sessions.pointers.set(pointer, { session: session.id, cwd }, o)
    return session
  } catch (error) {
    await session.close()
    throw error
  }
}

async function pointed(
  sessions: Sessions,
  cwd: string,
  name: string | undefined,
  o: OpenOptions,
): Promise<Session | undefined> {
  const pointer = name === undefined ? undefined : await sessions.pointers.get(name, o)
  return pointer?.cwd === cwd ? openIfThere(sessions, pointer.session, o) : undefined
}

async function newest(sessions: Sessions, cwd: string, o: OpenOptions): Promise<Session | undefined> {
  for (let cursor: string | undefined; ; ) {
    const page = await sessions.list({ ...o, cwd, limit: 10, ...(cursor === undefined ? {} : { cursor }) })
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
