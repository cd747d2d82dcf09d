/** The errors of a run. But for {@link notStoredError}, nothing was executed. */
import { hasCode, SessionError } from "@sessions/core"
import type { CallResult } from "./types.ts"

/** Whether a `conflict` is no other writer's: the turn has lost its lease, or the log has lost lines. Nothing is tried again in it. */
export function isLoss(error: unknown): boolean {
  const { lost, leaseLost } = error as SessionError
  return hasCode(error, "conflict") && (lost !== undefined || leaseLost === true)
}

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

/** Lines that were acknowledged are gone: the log was put back to an older state. */
export function lostAnswerError(session: string, answer: string): SessionError {
  const message = `The log of session ${session} no longer has the message with the call (entry ${answer}).`
  return new SessionError("conflict", message, { session })
}

export function startedAgainError(session: string): SessionError {
  return new SessionError("conflict", "Another run has started the call again meanwhile.", { session })
}

export function keepsChangingError(session: string): SessionError {
  return new SessionError(
    "conflict",
    `Other writers kept appending to session ${session}; no call was run. Run them again.`,
    {
      session,
    },
  )
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

export function invalidAnswerError(answer: unknown): SessionError {
  const what = typeof answer === "string" ? JSON.stringify(answer) : `another ${typeof answer}`
  const message = `onUnknown must return { output, isError? }, "not done" or undefined, not ${what}. The call stays unknown.`
  return new SessionError("invalid", message)
}

/**
 * The error with which a storage has refused the result of a call that has run, with its code, its losses and what the call has returned: one with
 * `conflict` would say that nothing ran.
 */
export function notStoredError(session: string, id: string, cause: unknown, outcome: CallResult["outcome"]): unknown {
  if (!(cause instanceof Error)) return cause
  const message = `The call ${JSON.stringify(id)} of session ${session} has run, and its result may not be in the log: ${cause.message} Without it the call is unknown, and resume() settles it.`
  const { name, code, lost, leaseLost } = cause as SessionError
  const losses = { ...(lost === undefined ? {} : { lost }), ...(leaseLost === true ? { leaseLost } : {}) }
  return Object.assign(new Error(message, { cause }), { name, code, session, outcome, ...losses })
}

/** In the results of calls that were started and then not run. */
export const NOT_RUN = "This tool call was not run: the conversation had gone on."
export const STOPPED = "This tool call was not run: it was stopped before it began."
