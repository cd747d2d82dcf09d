/** Resolves session references and folders from the command line. */
import { posix, resolve, win32 } from "node:path"
import { hasCode, type Sessions } from "@sessions/core"
import { checkSessionId, isSessionId } from "@sessions/core/storage"
import { continueRecent } from "@sessions/core/transfer"
import { CommandError, UsageError } from "../errors.ts"
import { suggest } from "../suggest.ts"
import { idsOfAgentSession } from "./agent-ids.ts"

const LAST = "@last"

/**
 * The session id for an id, the id that an agent has given an imported session, a unique prefix of an id of ours, or `@last`, the newest one that a
 * person works in. A complete id takes precedence over a prefix.
 */
export async function resolveSession(sessions: Sessions, ref: string): Promise<string> {
  if (ref === LAST) return lastSession(sessions)
  const { storage } = sessions
  if (isSessionId(ref) && (await isThere(sessions, ref))) return ref
  const imported = await importedAs(sessions, ref)
  if (imported !== undefined) return imported
  if (!/^[\w-][\w.:@+~-]{0,127}$/.test(ref)) throw ref.startsWith("@") ? unknownName(ref) : badId(ref)
  const matches: string[] = []
  for await (const { id } of storage.list()) if (id.startsWith(ref)) matches.push(id)
  const [match, other] = matches.sort()
  if (match === undefined)
    throw new CommandError(`${storage.description} has no session ${ref}; "sessions list" shows its sessions.`)
  if (other === undefined) return match
  const shown = matches.slice(0, 3).join(", ")
  throw new CommandError(
    `${ref} matches ${matches.length} sessions (${shown}${matches.length > 3 ? ", …" : ""}); use a longer prefix.`,
  )
}

/** The session that an agent knows by this id. Two agents may have given the same one. */
async function importedAs(sessions: Sessions, ref: string): Promise<string | undefined> {
  const found: string[] = []
  for (const id of await idsOfAgentSession(ref)) if (await isThere(sessions, id)) found.push(id)
  if (found.length > 1) throw new CommandError(`${ref} is the id of ${found.length} sessions: ${found.join(", ")}.`)
  return found[0]
}

/** Whether there is a session, whether it can be read or not. */
async function isThere({ storage }: Sessions, id: string): Promise<boolean> {
  try {
    return (await storage.head(id)) !== undefined
  } catch (error) {
    if (hasCode(error, "corrupt")) return true
    throw error
  }
}

/** The ids of all sessions, whether they can be read or not. */
export async function allIds({ storage }: Sessions): Promise<string[]> {
  const ids: string[] = []
  for await (const { id } of storage.list()) ids.push(id)
  return ids
}

/** The value of `--id`, checked. */
export function newId(id: string | undefined): { id?: string } {
  if (id === undefined) return {}
  if (!isSessionId(id)) throw badId(id)
  return { id }
}

/**
 * Makes a folder absolute, as sessions have it: shells complete a folder with a slash at its end. One that is absolute on any system stays
 * there: it may belong to another machine.
 */
export function absoluteFolder(path: string, cwd: string): string {
  // Agents write the drive and the slashes of one folder in several ways.
  if (/^[a-zA-Z]:[\\/]/.test(path)) return win32.resolve(`${path.slice(0, 1).toUpperCase()}${path.slice(1)}`)
  if (posix.isAbsolute(path)) return posix.resolve(path)
  return win32.isAbsolute(path) ? win32.normalize(path).replace(/(?<=.)\\$/, "") : resolve(cwd, path)
}

async function lastSession(sessions: Sessions): Promise<string> {
  try {
    const session = await continueRecent(sessions, { create: false })
    await session.close()
    return session.id
  } catch (error) {
    if (!hasCode(error, "not_found")) throw error
    throw new CommandError(
      `${sessions.storage.description} has no session yet, apart from those with a kind, of a schedule, without a message, or that cannot be read, so @last is undefined; "sessions import FILE" creates one.`,
    )
  }
}

function unknownName(ref: string): UsageError {
  const hint =
    suggest(ref.toLowerCase(), [LAST]) === undefined
      ? "No other word than @last"
      : `Did you mean ${LAST}? No other word`
  return new UsageError(`${JSON.stringify(ref)} is not a session id. ${hint} begins with @; ids do not.`)
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
