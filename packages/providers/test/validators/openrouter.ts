/**
 * What OpenRouter refuses in a body of its chat completions, for models whose reasoning must come back with the calls that it led to: Gemini 3, whose
 * signatures are in `reasoning_details`, and Claude with thinking. A body may be without `model`.
 */
import { callsOf, checkPairs, idOf, type PairSentences } from "./chat-pairs.ts"
import { imageUrl } from "./images.ts"
import { IMAGE_TYPES, isEmptyAnswer, NAME } from "./openai-chat.ts"
import { github, OPENAI, READ } from "./openai-sentences.ts"
import {
  anything,
  type Check,
  type Fields,
  fieldsIn,
  hasHalves,
  integer,
  list,
  nullable,
  object,
  type Refusal,
  Report,
  type Source,
  type Sources,
  tagged,
  text,
  textOr,
} from "./shapes.ts"

const REASONING: Source = { url: "https://openrouter.ai/docs/use-cases/reasoning-tokens", date: READ }
const API: Source = { url: "https://openrouter.ai/docs/api-reference/chat-completion", date: READ }

const SOURCES: Sources = {
  missing: API,
  type: API,
  value: API,
  unknown: API,
  empty: API,
  long: github("openclaw/openclaw/pull/875", "2026-01-13"),
  pattern: github("xinnan-tech/xiaozhi-esp32-server/issues/1466", "2025-06-04"),
  image_format: API,
  image_url: API,
  image_place: API,
  "value messages[].reasoning_details[].type": REASONING,
  "missing messages[].reasoning_details[].data": REASONING,
  "type messages[].reasoning_details[].data": REASONING,
  unanswered: github("charmbracelet/crush/issues/279", "2025-07-22"),
  orphan: github("charmbracelet/crush/issues/279", "2025-07-22"),
  repeated_result: github("openclaw/openclaw/pull/47136", "2026-03-15"),
  repeated_call: github("openclaw/openclaw/pull/47136", "2026-03-15"),
  empty_answer: github("docker/docker-agent/issues/63", "2025-07-23"),
  details_missing: github("LibreChat-AI/agents/issues/37", "2025-11-25"),
  details_changed: REASONING,
  repeated_reasoning: github("OpenRouterTeam/ai-sdk-provider/issues/254", "2025-11-26"),
  unicode: github("anthropics/claude-code/issues/5934", "2025-08-16"),
}

const PAIRS: PairSentences = {
  unanswered: (ids) =>
    `Provider returned error: tool_calls must be followed by tool messages responding to each 'tool_call_id': ${ids.join(", ")}`,
  orphan: (id) => `Provider returned error: Unexpected tool message with tool_call_id '${id}'`,
  repeated: (id) => `Provider returned error: Duplicate value for 'tool_call_id' of '${id}'`,
}

const CACHE = { cache_control: anything }
const textPart = object({ type: anything, text: text() }, CACHE)
const parts: Readonly<Record<string, Check>> = {
  text: textPart,
  image_url: object(
    {
      type: anything,
      image_url: object(
        {
          url: imageUrl(IMAGE_TYPES, {
            format: "Provider returned error: unsupported image format",
            url: (path) => `Invalid '${path}': expected an address or a data URL of an image`,
          }),
        },
        { detail: text() },
      ),
    },
    CACHE,
  ),
  input_audio: object({ type: anything, input_audio: anything }, CACHE),
  file: object({ type: anything, file: anything }, CACHE),
}
const texts = textOr(list(tagged("type", { text: textPart }), { min: 1 }))
const anyParts = textOr(list(tagged("type", parts), { min: 1 }))
const COMMON = { id: nullable(text()), format: nullable(text()), index: integer }
const details = list(
  tagged("type", {
    "reasoning.summary": object({ type: anything, summary: text() }, COMMON),
    "reasoning.encrypted": object({ type: anything, data: text() }, COMMON),
    "reasoning.text": object({ type: anything }, { text: nullable(text()), signature: nullable(text()), ...COMMON }),
  }),
)
const call = object(
  {
    id: text({ min: 1 }),
    type: text({ values: ["function"] }),
    function: object({ name: NAME, arguments: text() }),
  },
  { index: integer },
)
const message = tagged("role", {
  system: object({ role: anything, content: texts }, { name: text() }),
  developer: object({ role: anything, content: texts }, { name: text() }),
  user: object({ role: anything, content: anyParts }, { name: text() }),
  assistant: object(
    { role: anything },
    {
      content: nullable(texts),
      name: text(),
      refusal: nullable(text()),
      reasoning: nullable(text()),
      reasoning_content: nullable(text()),
      reasoning_details: nullable(details),
      annotations: anything,
      images: anything,
      audio: anything,
      tool_calls: nullable(list(call)),
    },
  ),
  tool: object({ role: anything, content: anyParts, tool_call_id: text({ min: 1 }) }, { name: text() }),
})
const body = object({ messages: list(message, { min: 1 }) }, {}, { open: true })

