/** The errors with which appends are refused or given up. */
import type { Entry } from "../format/entry.ts"
import { SessionError } from "../format/errors.ts"
import type { SessionStorage } from "../storage/contract.ts"
import { StorageError } from "../storage/errors.ts"

/** `sent`: entries of the append are in the log. */
export function idExistsError(session: string, entry: string, sent = false): SessionError {
  const written = sent ? " The entries before it are written." : ""
  const message = `The id ${JSON.stringify(entry)} is taken: session ${session} has other content under it.${written} Use a new id, or send the same content.`
  return new SessionError("exists", message, { session, sent })
}

interface About {
  readonly id: string
  readonly storage: SessionStorage
}

export function sessionExistsError(about: About): SessionError {
  return refusalError("exists", about, `There is a session ${about.id} in ${about.storage.description} already.`)
}

/** `lost`: what the session had appended. */
export function deletedSessionError(about: About, lost: readonly Entry[], outcome = ""): SessionError {
  const message = `The session ${about.id} was deleted, or deleted and created again, while it was open.${outcome} \`lost\` has what it had appended.`
  return new SessionError("not_found", message, { ...location(about), lost })
}

export function otherWriterError(about: About): SessionError {
  const message = `Another writer has continued ${about.id}; nothing was written. Read the context again.`
  return refusalError("conflict", about, message)
}

export function notMovableError(session: string, type: string): SessionError {
  const message = `An entry of type ${type} depends on its place: it cannot be appended with onConflict "rebase".`
  return new SessionError("invalid", message, { session })
}

export function unknownOutcomeError(about: About, cause: unknown): StorageError {
  const message = `It is not known yet whether the write to ${about.id} arrived in ${about.storage.description}. The next append, flush or opening finds out.`
  return new StorageError("indeterminate", message, { ...location(about), cause })
}

export function behindUnknownError(about: About, cause: unknown): StorageError {
  const message = `Not written to ${about.id}: it is not known yet whether the append before it arrived in ${about.storage.description}.`
  return new StorageError("unavailable", message, { ...location(about), cause })
}

export function abortedError(session: string, signal: AbortSignal, sent: boolean): StorageError {
  const message = sent
    ? `The wait for an append to ${session} was aborted; it had been sent, and may still be written.`
    : `The append to ${session} was aborted before it was sent.`
  return new StorageError("aborted", message, { session, sent, cause: signal.reason })
}

/** Makes the error of a wait whose work goes on. */
export function toWaitAbortedError(session: string, message: string): (cause: unknown) => StorageError {
  return (cause) => new StorageError("aborted", message, { session, cause })
}

function refusalError(code: "exists" | "conflict", about: About, message: string): SessionError {
  return new SessionError(code, message, location(about))
}

function location({ id, storage }: About): { session: string; storage: string } {
  return { session: id, storage: storage.description }
}
