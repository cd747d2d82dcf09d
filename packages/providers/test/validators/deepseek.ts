/**
 * What DeepSeek's API refuses in a body of its chat completions, in thinking mode (its default) unless the body turns it off. A body may be
 * without `model`.
 */
import { callsOf, checkPairs, type PairSentences } from "./chat-pairs.ts"
import { isEmptyAnswer } from "./openai-chat.ts"
import { github, READ } from "./openai-sentences.ts"
import {
  anything,
  type Fields,
  fieldsIn,
  hasHalves,
  isFields,
  list,
  nullable,
  object,
  type Refusal,
  Report,
  type Sentences,
  type Source,
  type Sources,
  tagged,
  text,
  textOr,
} from "./shapes.ts"

const THINKING: Source = { url: "https://api-docs.deepseek.com/guides/thinking_mode", date: READ }
const SHAPES: Source = { url: "https://api-docs.deepseek.com/api/create-chat-completion", date: READ }

const SOURCES: Sources = {
  missing: SHAPES,
  type: github("chatboxai/chatbox/issues/1740", "2025-01-14"),
  value: SHAPES,
  "value messages[].role": github("crazyyanchao/llmcompiler/issues/1", "2024-08-03"),
  "value messages[].content[].type": github("esengine/DeepSeek-Reasonix/issues/7859", "2026-08-07"),
  empty: SHAPES,
  pattern: SHAPES,
  long: SHAPES,
  unanswered: github("langgenius/dify/issues/32222", "2026-02-11"),
  orphan: github("FoundationAgents/OpenManus/issues/23", "2025-03-07"),
  repeated_result: github("HKUDS/nanobot/issues/3945", "2026-05-21"),
  repeated_call: github("HKUDS/nanobot/issues/3945", "2026-05-21"),
  empty_answer: github("earendil-works/pi/issues/3636", "2026-04-24"),
  reasoning_missing: THINKING,
  successive: github("Aider-AI/aider/pull/5591", "2026-08-17"),
  unicode: github("anthropics/claude-code/issues/5934", "2025-08-16"),
}

const failed = (what: string) => `Failed to deserialize the JSON body into the target type: ${what}`
const SENTENCES: Sentences = {
  missing: (path, { expected }) => failed(`${path}: missing field \`${expected}\``),
  type: (path, { expected, got }) => failed(`${path}: invalid type: ${got}, expected ${expected}`),
  value: (path, { expected, got }) => failed(`${path}: unknown variant \`${got}\`, expected one of ${expected}`),
  unknown: (path) => failed(`${path}: unknown field`),
  empty: (path, { kind }) => `Invalid '${path}': empty ${kind}.`,
  long: (path, { limit }) => `Invalid '${path}': string too long. Expected a string with maximum length ${limit}.`,
  pattern: (path, { expected }) => `Invalid '${path}': string does not match pattern '${expected}'.`,
}
const PAIRS: PairSentences = {
  unanswered: () =>
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. (insufficient tool messages following tool_calls message)",
  orphan: () => "Messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
  repeated: (id) => `Duplicate value for 'tool_call_id' of '${id}'`,
}

const OPEN = { open: true }
/** Text only: the models see no images. */
const content = textOr(list(tagged("type", { text: object({ type: anything, text: text() }, {}, OPEN) })))
const call = object(
  {
    id: text({ min: 1 }),
    type: text({ values: ["function"] }),
    // "Must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64."
    function: object({ name: text({ min: 1, max: 64, pattern: /^[a-zA-Z0-9_-]+$/ }), arguments: text() }, {}, OPEN),
  },
  {},
  OPEN,
)
const message = tagged("role", {
  system: object({ role: anything, content }, {}, OPEN),
  user: object({ role: anything, content }, {}, OPEN),
  assistant: object(
    { role: anything },
    { content: nullable(content), reasoning_content: nullable(text()), tool_calls: nullable(list(call)) },
    OPEN,
  ),
  tool: object({ role: anything, content, tool_call_id: text({ min: 1 }) }, {}, OPEN),
})
const body = object({ messages: list(message, { min: 1 }) }, {}, OPEN)

export function refusedByDeepSeek(value: unknown): readonly Refusal[] {
  const report = new Report(SENTENCES, SOURCES)
  if (hasHalves(value)) report.refuse("unicode", "Failed to parse the request body as JSON")
  body(value, "", report)
  const { messages, model, thinking } = value as Fields
  const found = fieldsIn(messages)
  checkPairs(found, report, PAIRS)
  for (const one of found)
    if (one["role"] === "assistant" && isEmptyAnswer(one))
      report.refuse("empty_answer", "Invalid assistant message: content or tool_calls must be set")
  if (!(isFields(thinking) && thinking["type"] === "disabled")) checkReasoning(found, report)
  if (model === "deepseek-reasoner") checkTurns(found, report)
  return report.refusals
}

/**
 * With tools each answer keeps its reasoning in all later requests; the text may be empty, the field not missing. The guide asks for that of turns with
 * calls, reports for that of all turns once there are calls.
 */
function checkReasoning(messages: readonly Fields[], report: Report): void {
  if (messages.every((one) => callsOf(one).length === 0)) return
  for (const one of messages)
    if (one["role"] === "assistant" && typeof one["reasoning_content"] !== "string")
      report.refuse("reasoning_missing", "The `reasoning_content` in the thinking mode must be passed back to the API.")
}

/** The model of this name alone. */
function checkTurns(messages: readonly Fields[], report: Report): void {
  const roles = messages.map(({ role }) => role).filter((role) => role !== "system")
  for (const [i, role] of roles.entries())
    if (role === roles[i - 1] && (role === "user" || role === "assistant"))
      report.refuse("successive", "deepseek-reasoner does not support successive user or assistant messages")
}
