/** The refusal of a file that has no message yet: an agent that was ended at once leaves such files. */
import { SessionError } from "@sessions/core"

const refusals = new WeakSet<Error>()

/** Whether an import was refused because the file has no message yet. */
export function hasNoMessage(error: unknown): boolean {
  return error instanceof Error && refusals.has(error)
}

/** `title`: of the format. */
export function noMessageError(title: string): SessionError {
  const error = new SessionError("not_a_session", `The session of ${title} has no message yet.`)
  refusals.add(error)
  return error
}
