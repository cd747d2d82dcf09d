/** The messages of lines of Claude Code, with the hints by which they are encoded as they were. */
import type { AssistantMessage, ContentBlock, ToolResultMessage, UserMessage } from "@sessions/core"
import { type Fields, fieldsOf, stringOf } from "../base/values.ts"
import { blocksOf, isListOfText, isToolResult, resultOf, usageOf } from "./blocks.ts"
import type { Hint } from "./encode.ts"
import { isMade } from "./prompt.ts"

/** The message of the lines of one message of the API. */
export function assistantOf(lines: readonly Fields[]): { readonly message: AssistantMessage; readonly hint?: Hint } {
  const contents = lines.map(({ message }) => blocksOf((message as Fields)["content"]))
  const last = fieldsOf(lines.at(-1)?.["message"])
  const isMade = last["model"] === "<synthetic>" || lines.some(({ isApiErrorMessage }) => isApiErrorMessage === true)
  const model = isMade ? undefined : stringOf(last["model"])
  const usage = usageOf(last["usage"])
  const stopReason = stringOf(last["stop_reason"])
  const message: { -readonly [K in keyof AssistantMessage]: AssistantMessage[K] } = {
    role: "assistant",
    content: contents.length === 1 ? (contents[0] ?? []) : contents.flat(),
  }
  if (model !== undefined) {
    message.provider = "anthropic"
    message.model = model
  }
  if (usage !== undefined) message.usage = usage
  if (stopReason !== undefined) message.stopReason = stopReason
  if (isMade) message.synthetic = true
  const isText = lines.length === 1 && typeof last["content"] === "string"
  const isPlain = contents.every((content, i) => content.length === 1 || i === contents.length - 1)
  if (isText) return { message, hint: { text: true } }
  return { message, ...(isPlain ? {} : { hint: { blocks: contents.map(({ length }) => length) } }) }
}

/** What a user line is: tool results, and a message of the user if there is more. `calls`: the names of the tools by the ids of their calls. */
export function userOf(
  line: Fields,
  calls: ReadonlyMap<string, string> | undefined,
): { readonly results: readonly ToolResultMessage[]; readonly user: UserMessage | undefined; readonly hint?: Hint } {
  const { content } = line["message"] as Fields
  const blocks = Array.isArray(content) ? (content as readonly unknown[]) : []
  const found = blocks.filter(isToolResult)
  const others = found.length === 0 ? content : blocks.filter((block) => !isToolResult(block))
  const results = found.map((block) => resultOf(block, calls?.get(block["tool_use_id"] as string)))
  const hasUser = found.length === 0 || (others as readonly unknown[]).length > 0
  const user = hasUser ? saidOf(line, blocksOf(others)) : undefined
  const list = found.length === 0 ? isListOfText(content) : found.some((block) => isListOfText(block["content"]))
  const parts = results.length + (user === undefined ? 0 : 1)
  const hint = { ...(list ? { list } : {}), ...(parts > 1 ? { parts } : {}) }
  return { results, user, ...(list || parts > 1 ? { hint } : {}) }
}

function saidOf(line: Fields, content: readonly ContentBlock[]): UserMessage {
  const message: { -readonly [K in keyof UserMessage]: UserMessage[K] } = { role: "user", content }
  if (line["isMeta"] === true || isMade(message)) message.synthetic = true
  if (line["isCompactSummary"] === true) message.summary = true
  return message
}
