/** The errors of a transcript, with what to do. */
import { SessionError } from "@sessions/core"

export function deletedError(id: string): SessionError {
  return new SessionError("not_found", `Another process deletes the transcript ${id}.`, { session: id })
}

export function otherKeyError(id: string): SessionError {
  return new SessionError("invalid", `The session ${id} belongs to another transcript; delete or rename it.`, {
    session: id,
  })
}
