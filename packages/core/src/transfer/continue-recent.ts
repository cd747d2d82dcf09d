/** Resumes the session of a pointer, else the newest session that a person works in, else creates one. */
import { hasCode, SessionError } from "../format/errors.ts"
import type { AnyOwnEntry, OwnEntry } from "../format/entry.ts"
import { checkCallOptions, type OptionChecks } from "../format/options.ts"
import { isAnything, isBoolean } from "../format/shape.ts"
import type { AnyMetadata } from "../info/projection.ts"
import { OPEN } from "../session/arguments.ts"
import { insideOfSessions } from "../session/inside.ts"
import type { OpenOptions, Sessions } from "../session/repository-types.ts"
import type { Session } from "../session/types.ts"
import { signalOf } from "../storage/signals.ts"
import { getPointer, setPointer } from "./pointers.ts"
import type { ContinueOptions } from "./types.ts"

const CONTINUE: OptionChecks<ContinueOptions> = { ...OPEN, cwd: isAnything, pointer: isAnything, create: isBoolean }

/**
 * Opens the session of the pointer if it exists and was set for this cwd, else the newest session of the cwd that a person works in,
 * else creates one; with `create: false` it rejects with `not_found` instead, and without a cwd it looks in all folders. A person does
 * not work in sessions with a kind, of `source: "cron"`, or without a message other than synthetic ones.
 */
export async function continueRecent<Own extends OwnEntry = AnyOwnEntry, Metadata extends object = AnyMetadata>(
  sessions: Sessions<Own, Metadata>,
  o: ContinueOptions,
): Promise<Session<Own, Metadata>> {
  const given: Partial<ContinueOptions> = o ?? {}
  checkCallOptions("continueRecent", given, CONTINUE)
  insideOfSessions("continueRecent", sessions)
  const session = await continued(sessions as unknown as Sessions, given)
  return session as unknown as Session<Own, Metadata>
}

async function continued(sessions: Sessions, options: Partial<ContinueOptions>): Promise<Session> {
  const { cwd, pointer, create = true, ...o } = options
  if (typeof cwd !== "string" && (cwd !== undefined || create || pointer !== undefined))
    throw new SessionError("invalid", "continueRecent needs the `cwd` of the session, a string.")
  const target = pointer === undefined ? undefined : await getPointer(sessions, pointer, signalOf(o))
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
    await setPointer(sessions, pointer, { session: session.id, ...folder }, signalOf(o))
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
    const page = await sessions.list({ ...signalOf(o), ...found, ...from })
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
