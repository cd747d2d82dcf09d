/** Asks the caller's model for a summary and rejects incomplete answers. */
import type { Usage } from "../../format/message.ts"
import { isObject } from "../../format/shape.ts"
import { onAbort, rejectOnAbort } from "../../storage/signals.ts"
import { SUMMARY_SYSTEM_PROMPT } from "../summary/prompts.ts"
import type { Summarize, SummarizeRequest } from "../types.ts"
import { aborted, failed, invalid } from "./failure.ts"
import { usageOf } from "./usage.ts"

export interface Summarizer {
  readonly session: string
  readonly summarize: Summarize
  /** Milliseconds. */
  readonly timeout: number
  readonly temperature?: number | undefined
  readonly signal: AbortSignal
  /** Makes the error of a failed request. Default: the error of a failed compaction. */
  readonly fail?: typeof failed
}

/** The function that the settings name; throws `invalid` if they name none. */
export function summarizeOf(session: string, { summarize }: { readonly summarize?: Summarize }): Summarize {
  if (summarize !== undefined) return summarize
  throw invalid(session, "There is no `summarize` function: pass one in the call, or in the settings of the sessions.")
}

/** The longest delay of a timer; a longer one would fire at once. */
const LONGEST_TIMEOUT = 2 ** 31 - 1

const CALLED_A_TOOL = "the summarizer called a tool instead of answering; give it no tools"

/** The providers' stop reasons of incomplete answers. Compared without case and separators. */
const BAD_STOPS: readonly (readonly [why: string, names: readonly string[]])[] = [
  [
    "the summarizer's answer was cut off by its length; ask for a shorter one, or raise maxSummaryTokens",
    ["length", "maxtokens", "maxoutputtokens", "tokenlimit", "incomplete", "modelcontextwindowexceeded"],
  ],
  [CALLED_A_TOOL, ["tooluse", "toolcall", "toolcalls", "functioncall", "malformedfunctioncall", "pauseturn"]],
  [
    "the summarizer refused to answer",
    ["refusal", "refused", "contentfilter", "safety", "recitation", "blocklist", "prohibitedcontent", "spii"],
  ],
  ["the summarizer's answer broke off", ["error", "failed", "aborted", "cancelled", "canceled"]],
]

/** Block types of a tool call, in this format and in those of the common providers. */
const CALLS: ReadonlySet<unknown> = new Set(["toolCall", "tool_use", "tool_call", "function_call", "server_tool_use"])

export interface Summary {
  readonly text: string
  /** The valid numbers of the reported usage. */
  readonly usage: Usage | undefined
}

/** Rejects with `compaction_failed` if no complete text comes in time, or with `aborted`. */
export async function askSummarizer(to: Summarizer, prompt: string, maxTokens: number): Promise<Summary> {
  const { session, temperature, signal, fail = failed } = to
  if (signal.aborted) throw aborted(session, signal)
  const stop = new AbortController()
  const off = onAbort(signal, () => stop.abort(signal.reason))
  const late = fail(session, `the summarizer gave no answer within ${to.timeout} ms`)
  const timer = setTimeout(() => stop.abort(late), Math.min(to.timeout, LONGEST_TIMEOUT))
  const request: SummarizeRequest = {
    system: SUMMARY_SYSTEM_PROMPT,
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
    if (signal.aborted) throw aborted(session, signal)
    if (stop.signal.aborted) throw late
    throw fail(session, `the summarizer failed: ${cause instanceof Error ? cause.message : String(cause)}`, cause)
  } finally {
    clearTimeout(timer)
    off()
  }
  const text = wholeText(answer, (why) => fail(session, why))
  return { text, usage: isObject(answer) ? usageOf(answer["usage"]) : undefined }
}

function wholeText(answer: unknown, fail: (why: string) => Error): string {
  const { text, content, stopReason } = typeof answer === "string" ? { text: answer } : isObject(answer) ? answer : {}
  const stop = typeof stopReason === "string" ? stopReason.toLowerCase().replace(/[^a-z]/g, "") : ""
  for (const [why, names] of BAD_STOPS) if (names.includes(stop)) throw fail(why)
  const blocks: readonly unknown[] = Array.isArray(content) ? content : []
  if (blocks.some((block) => isObject(block) && CALLS.has(block["type"]))) throw fail(CALLED_A_TOOL)
  const said = typeof text === "string" ? text : typeof content === "string" ? content : textOf(blocks)
  if (said.trim() === "") throw fail("the summarizer gave no text")
  return said.trim()
}

function textOf(blocks: readonly unknown[]): string {
  return blocks
    .flatMap((block) => (isObject(block) && block["type"] === "text" ? [String(block["text"] ?? "")] : []))
    .join("\n")
}
