/** Logs that were put back to an older state: see "Lost lines" in `docs/contract.md`. */
import { hasCode, type Session, type SessionError } from "@sessions/core"

/** Whether the log has lost lines, and the session goes on from it as it is. */
export function isPutBack(error: unknown): boolean {
  return hasCode(error, "conflict") && (error as SessionError).lost !== undefined
}

/**
 * Takes over what other writers have appended, for a call that has seen nothing of the session before: a loss is not its own. The handles
 * that were open then learn of it themselves. Resolves with whether lines were lost.
 */
export async function refreshed(session: Session): Promise<boolean> {
  try {
    await session.refresh()
    return false
  } catch (error) {
    if (isPutBack(error)) return true
    throw error
  }
}