export interface OpenRouterServer {
  /** The messages of the answers that the server has given. */
  readonly given?: readonly object[]
  /** Whether the model behind it refuses calls of the current turn without their reasoning, as Gemini 3 does. Default: by the name of the model. */
  readonly needsDetails?: boolean
}

export function refusedByOpenRouter(value: unknown, server: OpenRouterServer = {}): readonly Refusal[] {
  const report = new Report(OPENAI, SOURCES)
  if (hasHalves(value)) report.refuse("unicode", "Invalid JSON in the request body")
  body(value, "", report)
  const { messages, model } = value as Fields
  const found = fieldsIn(messages)
  checkPairs(found, report, PAIRS)
  for (const one of found)
    if (one["role"] === "assistant" && isEmptyAnswer(one))
      report.refuse("empty_answer", "Provider returned error: an assistant message needs content or tool_calls")
  if (server.needsDetails ?? String(model).startsWith("google/gemini-3")) checkSignatures(found, report)
  for (const answer of server.given ?? []) checkGiven(answer as Fields, found, report)
  checkRepeated(found, report)
  return report.refusals
}

/** Gemini signs the first call of each step; the calls of earlier turns may be without. */
function checkSignatures(messages: readonly Fields[], report: Report): void {
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === "user"))
  for (const one of turn) {
    const [first] = callsOf(one)
    if (first === undefined) continue
    const isSigned = fieldsIn(one["reasoning_details"]).some(
      ({ type, data }) => type === "reasoning.encrypted" && typeof data === "string" && data !== "",
    )
    if (!isSigned)
      report.refuse(
        "details_missing",
        `Gemini models require OpenRouter reasoning details to be preserved in each request. Function call is missing a thought_signature in functionCall parts. (${idOf(first)})`,
      )
  }
}

/** The sequence of blocks must be the one that the model gave. */
function checkGiven(answer: Fields, messages: readonly Fields[], report: Report): void {
  const given = fieldsIn(answer["reasoning_details"])
  const ids = new Set(callsOf(answer).map(idOf))
  if (given.length === 0 || ids.size === 0) return
  const sent = messages.find((one) => callsOf(one).some((call) => ids.has(idOf(call))))
  if (sent === undefined) return
  if (JSON.stringify(sent["reasoning_details"]) !== JSON.stringify(given))
    report.refuse("details_changed", "Provider returned error: the reasoning blocks do not match those of the answer")
}

function checkRepeated(messages: readonly Fields[], report: Report): void {
  const seen = new Set<unknown>()
  for (const { id, format } of messages.flatMap((one) => fieldsIn(one["reasoning_details"]))) {
    if (typeof id !== "string" || !String(format).startsWith("openai-")) continue
    if (seen.has(id))
      report.refuse(
        "repeated_reasoning",
        `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`,
      )
    seen.add(id)
  }
}
