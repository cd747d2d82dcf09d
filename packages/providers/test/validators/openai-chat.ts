/**
 * What OpenAI's Chat Completions API refuses in a body: the shapes of its published types, and the rules that its documentation or its errors
 * state. A body may be without `model`, which callers add.
 */
import { callsOf, checkPairs, type PairSentences } from "./chat-pairs.ts"
import { imageUrl } from "./images.ts"
import { github, OPENAI, OPENAI_TYPES, READ } from "./openai-sentences.ts"
import {
  anything,
  type Check,
  type Fields,
  fieldsIn,
  hasHalves,
  list,
  nullable,
  object,
  type Refusal,
  Report,
  type Sources,
  tagged,
  text,
  textOr,
} from "./shapes.ts"

const SOURCES: Sources = {
  missing: OPENAI_TYPES,
  type: OPENAI_TYPES,
  value: OPENAI_TYPES,
  // The server is strict about fields in some places and for some models only. What is in no type may be refused.
  unknown: github("openai/openai-node/issues/1161", "2024-12-05"),
  "unknown messages[].tool_calls[].index": github("labring/FastGPT/issues/1253", READ),
  "unknown messages[].content[].file.data": github("pydantic/pydantic-ai", READ),
  "empty messages": github("CopilotKit/CopilotKit/issues/529", "2024-08-11"),
  "empty messages[].tool_calls": github("home-assistant/core/pull/118577", "2024-05-31"),
  // `minItems: 1` of the content of each role.
  "empty messages[].content": github("openai/openai-openapi", READ),
  "empty messages[].tool_calls[].id": github("openclaw/openclaw/pull/41119", "2026-03-09"),
  "empty messages[].audio.id": OPENAI_TYPES,
  "empty messages[].tool_calls[].function.name": github("continuedev/continue/issues/12776", "2026-06-18"),
  "empty messages[].tool_calls[].custom.name": github("continuedev/continue/issues/11645", "2026-03-20"),
  "empty messages[].name": github("jekalmin/extended_openai_conversation/issues/251", "2024-08-08"),
  "empty messages[].function_call.name": github("continuedev/continue/issues/11645", "2026-03-20"),
  "long messages[].tool_calls": github("github/copilot-cli/issues/669", "2025-11-27"),
  "long messages[].tool_calls[].id": github("microsoft/autogen/issues/6377", "2025-04-23"),
  "long messages[].tool_call_id": github("anomalyco/opencode/issues/12653", "2026-02-08"),
  // "with a maximum length of 64", on the names of functions.
  long: OPENAI_TYPES,
  pattern: github("crazyyanchao/llmcompiler/issues/1", "2024-08-03"),
  "pattern messages[].tool_calls[].function.name": github("mcp-use/mcp-use/issues/90", READ),
  image_place: github("openai/openai-node/issues/1030", "2024-09-03"),
  image_format: github("STranslate/STranslate/issues/277", "2024-12-09"),
  image_url: github("vercel/ai/issues/1544", "2024-05-09"),
  unanswered: github("aliasrobotics/cai/issues/111", "2025-05-09"),
  orphan: github("miurla/morphic/issues/136", "2024-05-11"),
  repeated_result: github("fatwang2/search2ai/issues/30", "2024-06-17"),
  repeated_call: github("openclaw/openclaw/pull/47136", "2026-03-15"),
  empty_answer: github("docker/docker-agent/issues/63", "2025-07-23"),
  // `expires_at`: when an answer in audio is no longer accessible for the turns that follow.
  forgotten_audio: OPENAI_TYPES,
  unicode: github("anthropics/claude-code/issues/5934", "2025-08-16"),
}

const PAIRS: PairSentences = {
  unanswered: (ids) =>
    `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(", ")}`,
  orphan: (_, at) =>
    `Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'. (messages.[${at}].role)`,
  repeated: (id, at) => `Invalid parameter: Duplicate value for 'tool_call_id' of '${id}', in messages[${at}].`,
}

