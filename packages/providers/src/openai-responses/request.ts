/** A context as `instructions` and `input` of the Responses API. */
import type { ContentBlock, ContextMessage, ModelMessage } from "@sessions/core"
import { itemsOf } from "@sessions/formats/messages/openai-responses"
import { type Fields, fieldsOf } from "@sessions/formats/messages/values"
import type { Lost } from "../shared/lost.ts"
import { isEqual, isNative, nativeOf } from "../shared/native.ts"
import { prepare } from "../shared/prepare.ts"
import type { Context, ProviderRequest, RequestOptions } from "../shared/types.ts"
import { RULES } from "./rules.ts"
import { ITEM, PART } from "./answer.ts"
import type { ResponsesItem, ResponsesRequest } from "./types.ts"

const API = "openai-responses"

/** The whole conversation, for requests without `previous_response_id`. */
export function toOpenAIResponses(context: Context, o: RequestOptions = {}): ProviderRequest<ResponsesRequest> {
  const { prompt, messages, lost } = prepare(context, o, RULES)
  const custom = new Set<string>()
  const input = messages.flatMap((item) => itemsOfMessage(item, custom, lost))
  const request = {
    input: input as unknown as ResponsesItem[],
    ...(prompt === undefined ? {} : { instructions: prompt }),
  }
  return { request, diagnostics: lost.diagnostics() }
}

/** `custom`: the calls of custom tools, whose results are items of another type. */
function itemsOfMessage(
  { message, entryId }: ContextMessage<ModelMessage>,
  custom: Set<string>,
  lost: Lost,
): readonly Fields[] {
  const mapped = (part: ModelMessage) =>
    lost.mapped(entryId, (losses) => itemsOf({ id: entryId, timestamp: "", message: part }, losses))
  if (message.role !== "assistant") {
    const items = mapped({ ...message, content: message.content.map(plain) })
    if (message.role !== "toolResult") return items.filter(({ content }) => (content as string | unknown[]).length > 0)
    return custom.has(message.toolCallId) ? items.map((item) => ({ ...item, type: "custom_tool_call_output" })) : items
  }
  lost.add("attachments", entryId, message.attachments?.length ?? 0)
  const items: Fields[] = []
  // Only the user's messages and results may have images.
  const content = message.content.filter(({ type }) => type !== "image")
  lost.add("images", entryId, message.content.length - content.length)
  for (const run of runsOf(content)) {
    const [first] = run
    if (first === undefined) continue
    // Ids may come again in a later answer.
    if (first.type === "toolCall") custom.delete(first.id)
    if (first.type === "toolCall" && nativeOf(first, API)["type"] === "custom_tool_call") custom.add(first.id)
    const one = { role: "assistant", content: run.map(plain), provider: message.provider } as ModelMessage
    if (isText(first)) items.push(...textItems(run, () => mapped(one)))
    else if (first.type === ITEM) items.push(fieldsOf((first as Fields)["item"]))
    else {
      const own = first.type === "thinking" && isNative(first, API)
      items.push(...(own ? reasoning(first) : mapped(one)).map((item) => ofNative(item, first)))
    }
  }
  return withoutLastReasoning(items, entryId, lost)
}

/** The parts of one text item, and texts of other providers that follow each other; each other block alone. */
function runsOf(content: readonly ContentBlock[]): readonly (readonly ContentBlock[])[] {
  const runs: ContentBlock[][] = []
  for (const block of content) {
    const last = runs.at(-1)?.[0]
    const isSame = last !== undefined && isText(last) && isText(block) && isEqual(textItem(last), textItem(block))
    if (isSame) runs.at(-1)?.push(block)
    else runs.push([block])
  }
  return runs
}

function isText({ type }: ContentBlock): boolean {
  return type === "text" || type === PART
}

/** The fields of the text item that the block was a part of. */
function textItem(block: ContentBlock): Fields {
  return fieldsOf(nativeOf(block, API)["item"])
}

function textItems(run: readonly ContentBlock[], plainItems: () => readonly Fields[]): readonly Fields[] {
  const [first] = run
  if (first === undefined || !isNative(first, API)) return plainItems()
  const content = run.map((block) => {
    if (block.type === PART) return (block as Fields)["part"]
    const { text, refusal } = block as Fields
    const more = fieldsOf(nativeOf(block, API)["part"])
    return refusal === true
      ? { type: "refusal", refusal: text, ...more }
      : { type: "output_text", text, annotations: [], ...more }
  })
  return [{ type: "message", role: "assistant", ...textItem(first), content }]
}

function reasoning({ thinking }: ContentBlock): readonly Fields[] {
  return [{ type: "reasoning", summary: thinking === "" ? [] : [{ type: "summary_text", text: thinking }] }]
}

function ofNative(item: Fields, block: ContentBlock): Fields {
  const native = nativeOf(block, API)
  if (native["type"] !== "custom_tool_call") return { ...item, ...native }
  const { arguments: _, ...rest } = item
  return { ...rest, ...native }
}

/** Without the fields that only the API which gave them knows. */
function plain(block: ContentBlock): ContentBlock {
  return block.type === "text" ? { type: "text", text: block.text } : block
}

/** The API refuses a reasoning that nothing of the assistant follows, as an answer that was cut off has. */
function withoutLastReasoning(items: readonly Fields[], entryId: string, lost: Lost): readonly Fields[] {
  let end = items.length
  while (end > 0 && items[end - 1]?.["type"] === "reasoning") end--
  lost.add("thinking", entryId, items.length - end)
  return items.slice(0, end)
}
