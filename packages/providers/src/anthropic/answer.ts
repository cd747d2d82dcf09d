/** An answer of Anthropic's API as a message. */
import type { ContentBlock } from "@sessions/core"
import { anthropicBlockOf, blocksOfAnthropic, usageOfAnthropic } from "@sessions/formats/messages/anthropic"
import { type Fields, fieldsOf, isObject, stringOf } from "@sessions/formats/messages/values"
import { answerEntry } from "../shared/answer.ts"
import { checkArgument, isBlocks } from "../shared/check.ts"
import { withNative } from "../shared/native.ts"
import type { AnswerEntry } from "../shared/types.ts"
import type { AnthropicAnswer } from "./types.ts"

/** Begins the types of blocks that ours do not have, such as `anthropic:redacted_thinking`. */
export const PREFIX = "anthropic:"

/** An answer as an entry for `session.append`. */
export function fromAnthropic(answer: AnthropicAnswer): AnswerEntry {
  const takes = "an answer of `client.messages.create()`, with the list `content`"
  checkArgument("fromAnthropic", isBlocks(fieldsOf(answer)["content"]), takes, answer)
  return answerOf(answer, answer.content.map(blockOf))
}

export function answerOf(
  { id, model, stop_reason: stopReason, usage, container }: AnthropicAnswer,
  content: readonly ContentBlock[],
): AnswerEntry {
  const counts = usageOfAnthropic(usage)
  const entry = answerEntry({ content, provider: "anthropic", model, usage: counts, stopReason, responseId: id })
  return isObject(container)
    ? { ...entry, message: { ...entry.message, native: { api: "anthropic", fields: { container } } } }
    : entry
}

const OURS: ReadonlySet<string> = new Set(["text", "thinking", "tool_use"])

export function blockOf(value: object): ContentBlock {
  const theirs = value as Fields
  const type = stringOf(theirs["type"]) ?? "unknown"
  if (!OURS.has(type)) return { ...theirs, type: `${PREFIX}${type}` }
  const [block] = blocksOfAnthropic([theirs])
  return withNative(block as ContentBlock, "anthropic", theirs, fieldsOf(anthropicBlockOf(block as ContentBlock)))
}
