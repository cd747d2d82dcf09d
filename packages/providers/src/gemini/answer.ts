/** An answer of the Gemini API as a message. */
import { type ContentBlock, SessionError, type Usage } from "@sessions/core"
import { blockOfPart, callBlockOf } from "@sessions/formats/messages/gemini"
import { type Fields, fieldsOf, isObject, numberOf, stringOf } from "@sessions/formats/messages/values"
import { answerEntry, uncached, usageOf } from "../shared/answer.ts"
import { checkArgument, checkCall, type Checks, COUNT, isBlocks } from "../shared/check.ts"
import { withNative } from "../shared/native.ts"
import type { AnswerEntry } from "../shared/types.ts"
import type { GeminiAnswer } from "./types.ts"

export interface GeminiAnswerOptions {
  /** Which candidate, if the answer has several. Without it they are `invalid`. */
  readonly candidate?: number
}

export const ANSWER: Checks<GeminiAnswerOptions> = { candidate: COUNT }

/** A part that ours do not have, as it was: `{part}`. */
export const PART = "gemini:part"

/** An answer as an entry for `session.append`. One to a blocked prompt has no content, and the reason as its `stopReason`. */
export function fromGemini(answer: GeminiAnswer, o: GeminiAnswerOptions = {}): AnswerEntry {
  const { candidates: given, promptFeedback: feedback } = fieldsOf(answer)
  const takes = "an answer of `ai.models.generateContent()`, with the list `candidates`"
  checkArgument("fromGemini", given === undefined ? isObject(feedback) : isBlocks(given), takes, answer)
  checkCall("fromGemini", o, ANSWER)
  const { candidates = [], promptFeedback } = answer
  if (candidates.length > 1 && o.candidate === undefined) {
    const message = `The answer has ${candidates.length} candidates. Say with \`candidate\` which one to append.`
    throw new SessionError("invalid", message)
  }
  const wanted = o.candidate ?? 0
  const chosen = candidates.length === 1 ? candidates[0] : candidates.find(({ index }, i) => (index ?? i) === wanted)
  const blocked = promptFeedback?.blockReason
  if (chosen === undefined && blocked === undefined)
    throw new SessionError("invalid", `The answer has no candidate ${wanted}.`)
  const parts = chosen?.content?.parts ?? []
  checkArgument("fromGemini", isBlocks(parts), "an answer whose candidates have lists of `parts`", parts)
  return answerOf(answer, parts as readonly Fields[], chosen?.finishReason ?? blocked)
}

export function answerOf(
  { responseId, modelVersion, usageMetadata }: GeminiAnswer,
  parts: readonly Fields[],
  stopReason: string | undefined,
): AnswerEntry {
  const base = responseId ?? crypto.randomUUID()
  return answerEntry({
    content: parts.map((part, i) => blockOf(part, `${base}-${i + 1}`)),
    provider: "google",
    model: modelVersion,
    usage: geminiUsage(usageMetadata),
    stopReason,
    responseId,
  })
}

/** `id`: of a call, if the API gave none. The API does not get it back. */
function blockOf(part: Fields, id: string): ContentBlock {
  const { functionCall: call, text, thought, thoughtSignature: signature } = part
  if (isObject(call)) {
    if (call["partialArgs"] !== undefined || call["willContinue"] === true)
      throw new SessionError("invalid", "Arguments in pieces are not read: leave `streamFunctionCallArguments` out.")
    const given = stringOf(call["id"])
    const block = callBlockOf(call, given ?? id)
    const written = { functionCall: { ...(given === undefined ? {} : { id: given }), ...callOf(block) } }
    const own = withNative(block, "gemini", part, written)
    return given === undefined ? { ...own, generatedId: true } : own
  }
  // Repair leaves out texts of white space, and with them a signature.
  if (typeof text === "string" && text.trim() === "") return { type: PART, part }
  if (thought === true && typeof text === "string") {
    const signed = typeof signature === "string" ? { signature } : {}
    const written = { text, thought, ...(typeof signature === "string" ? { thoughtSignature: signature } : {}) }
    return withNative({ type: "thinking", thinking: text, ...signed }, "gemini", part, written)
  }
  const block = blockOfPart(part)
  if (block.type === "text") return withNative(block, "gemini", part, { text })
  if (block.type === "image")
    return withNative(block, "gemini", part, { inlineData: { mimeType: block.mimeType, data: block.data } })
  return block
}

function callOf(block: ContentBlock): Fields {
  const { name, arguments: args } = block as Fields
  return { name, args }
}

/** Thoughts are not part of Gemini's output tokens, cached tokens are part of its input. */
export function geminiUsage(value: unknown): Usage | undefined {
  const usage = fieldsOf(value)
  const cached = usage["cachedContentTokenCount"]
  const prompt = numberOf(usage["promptTokenCount"])
  const input = prompt === undefined ? undefined : prompt + (numberOf(usage["toolUsePromptTokenCount"]) ?? 0)
  const counts = [usage["candidatesTokenCount"], usage["thoughtsTokenCount"]].map(numberOf)
  const output = counts.every((count) => count === undefined) ? undefined : (counts[0] ?? 0) + (counts[1] ?? 0)
  return usageOf({ input: uncached(input, cached), output, cacheRead: cached, totalTokens: usage["totalTokenCount"] })
}
