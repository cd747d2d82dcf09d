/** From what a person writes for a session to its id. */
import { isAbsolute, posix, resolve, win32 } from "node:path"
import type { Sessions } from "@sessions/core"
import { checkSessionId, hasCode, isSessionId } from "@sessions/core/storage"
import { CommandError, UsageError } from "../errors.ts"

export const LAST = "@last"

/** The whole id of a session: given whole, as the start of one, or as `@last`. */
export async function resolveSession(sessions: Sessions, ref: string): Promise<string> {
  if (ref === LAST) return lastSession(sessions)
  const { storage } = sessions
  if (isSessionId(ref) && (await storage.head(ref)) !== undefined) return ref
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(ref)) throw badId(ref)
  const matches: string[] = []
  for await (const { id } of storage.list()) if (id.startsWith(ref)) matches.push(id)
  const [match, other] = matches.sort()
  if (match === undefined)
    throw new CommandError(`${storage.description} has no session ${ref}; "sessions list" shows what it has.`)
  if (other === undefined) return match
  const shown = matches.slice(0, 3).join(", ")
  throw new CommandError(
    `${ref} could be ${matches.length} sessions (${shown}${matches.length > 3 ? ", …" : ""}); write more of the id.`,
  )
}

/** A new session's id, as given with `--id`. */
export function newId(id: string | undefined): { id?: string } {
  if (id === undefined) return {}
  if (!isSessionId(id)) throw badId(id)
  return { id }
}

/** A folder as sessions record it: absolute. One that is absolute anywhere is taken as given: it may be of another machine. */
export function folder(path: string, cwd: string): string {
  return isAbsolute(path) || posix.isAbsolute(path) || win32.isAbsolute(path) ? path : resolve(cwd, path)
}

async function lastSession(sessions: Sessions): Promise<string> {
  const page = await sessions.list({ limit: 1 })
  // It may be the last one: another must not silently be taken for it.
  const away = page.unreadable.find(({ error }) => hasCode(error, "unavailable"))
  if (away !== undefined) throw away.error
  const [info] = page.sessions
  if (info !== undefined) return info.id
  throw new CommandError(
    `${sessions.storage.description} has no session yet, so there is no @last; "sessions import FILE" makes one.`,
  )
}

function badId(id: string): UsageError {
  try {
    checkSessionId(id)
  } catch (error) {
    if (hasCode(error, "invalid")) return new UsageError(error.message)
    throw error
  }
  return new UsageError(`${JSON.stringify(id)} is not a session id.`)
}
