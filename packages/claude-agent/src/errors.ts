/** The errors of a transcript, with what to do. */
import { SessionError } from "@sessions/core"

export function deleted(id: string): SessionError {
  return new SessionError("not_found", `Another process deletes the transcript ${id}.`, { session: id })
}

export function otherKey(id: string): SessionError {
  return new SessionError("invalid", `The session ${id} belongs to another transcript; delete or rename it.`, {
    session: id,
  })
}

export function notWritten(): SessionError {
  return new SessionError(
    "invalid",
    'The transcript was not written, because its repository writes a session with its first message only: create it with `persistAfter: "create"`, the default.',
  )
}