export const IMAGE_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"] as const
const IMAGE = {
  format:
    "You uploaded an unsupported image. Please make sure your image has of one the following formats: ['png', 'jpeg', 'gif', 'webp'].",
  url: (path: string) =>
    `Invalid '${path}'. Expected a base64-encoded data URL with an image MIME type, or an address of an image.`,
}
const BREAKPOINT = { prompt_cache_breakpoint: anything }
export const NAME = text({ min: 1, max: 64, pattern: /^[a-zA-Z0-9_-]+$/ })
const textPart = object({ type: anything, text: text() }, BREAKPOINT)
const refusalPart = object({ type: anything, refusal: text() })
const imagePart = object(
  { type: anything, image_url: object({ url: imageUrl(IMAGE_TYPES, IMAGE) }, { detail: text() }) },
  BREAKPOINT,
)
/** Parts of users in messages of other roles are refused by a sentence of their own. */
const misplacedImage: Check = (_, path, report) => {
  const at = path.replace(/\.content\[\d+\]$/, "")
  report.refuse(
    "image_place",
    `Invalid '${at}'. Image URLs are only allowed for messages with role 'user', but this message contains an image URL.`,
  )
}
const texts = textOr(list(tagged("type", { text: textPart, image_url: misplacedImage }), { min: 1 }))
const userContent = textOr(
  list(
    tagged("type", {
      text: textPart,
      image_url: imagePart,
      input_audio: object({ type: anything, input_audio: object({ data: text(), format: text() }) }, BREAKPOINT),
      file: object(
        { type: anything, file: object({}, { file_data: text(), file_id: text(), filename: text() }) },
        BREAKPOINT,
      ),
    }),
    { min: 1 },
  ),
)
const answerContent = textOr(
  list(tagged("type", { text: textPart, refusal: refusalPart, image_url: misplacedImage }), { min: 1 }),
)
export const CALL_ID = text({ min: 1, max: 40 })
const calls = list(
  tagged("type", {
    function: object({ id: CALL_ID, type: anything, function: object({ name: NAME, arguments: text() }) }),
    custom: object({ id: CALL_ID, type: anything, custom: object({ name: NAME, input: text() }) }),
  }),
  { min: 1, max: 128 },
)
const message = tagged("role", {
  system: object({ role: anything, content: texts }, { name: NAME }),
  developer: object({ role: anything, content: texts }, { name: NAME }),
  user: object({ role: anything, content: userContent }, { name: NAME }),
  assistant: object(
    { role: anything },
    {
      content: nullable(answerContent),
      refusal: nullable(text()),
      audio: nullable(object({ id: text({ min: 1 }) })),
      tool_calls: calls,
      function_call: nullable(object({ name: NAME, arguments: text() })),
      name: NAME,
    },
  ),
  tool: object({ role: anything, content: texts, tool_call_id: text({ max: 40 }) }),
})

/** The other parameters, by name. */
const PARAMETERS =
  "model audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens metadata modalities moderation n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_options prompt_cache_retention reasoning_effort response_format safety_identifier seed service_tier stop store stream stream_options temperature tool_choice tools top_logprobs top_p user verbosity web_search_options"
const body = object(
  { messages: list(message, { min: 1 }) },
  Object.fromEntries(PARAMETERS.split(" ").map((name) => [name, anything])),
)

export interface ChatServer {
  /** Ids of audio that the server has no longer. */
  readonly forgotten?: ReadonlySet<string>
}

export function refusedByOpenAIChat(value: unknown, { forgotten = new Set() }: ChatServer = {}): readonly Refusal[] {
  const report = new Report(OPENAI, SOURCES)
  if (hasHalves(value)) report.refuse("unicode", "We could not parse the JSON body of your request.")
  body(value, "", report)
  const messages = fieldsIn((value as Fields)["messages"])
  checkPairs(messages, report, PAIRS)
  for (const [i, one] of messages.entries()) {
    if (one["role"] !== "assistant") continue
    if (isEmptyAnswer(one))
      report.refuse(
        "empty_answer",
        `Invalid value for 'content': expected a string, got null. (messages.[${i}].content)`,
      )
    const id = (one["audio"] as Fields | undefined)?.["id"]
    if (typeof id === "string" && forgotten.has(id))
      report.refuse("forgotten_audio", `Invalid 'messages[${i}].audio.id': audio '${id}' was not found or has expired.`)
  }
  return report.refusals
}

/** Content is required unless there are calls; a refusal and audio are answers as well. */
export function isEmptyAnswer(message: Fields): boolean {
  const { content, refusal, audio, function_call: call } = message
  const isWithout = content === undefined || content === null || content === ""
  return isWithout && callsOf(message).length === 0 && !refusal && !audio && !call
}
