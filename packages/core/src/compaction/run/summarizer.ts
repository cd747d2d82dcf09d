/** Asks the caller's model for a summary and rejects incomplete answers. */
import type { Usage } from "../../format/message.ts"
import type { CompactionEntry } from "../../format/entry.ts"
import { type Fields, isObject } from "../../format/shape.ts"
import { onAbort, rejectOnAbort } from "../../storage/signals.ts"
import { type AnswerProblem, readAnswer } from "../summary/answer.ts"
import { SUMMARY_SYSTEM_PROMPT } from "../summary/prompts.ts"
import type { Summarize, SummarizeRequest, SummaryPrompts } from "../../compaction-settings/types.ts"
import { abortedError, failedError, invalidError } from "./failure.ts"
import { readUsage } from "../../format/usage.ts"

export interface Summarizer {
  readonly session: string
  readonly summarize: Summarize
  /** Milliseconds. */
  readonly timeout: number
  readonly temperature?: number | undefined
  readonly prompts: SummaryPrompts
  readonly signal: AbortSignal
  /** Makes the error of a failed request. Default: the error of a failed compaction. */
  readonly fail?: typeof failedError
}

/** The function that the settings name; throws `invalid` if they name none. */
export function summarizeOf(session: string, { summarize }: { readonly summarize?: Summarize }): Summarize {
  if (summarize !== undefined) return summarize
  throw invalidError(
    session,
    "There is no `summarize` function: pass one in the call, or in the settings of the sessions.",
  )
}

/** The longest delay of a timer; a longer one would fire at once. */
const LONGEST_TIMEOUT = 2 ** 31 - 1

/** The reason that is given for an answer that cannot be used. */
const PROBLEMS: Readonly<Record<AnswerProblem, string>> = {
  length: "the summarizer's answer was cut off by its length; ask for a shorter one, or raise maxSummaryTokens",
  call: "the summarizer called a tool instead of answering; give it no tools",
  refusal: "the summarizer refused to answer",
  broken: "the summarizer's answer broke off",
  unknown: 'the summarizer\'s answer does not say that it is complete; if it is, return it with the stopReason "stop"',
  empty: "the summarizer gave no text",
}

export interface Summary {
  readonly text: string
  /** The valid numbers of the reported usage. */
  readonly usage: Usage | undefined
  readonly kept: KeptFields
}

/** Fields of an answer that the compaction stores. */
export type KeptFields = Pick<CompactionEntry, "shortSummary" | "preserveData">

/** Rejects with `compaction_failed` if no complete text comes in time, or with `aborted`. */
export async function askSummarizer(to: Summarizer, prompt: string, maxTokens: number): Promise<Summary> {
  const { session, temperature, signal, fail = failedError } = to
  if (signal.aborted) throw abortedError(session, signal)
  const stop = new AbortController()
  const off = onAbort(signal, () => stop.abort(signal.reason))
  const late = fail(session, `the summarizer gave no answer within ${to.timeout} ms`)
  const timer = setTimeout(() => stop.abort(late), Math.min(to.timeout, LONGEST_TIMEOUT))
  const request: SummarizeRequest = {
    system: to.prompts.system ?? SUMMARY_SYSTEM_PROMPT,
    prompt,
    maxTokens,
    ...(temperature === undefined ? {} : { temperature }),
    signal: stop.signal,
  }
  let answer: unknown
  try {
    // A summarizer may ignore its signal.
    answer = await rejectOnAbort(Promise.resolve(to.summarize(request)), stop.signal, () => late)
  } catch (cause) {
    if (signal.aborted) throw abortedError(session, signal)
    if (stop.signal.aborted) throw late
    throw fail(session, `the summarizer failed: ${cause instanceof Error ? cause.message : String(cause)}`, cause)
  } finally {
    clearTimeout(timer)
    off()
  }
  const read = readAnswer(answer)
  if (read.problem !== undefined) {
    const word = read.word === undefined ? "" : ` (it ended with ${JSON.stringify(read.word)})`
    throw fail(session, `${PROBLEMS[read.problem]}${word}`)
  }
  if (!isObject(answer)) return { text: read.text, usage: undefined, kept: {} }
  return { text: read.text, usage: readUsage(answer["usage"]), kept: keptOf(session, answer, fail) }
}

function keptOf(session: string, { shortSummary, preserveData }: Fields, fail: typeof failedError): KeptFields {
  if (shortSummary !== undefined && shortSummary !== null && (typeof shortSummary !== "string" || !shortSummary.trim()))
    throw fail(session, "the answer's shortSummary is not a text that is not empty; leave it out if there is none")
  if (preserveData !== undefined && !isJson(preserveData))
    throw fail(session, "the answer's preserveData cannot be written as JSON; give plain values without circles")
  return {
    ...(typeof shortSummary === "string" ? { shortSummary } : {}),
    ...(preserveData === undefined ? {} : { preserveData }),
  }
}

function isJson(value: unknown): boolean {
  try {
    return JSON.stringify(value) !== undefined
  } catch {
    return false
  }
}
