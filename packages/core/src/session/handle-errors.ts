/** What a handle is refused, in words. */
import { SessionError } from "../format/errors.ts"

export function notInTurn(session: string): SessionError {
  const message = `autoCompact() runs between the turns of ${session}, never within one. There, call compact().`
  return new SessionError("invalid", message, { session })
}

export function closed(session: string): SessionError {
  return new SessionError("closed", `This handle on session ${session} was closed. Open the session again.`, {
    session,
  })
}
