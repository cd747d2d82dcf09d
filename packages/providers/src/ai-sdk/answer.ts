/** An answer of the AI SDK as messages: one for each call of the model, and one for each result of a tool that the SDK has executed. */
import type { AssistantMessage, ContentBlock, ToolResultMessage, Usage } from "@sessions/core"
import { type Fields, fieldsOf, textBlock } from "@sessions/formats/messages/values"
import { answerEntry, usageOf } from "../shared/answer.ts"
import type { AnswerEntry } from "../shared/types.ts"
import { blockOfPart, resultOfPart } from "./parts.ts"
import type { AiSdkAnswer, AiSdkStep } from "./types.ts"

export type AiSdkEntry = {
  readonly type: "message"
  readonly message: AssistantMessage | ToolResultMessage
}

/** An answer as entries for `session.append`. */
export function fromAiSdk({ responseMessages, steps }: AiSdkAnswer): readonly AiSdkEntry[] {
  let step = 0
  return responseMessages.flatMap(({ role, content }): readonly AiSdkEntry[] => {
    if (role === "assistant") return [stepEntry(blocksOf(content), steps[step++])]
    return (content as readonly Fields[]).flatMap((part) =>
      part["type"] === "tool-result" ? [{ type: "message" as const, message: resultOfPart(part) }] : [],
    )
  })
}

function blocksOf(content: unknown): readonly ContentBlock[] {
  if (typeof content === "string") return content === "" ? [] : [textBlock(content)]
  return (content as readonly Fields[]).map(blockOfPart)
}

export function stepEntry(content: readonly ContentBlock[], step: AiSdkStep | undefined): AnswerEntry {
  return answerEntry({
    content,
    provider: providerOf(step?.model.provider),
    model: step?.model.modelId,
    usage: aiSdkUsage(step?.usage),
    stopReason: step?.finishReason,
    responseId: step?.response.id,
  })
}

/** `"anthropic.messages"` of the AI SDK is `"anthropic"`. */
export function providerOf(name: string | undefined): string | undefined {
  return name?.split(".")[0]
}

export function aiSdkUsage(value: unknown): Usage | undefined {
  const { inputTokens, outputTokens, totalTokens, inputTokenDetails } = fieldsOf(value)
  const { noCacheTokens, cacheReadTokens: cacheRead, cacheWriteTokens: cacheWrite } = fieldsOf(inputTokenDetails)
  return usageOf({ input: noCacheTokens ?? inputTokens, output: outputTokens, cacheRead, cacheWrite, totalTokens })
}
