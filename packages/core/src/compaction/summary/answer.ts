/**
 * Reads the answer of a model: a text, an assistant message, or the whole answer of a client. An answer is complete only if no word in
 * it says otherwise; thoughts in front of the text are left out.
 */
import { type Fields, isObject } from "../../format/shape.ts"
import { withoutThoughts } from "./thoughts.ts"

/**
 * Why an answer cannot be used.
 *
 * - `length`: a limit of tokens has cut it off, also within its thoughts.
 * - `call`: it calls a tool.
 * - `refusal`: the model or a filter has refused.
 * - `broken`: the provider or the caller has ended it.
 * - `unknown`: it ended with a `word` that is not known as the word of a complete answer.
 * - `empty`: it has no text.
 */
export type AnswerProblem = "length" | "call" | "refusal" | "broken" | "unknown" | "empty"

export type ReadAnswer =
  | { readonly text: string; readonly problem?: undefined }
  | { readonly problem: AnswerProblem; readonly word?: string }

/**
 * The text of a complete answer, else why it is not usable. A text without a word for its end counts as complete.
 *
 * @example
 * ```ts
 * import { readAnswer } from "@sessions/core/compaction"
 *
 * readAnswer({ text: "## Goal\nTo go fro", finishReason: "length" }) // { problem: "length", word: "length" }
 * readAnswer("<think>Hm.</think>\n## Goal") // { text: "## Goal" }
 * ```
 */
export function readAnswer(answer: unknown): ReadAnswer {
  const parts: Fields[] = typeof answer === "string" ? [{ text: answer }] : partsOf(answer)
  for (const part of parts) {
    for (const word of wordsOf(part)) {
      const problem = problemOf(word)
      if (problem !== undefined) return { problem, word }
    }
    if (isText(part["refusal"])) return { problem: "refusal" }
    if (CALL_LISTS.some((key) => listOf(part[key]).length > 0)) return { problem: "call" }
    for (const block of blocksOf(part)) {
      if (block["type"] === "refusal") return { problem: "refusal" }
      if (CALL_TYPES.has(block["type"]) || CALL_KEYS.some((key) => isObject(block[key]))) return { problem: "call" }
    }
  }
  const said = parts.map(textOf).find(isText)
  if (said === undefined) return { problem: "empty" }
  const text = withoutThoughts(said)
  if (text === undefined) return { problem: "length" }
  return text === "" ? { problem: "empty" } : { text }
}

/**
 * The words for the end of an answer, without case and separators: those of this format, and of the APIs and clients of Anthropic
 * (platform.claude.com/docs/en/api/messages), OpenAI (developers.openai.com/api/reference), Gemini
 * (ai.google.dev/api/generate-content#FinishReason), Bedrock (docs.aws.amazon.com/bedrock, Converse), Mistral (docs.mistral.ai/api),
 * DeepSeek (api-docs.deepseek.com), Cohere (docs.cohere.com/reference/chat), Z.ai (docs.z.ai), Ollama, Text Generation Inference,
 * LM Studio and the AI SDK, as of November 2026.
 */
const WORDS = {
  complete: "stop endturn stopsequence eos eostoken eosfound stopstringfound complete completed finish success",
  length:
    "length maxtokens maxoutputtokens maxlength modellength tokenlimit incomplete modelcontextwindowexceeded maxpredictedtokensreached contextlengthreached",
  call: "tooluse toolcall toolcalls functioncall malformedfunctioncall malformedtooluse unexpectedtoolcall toomanytoolcalls requiresaction pauseturn",
  refusal:
    "refusal refused contentfilter contentfiltered guardrailintervened safety imagesafety recitation language blocklist prohibitedcontent spii sensitive errortoxic",
  broken:
    "error failed aborted cancelled canceled usercancel userstopped timeout networkerror insufficientsystemresource modelunloaded unload inprogress queued malformedresponse malformedmodeloutput errorlimit",
}
const ENDS = Object.entries(WORDS) as [end: keyof typeof WORDS, words: string][]
const END_OF = new Map(ENDS.flatMap(([end, words]) => words.split(" ").map((word) => [word, end] as const)))

function problemOf(word: string): AnswerProblem | undefined {
  const end = END_OF.get(word.toLowerCase().replace(/[^a-z]/g, "")) ?? "unknown"
  return end === "complete" ? undefined : end
}

/** The fields that name the end. `done_reason` is Ollama's, `status` that of OpenAI's Responses. */
const WORD_KEYS = ["stopReason", "finishReason", "finish_reason", "stop_reason", "done_reason", "status"] as const

function wordsOf(part: Fields): string[] {
  // Why a response of OpenAI is incomplete: its filter, or the length.
  const { incomplete_details: details } = part
  const keys = WORD_KEYS.filter(
    // vLLM gives the sequence that has stopped the answer in a `stop_reason` beside the `finish_reason`.
    (key) => key !== "stop_reason" || !isText(part["finish_reason"]),
  )
  const values = [isObject(details) ? details["reason"] : undefined, ...keys.map((key) => part[key])]
  // Models of the AI SDK give `{ unified, raw }`.
  return values.map((value) => (isObject(value) ? value["unified"] : value)).filter(isText)
}

/** Types of blocks with a tool call, in this format and in those of the common providers. */
const CALL_TYPES: ReadonlySet<unknown> = new Set([
  "toolCall",
  "tool-call",
  "tool_use",
  "tool_call",
  "function_call",
  "custom_tool_call",
  "server_tool_use",
])
/** Blocks of Gemini and Bedrock have no type. */
const CALL_KEYS = ["functionCall", "toolUse"] as const
const CALL_LISTS = ["tool_calls", "toolCalls"] as const

/** The answer, and the parts of it in which clients put the text and the word for its end. */
function partsOf(answer: unknown, depth = 0): Fields[] {
  if (!isObject(answer) || depth > PART_DEPTH) return []
  const { choices, candidates, message, response_metadata } = answer
  const output = outputOf(answer)
  const inner = [listOf(choices)[0], listOf(candidates)[0], message, isObject(output) ? output["message"] : undefined]
  return [answer, ...[...inner, response_metadata].flatMap((part) => partsOf(part, depth + 1))]
}

/** `choices[0].message`; deeper is no answer of a client. */
const PART_DEPTH = 2

/** A getter of the AI SDK, which throws for an answer that is not complete. */
function outputOf(part: Fields): unknown {
  try {
    return part["output"]
  } catch {
    return undefined
  }
}

/** The blocks of a part; those of messages in OpenAI's `output` are inside the message. */
function blocksOf(part: Fields): Fields[] {
  const { content } = part
  const lists = [content, isObject(content) ? content["parts"] : undefined, outputOf(part)]
  const blocks = lists.flatMap(listOf).filter(isObject)
  return blocks.flatMap((block) => [block, ...listOf(block["content"]).filter(isObject)])
}

function textOf(part: Fields): string | undefined {
  const whole = [part["text"], part["output_text"], part["content"]].find(isText)
  if (whole !== undefined) return whole
  const texts = blocksOf(part).flatMap(({ type, text, thought }) =>
    TEXT_TYPES.has(type) && isText(text) && thought !== true ? [text] : [],
  )
  return texts.length === 0 ? undefined : texts.join("\n")
}

const TEXT_TYPES: ReadonlySet<unknown> = new Set(["text", "output_text", undefined])

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== ""
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
