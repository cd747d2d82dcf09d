/** What the append queue says to those whose append did not go as they wished. */
import { SessionError } from "../format/errors.ts"
import type { SessionStorage } from "../storage/contract.ts"
import { StorageError } from "../storage/errors.ts"

interface About {
  readonly id: string
  readonly storage: SessionStorage
}

export function taken(about: About): SessionError {
  return new SessionError(
    "exists",
    `There is a session ${about.id} in ${about.storage.description} already.`,
    place(about),
  )
}

export function gone(about: About): SessionError {
  const message = `The session ${about.id} was deleted, or deleted and made anew, while it was open; nothing was written to what is there now.`
  return new SessionError("not_found", message, place(about))
}

export function otherWriter(about: About): SessionError {
  const message = `Another writer has continued ${about.id}; nothing was written. Read the context again and decide.`
  return new SessionError("conflict", message, place(about))
}

export function unknownOutcome(about: About, cause: unknown): StorageError {
  const message = `Nobody can say yet whether the append to ${about.id} arrived in ${about.storage.description}. The next append or flush finds out.`
  return new StorageError("indeterminate", message, { ...place(about), cause })
}

export function behindUnknown(about: About, cause: unknown): StorageError {
  const message = `Nothing of this was written to ${about.id}: nobody can say yet whether the append before it arrived in ${about.storage.description}.`
  return new StorageError("unavailable", message, { ...place(about), cause })
}

export function aborted(session: string, signal: AbortSignal, sent: boolean): StorageError {
  const message = sent
    ? `The wait for an append to ${session} was aborted; it had been sent, and settles by itself.`
    : `The append to ${session} was aborted before it was sent.`
  return new StorageError("aborted", message, { session, sent, cause: signal.reason })
}

function place({ id, storage }: About): { session: string; storage: string } {
  return { session: id, storage: storage.description }
}
