/** An answer of the Responses API as a message: one block for each reasoning, part of a text and call, in the order of the items. */
import type { ContentBlock, Usage } from "@sessions/core"
import { messageOfItem, thinkingOfItem } from "@sessions/formats/messages/openai-responses"
import { type Fields, fieldsOf, numberOf, stringOf, textBlock } from "@sessions/formats/messages/values"
import { answerEntry, partialCall, uncached, usageOf } from "../shared/answer.ts"
import { checkArgument, checkCall, type Checks, isBlocks, TEXT } from "../shared/check.ts"
import { withNative } from "../shared/native.ts"
import type { AnswerEntry } from "../shared/types.ts"
import { hostedCall, ITEM, type Pairs, pairsOf } from "./hosted.ts"
import { linksOf } from "./reasoning.ts"
import { STORED_SECONDS } from "./rules.ts"
import type { ResponsesAnswer } from "./types.ts"

/** A part of a text that ours do not have, as it was: `{part}`. */
export const PART = "openai:item_part"

export interface ResponsesAnswerOptions {
  /** The provider's name in the log. Default `"openai"`. Reasoning and items go back to the provider of this name only. */
  readonly provider?: string
}

export const ANSWER: Checks<ResponsesAnswerOptions> = { provider: TEXT }

/** An answer as an entry for `session.append`. One that has failed has `stopReason: "error"`. */
export function fromOpenAIResponses(answer: ResponsesAnswer, o: ResponsesAnswerOptions = {}): AnswerEntry {
  const takes = "an answer of `client.responses.create()`, with the list `output`"
  checkArgument("fromOpenAIResponses", isBlocks(fieldsOf(answer)["output"]), takes, answer)
  checkCall("fromOpenAIResponses", o, ANSWER)
  return entryOf(answer, o)
}

/** `answer` is one, such as that of the last event of a stream. */
export function entryOf(answer: ResponsesAnswer, o: ResponsesAnswerOptions): AnswerEntry {
  const { status, incomplete_details: incomplete, error } = answer
  const isCut = status === "failed" || status === "cancelled" || status === "incomplete"
  const content = contentOf(answer.output as readonly Fields[], answer, isCut)
  const stopReason = incomplete?.reason ?? STOPS[status ?? ""] ?? status
  const { type, message } = answerOf(answer, content, stopReason, o)
  return { type, message: { ...message, ...(error?.message === undefined ? {} : { errorMessage: error.message }) } }
}

/** As `session.compact` and other readers of the log know them. */
const STOPS: Readonly<Record<string, string>> = { failed: "error", cancelled: "aborted" }

export function answerOf(
  { id, model, usage }: ResponsesAnswer,
  content: readonly ContentBlock[],
  stopReason: unknown,
  { provider = "openai" }: ResponsesAnswerOptions,
): AnswerEntry {
  return answerEntry({ content, provider, model, usage: responsesUsage(usage), stopReason, responseId: id })
}

/** `isCut`: items may not be whole. */
export function contentOf(items: readonly Fields[], answer: ResponsesAnswer, isCut: boolean): readonly ContentBlock[] {
  const links = linksOf(items)
  const pairs = pairsOf(items)
  const made = numberOf(answer.created_at)
  return items.flatMap((item, i) => {
    const own = links[i] ?? {}
    if (item["type"] !== "reasoning") return blocksOfItem(item, pairs, isCut, own as Fields)
    const isReference = item["encrypted_content"] === null || item["encrypted_content"] === undefined
    const ends = isReference && made !== undefined ? { until: made + STORED_SECONDS } : {}
    const { type: _, ...fields } = item
    return [{ ...thinkingOfItem(item), native: { api: "openai-responses", fields, ...own, ...ends } }]
  })
}

function blocksOfItem(item: Fields, pairs: Pairs, isCut: boolean, links: Fields): readonly ContentBlock[] {
  const { type, content, call_id: callId, name } = item
  if (type === "message") {
    const { content: _, type: __, role: ___, ...fields } = isCut ? { ...item, status: "incomplete" } : item
    return ((content ?? []) as readonly Fields[]).map((part) => textOfPart(part, fields, links))
  }
  const received = stringOf(item["arguments"]) ?? stringOf(item["input"]) ?? ""
  if (isCut && item["status"] === "in_progress") return [partialCall(callId ?? item["id"], name ?? type, received)]
  if (type !== "function_call" && type !== "custom_tool_call")
    return [
      hostedCall(item, pairs, links) ?? { type: ITEM, item, native: { api: "openai-responses", fields: {}, ...links } },
    ]
  const [block] = (messageOfItem(item, new Map())?.["content"] ?? []) as readonly ContentBlock[]
  if (block === undefined) return []
  const call = withNative(block, "openai-responses", item, writtenCall(block)) as Fields
  const native = { api: "openai-responses", fields: {}, ...fieldsOf(call["native"]), ...links }
  return [{ ...block, native }]
}

function textOfPart(part: Fields, item: Fields, links: Fields): ContentBlock {
  const { type, text, refusal, ...more } = part
  const native = {
    api: "openai-responses",
    fields: { item, ...(Object.keys(more).length === 0 ? {} : { part: more }) },
    ...links,
  }
  if (type === "refusal") return { ...textBlock(stringOf(refusal) ?? ""), refusal: true, native }
  if (type === "output_text") return { ...textBlock(stringOf(text) ?? ""), native }
  return { type: PART, part, native }
}

function writtenCall(block: ContentBlock): Fields {
  const { id, name, arguments: args } = block as unknown as Fields
  return { type: "function_call", call_id: id, name, arguments: JSON.stringify(args) }
}

export function responsesUsage(value: unknown): Usage | undefined {
  const {
    input_tokens: input,
    output_tokens: output,
    total_tokens: totalTokens,
    input_tokens_details,
  } = fieldsOf(value)
  const { cached_tokens: cacheRead, cache_write_tokens: cacheWrite } = fieldsOf(input_tokens_details)
  return usageOf({ input: uncached(input, cacheRead, cacheWrite), output, cacheRead, cacheWrite, totalTokens })
}
