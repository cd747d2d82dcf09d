/**
 * What servers refuse whose chat templates want users and assistants in turn: Gemma by llama.cpp and LM Studio, Mistral's templates by vLLM and
 * llama.cpp, and Perplexity's API. The rules are those of all of them; calls and results are not counted, as in the templates that know tools.
 */
import { callsOf, checkPairs, type PairSentences } from "./chat-pairs.ts"
import { isEmptyAnswer } from "./openai-chat.ts"
import { github, OPENAI, OPENAI_TYPES } from "./openai-sentences.ts"
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
  type Sources,
  tagged,
  text,
  textOr,
} from "./shapes.ts"

const SOURCES: Sources = {
  missing: OPENAI_TYPES,
  type: OPENAI_TYPES,
  value: OPENAI_TYPES,
  empty: OPENAI_TYPES,
  pattern: OPENAI_TYPES,
  long: OPENAI_TYPES,
  alternate: github("vllm-project/vllm/issues/6862", "2024-07-27"),
  user_first: github("nextai-translator/raycast-openai-translator/issues/34", "2026-02-19"),
  user_after_tool: github("mistralai/mistral-vibe/issues/578", "2026-04-09"),
  system_place: github("edenai/edenai-apis/pull/144", "2024-02-26"),
  last_role: github("QwenLM/Qwen3/issues/518", "2024-06-10"),
  unanswered: github("agno-agi/agno/issues/3105", "2025-05-06"),
  orphan: github("miurla/morphic/issues/136", "2024-05-11"),
  repeated_result: github("fatwang2/search2ai/issues/30", "2024-06-17"),
  repeated_call: github("can1357/oh-my-pi/issues/2055", "2026-06-07"),
  empty_message: github("InfinitiBit/graphbit/pull/163", "2025-09-08"),
  no_calls: github("vllm-project/vllm/issues/13978", "2025-02-27"),
  arguments: github("vllm-project/vllm/pull/48922", "2026-07-17"),
  unicode: github("anthropics/claude-code/issues/5934", "2025-08-16"),
}

const ALTERNATE =
  "After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results."
const PAIRS: PairSentences = {
  unanswered: (ids) => `Not the same number of function calls and responses: ${ids.join(", ")}`,
  orphan: (id) => `Unexpected tool call id ${id} in tool results`,
  repeated: (id) => `Duplicate tool call id ${id}`,
}

const OPEN = { open: true }
const texts = textOr(list(tagged("type", { text: object({ type: anything, text: text() }, {}, OPEN) })))
const parts = textOr(
  list(
    tagged("type", {
      text: object({ type: anything, text: text() }, {}, OPEN),
      image_url: object({ type: anything, image_url: object({ url: text() }, {}, OPEN) }, {}, OPEN),
    }),
  ),
)
const call = object(
  {
    id: text({ min: 1 }),
    type: text({ values: ["function"] }),
    function: object({ name: text({ min: 1 }), arguments: text() }, {}, OPEN),
  },
  {},
  OPEN,
)
const message = tagged("role", {
  system: object({ role: anything, content: texts }, {}, OPEN),
  user: object({ role: anything, content: parts }, {}, OPEN),
  assistant: object({ role: anything }, { content: nullable(texts), tool_calls: nullable(list(call)) }, OPEN),
  tool: object({ role: anything, content: texts, tool_call_id: text({ min: 1 }) }, {}, OPEN),
})
const body = object({ messages: list(message, { min: 1 }) }, {}, OPEN)

export function refusedByStrictTemplate(value: unknown): readonly Refusal[] {
  const report = new Report(OPENAI, SOURCES)
  if (hasHalves(value)) report.refuse("unicode", "Failed to parse the request body")
  body(value, "", report)
  const messages = fieldsIn((value as Fields)["messages"])
  checkPairs(messages, report, PAIRS)
  checkTurns(messages, report)
  for (const one of messages) checkMessage(one, report)
  return report.refusals
}

function checkTurns(messages: readonly Fields[], report: Report): void {
  const start = messages.findIndex(({ role }) => role !== "system")
  const turns = start < 0 ? [] : messages.slice(start)
  if (turns[0] !== undefined && turns[0]["role"] !== "user")
    report.refuse("user_first", "Conversation roles must alternate user/assistant/user/assistant/...")
  let counted: unknown
  for (const [i, one] of turns.entries()) {
    const { role } = one
    if (role === "system")
      report.refuse(
        "system_place",
        "After the (optional) system message(s), user and assistant roles should be alternating.",
      )
    if (role === "user" && turns[i - 1]?.["role"] === "tool")
      report.refuse("user_after_tool", "Unexpected role 'user' after role 'tool'")
    if (role === "tool" || role === "system" || callsOf(one).length > 0) continue
    if (role === counted) report.refuse("alternate", ALTERNATE)
    counted = role
  }
  const last = messages.at(-1)?.["role"]
  if (last !== undefined && last !== "user" && last !== "tool")
    report.refuse("last_role", "Last message must have role `user` or `tool`.")
}

function checkMessage(message: Fields, report: Report): void {
  const { role, content, tool_calls: calls } = message
  const isEmptyText = content === "" || (Array.isArray(content) && content.length === 0)
  if (role === "assistant" ? isEmptyAnswer(message) : role !== "tool" && isEmptyText)
    report.refuse("empty_message", `A message of the role '${String(role)}' must not be empty.`)
  if (Array.isArray(calls) && calls.length === 0)
    report.refuse("no_calls", "This model only supports single tool-calls at once!")
  for (const { function: called } of callsOf(message)) {
    const { arguments: args } = isFields(called) ? called : {}
    if (typeof args === "string" && !isObjectText(args))
      report.refuse("arguments", "Failed to parse tool call arguments as JSON: they must be a JSON object.")
  }
}

/** Templates get the arguments parsed. */
function isObjectText(value: string): boolean {
  try {
    return isFields(JSON.parse(value))
  } catch {
    return false
  }
}
