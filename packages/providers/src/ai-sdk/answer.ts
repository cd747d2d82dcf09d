/** An answer of the AI SDK as messages: one for each call of the model, and one for each result of a tool that the SDK has executed. */
import type { AssistantMessage, ContentBlock, ToolResultMessage, Usage } from "@sessions/core"
import { type Fields, fieldsOf, isObject, textBlock } from "@sessions/formats/messages/values"
import { answerEntry, usageOf } from "../shared/answer.ts"
import { checkArgument, isBlocks } from "../shared/check.ts"
import type { AnswerEntry } from "../shared/types.ts"
import { blockOfPart, resultOfPart } from "./parts.ts"
import type { AiSdkAnswer, AiSdkStep } from "./types.ts"

export type AiSdkEntry = {
  readonly type: "message"
  readonly message: AssistantMessage | ToolResultMessage
}

/** An answer as entries for `session.append`. */
export function fromAiSdk(answer: AiSdkAnswer): readonly AiSdkEntry[] {
  const takes = "an answer, as `await generateText(…)`, with the lists `responseMessages` and `steps`"
  checkArgument("fromAiSdk", isAnswer(fieldsOf(answer)), takes, answer)
  const { responseMessages, steps } = answer
  let step = 0
  return responseMessages.flatMap(({ role, content }): readonly AiSdkEntry[] => {
    if (role === "assistant") return [stepEntry(blocksOf(content), steps[step++])]
    return (content as readonly Fields[]).flatMap((part) =>
      part["type"] === "tool-result" ? [{ type: "message" as const, message: resultOfPart(part) }] : [],
    )
  })
}

function isAnswer({ responseMessages, steps }: Fields): boolean {
  if (!isBlocks(responseMessages) || !isBlocks(steps)) return false
  const isStep = ({ model, response }: Fields) => isObject(model) && isObject(response)
  const isMessage = ({ role, content }: Fields) =>
    isBlocks(content) || (role === "assistant" && typeof content === "string")
  return steps.every(isStep) && responseMessages.every(isMessage)
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
