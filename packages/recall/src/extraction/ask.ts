/** Calls the caller's model, with a time limit, and reads the text and the usage of its answer. */
import type { Usage } from "@sessions/core"
import { type AnswerProblem, readAnswer, type Summarize, type SummarizeRequest } from "@sessions/core/compaction"
import { readUsage } from "@sessions/core/format"
import { checkSignal, onAbort } from "@sessions/core/storage"
import { RecallError } from "../error.ts"

export interface Answer {
  readonly text: string
  /** The valid numbers of the report. */
  readonly usage?: Usage
  readonly model?: { readonly provider: string; readonly model: string }
}

/** The longest delay of a timer; a longer one would fire at once. */
const LONGEST_TIMEOUT = 2 ** 31 - 1

/** Rejects with `extraction_failed` if the model fails or gives no text in time, and with `aborted` at the signal. */
export async function askModel(
  ask: Summarize,
  request: Omit<SummarizeRequest, "signal">,
  { timeout, signal }: { readonly timeout: number; readonly signal?: AbortSignal },
): Promise<Answer> {
  checkSignal(signal)
  const stop = new AbortController()
  const late = new RecallError("extraction_failed", `The model gave no answer within ${timeout} ms.`)
  const timer = setTimeout(() => stop.abort(late), Math.min(timeout, LONGEST_TIMEOUT))
  const off = signal === undefined ? undefined : onAbort(signal, () => stop.abort(signal.reason))
  // A model may ignore its signal, and fire it before it returns.
  const stopped = new Promise<never>((_, reject) => {
    onAbort(stop.signal, () => reject(stop.signal.reason as Error))
  })
  try {
    return answerOf(await Promise.race([asked(ask, { ...request, signal: stop.signal }), stopped]))
  } catch (cause) {
    checkSignal(signal)
    if (cause instanceof RecallError) throw cause
    if (stop.signal.aborted) throw late
    const message = `The model failed: ${cause instanceof Error ? cause.message : String(cause)}`
    throw new RecallError("extraction_failed", message, cause)
  } finally {
    clearTimeout(timer)
    off?.()
  }
}

/** A model that throws at once has failed as well. */
async function asked(ask: Summarize, request: SummarizeRequest): Promise<unknown> {
  return ask(request)
}

/** The sentences about answers that cannot be used. */
const PROBLEMS: Readonly<Record<AnswerProblem, string>> = {
  length: "The model's answer was cut off by its length: raise `maxTokens`",
  call: "The model called a tool instead of answering: give it no tools",
  refusal: "The model refused to answer",
  broken: "The model's answer broke off",
  unknown: 'The model\'s answer does not say that it is complete: if it is, return it with the stopReason "stop"',
  empty: "The model gave no text",
}

function answerOf(answer: unknown): Answer {
  const read = readAnswer(answer)
  if (read.problem !== undefined) {
    const word = read.word === undefined ? "" : ` (it ended with ${JSON.stringify(read.word)})`
    throw new RecallError("extraction_failed", `${PROBLEMS[read.problem]}${word}.`)
  }
  const {
    usage: report,
    provider,
    model,
  } = (typeof answer === "object" ? answer : {}) as Readonly<Record<string, unknown>>
  const usage = readUsage(report)
  const isNamed = typeof provider === "string" && typeof model === "string"
  return { text: read.text, ...(usage !== undefined && { usage }), ...(isNamed && { model: { provider, model } }) }
}
