/** The refusals of a run. In each case nothing was executed. */
import { SessionError } from "@sessions/core"

export function noSuchCallError(session: string, id: string): SessionError {
  const message = `The last assistant message of session ${session} has no call ${JSON.stringify(id)}. Append the answer of the model before its calls run.`
  return new SessionError("invalid", message, { session })
}

export function heldError(session: string, id: string, start: string | undefined): SessionError {
  const by = start === undefined ? "may have run before" : `was started by another run (${start})`
  const message = `The call ${JSON.stringify(id)} of session ${session} ${by} and has no result yet, so it was not run again. resume() settles it.`
  return new SessionError("conflict", message, { session })
}

export function goneOnError(session: string, id: string, by: string): SessionError {
  const message = `The conversation of session ${session} has gone on behind the call ${JSON.stringify(id)} (entry ${by}), so the call was not run.`
  return new SessionError("conflict", message, { session })
}

export function keepsChangingError(session: string): SessionError {
  return new SessionError("conflict", `Other writers kept appending to session ${session}; no call was run.`, {
    session,
  })
}

export function invalidToolsError(name: string, kind: unknown): SessionError {
  const message = `The tool ${JSON.stringify(name)} must be "never" or "safe", not ${JSON.stringify(kind)}.`
  return new SessionError("invalid", message)
}

export function notRecordedError(): SessionError {
  const message =
    "The step before this call is not in the log, so the call was not run. Give the SDK `onLanguageModelCallEnd` and `onStepEnd` of recordAiSdk."
  return new SessionError("invalid", message)
}

export function notWrappedError(): SessionError {
  const message =
    "The tool was not run by @sessions/tool-calls. Give the SDK the tools that wrapTools or recordAiSdk returns."
  return new SessionError("invalid", message)
}

/** In the result of a call that was started and then not run. */
export const NOT_RUN = "This tool call was not run: the conversation had gone on."
