/**
 * What Moonshot's API refuses in a body of its chat completions, with thinking (the default of the Kimi models) unless the body turns it off. A body
 * may be without `model`.
 */
import { callsOf, checkPairs, type PairSentences } from "./chat-pairs.ts"
import { imageUrl } from "./images.ts"
import { IMAGE_TYPES } from "./openai-chat.ts"
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

const DOCS: Source = { url: "https://platform.moonshot.ai/docs/api/chat", date: READ }
/** JPEG, PNG, WebP and others, by address or in base64; files that were uploaded by `ms://`. */
const VISION: Source = { url: "https://www.kimi.com/help/kimi-api/api-model-selection", date: READ }

const SOURCES: Sources = {
  missing: DOCS,
  type: DOCS,
  value: DOCS,
  "value messages[].content[].type": github("MoonshotAI/kimi-cli/issues/788", "2026-01-29"),
  empty: DOCS,
  image_format: VISION,
  image_url: VISION,
  name: github("MoonshotAI/kimi-cli/issues/1773", "2026-04-07"),
  unanswered: github("MoonshotAI/kimi-code/issues/705", "2026-06-13"),
  orphan: github("yaogang1991/harness/issues/392", "2026-05-15"),
  repeated_call: github("openclaw/openclaw/issues/84730", "2026-05-20"),
  repeated_result: github("openclaw/openclaw/issues/84730", "2026-05-20"),
  empty_message: github("MoonshotAI/kimi-code/issues/1985", "2026-07-21"),
  reasoning_missing: github("continuedev/continue/issues/11600", "2026-03-18"),
  unicode: github("anthropics/claude-code/issues/5934", "2025-08-16"),
}

const invalid = (what: string) => `Invalid request: ${what}`
const SENTENCES: Sentences = {
  missing: (path) => invalid(`${path} is required`),
  type: (path, { expected, got }) => invalid(`${path} is illegal (expected ${expected}, got ${got})`),
  value: (path, { got }) => invalid(`${path} contains an invalid value: ${got}`),
  unknown: (path) => invalid(`unknown field ${path}`),
  empty: (path) => invalid(`${path} must not be empty`),
  long: (path, { limit }) => invalid(`${path} is longer than ${limit}`),
  pattern: (path) => invalid(`${path} is invalid`),
}
const PAIRS: PairSentences = {
  unanswered: (ids) =>
    `an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${ids.join(", ")}`,
  orphan: (id) => invalid(`tool_call_id ${id} is not found`),
  repeated: (id) => invalid(`tool_call_id ${id} is duplicated`),
}

const OPEN = { open: true }
const textPart = object({ type: anything, text: text() }, {}, OPEN)
const media = {
  image_url: object(
    {
      type: anything,
      image_url: object(
        {
          url: imageUrl(
            IMAGE_TYPES,
            {
              format: invalid("unsupported image format"),
              url: (path) => invalid(`${path}: unsupported image url`),
            },
            { schemes: ["https", "http", "ms"] },
          ),
        },
        {},
        OPEN,
      ),
    },
    {},
    OPEN,
  ),
}
const texts = textOr(list(tagged("type", { text: textPart })))
const parts = textOr(list(tagged("type", { text: textPart, ...media })))
const call = object(
  {
    id: text({ min: 1 }),
    type: text({ values: ["function"] }),
    function: object({ name: text(), arguments: text() }, {}, OPEN),
  },
  {},
  OPEN,
)
const message = tagged("role", {
  system: object({ role: anything, content: texts }, {}, OPEN),
  user: object({ role: anything, content: parts }, {}, OPEN),
  assistant: object(
    { role: anything },
    { content: nullable(texts), reasoning_content: nullable(text()), tool_calls: nullable(list(call)) },
    OPEN,
  ),
  tool: object({ role: anything, content: parts, tool_call_id: text({ min: 1 }) }, {}, OPEN),
})
const body = object({ messages: list(message, { min: 1 }) }, {}, OPEN)

export function refusedByKimi(value: unknown): readonly Refusal[] {
  const report = new Report(SENTENCES, SOURCES)
  if (hasHalves(value)) report.refuse("unicode", invalid("the body is no JSON"))
  body(value, "", report)
  const { messages, thinking } = value as Fields
  const found = fieldsIn(messages)
  checkPairs(found, report, PAIRS)
  const isThinking = !(isFields(thinking) && thinking["type"] === "disabled")
  for (const [i, one] of found.entries()) checkMessage(one, i, isThinking, report)
  return report.refusals
}

function checkMessage(message: Fields, i: number, isThinking: boolean, report: Report): void {
  const { role, content, reasoning_content: reasoning } = message
  const calls = callsOf(message)
  const isWithout = content === undefined || content === null || (content as string | unknown[]).length === 0
  if (isWithout && calls.length === 0 && role !== "tool")
    report.refuse("empty_message", `the message at position ${i} with role '${String(role)}' must not be empty`)
  if (isThinking && calls.length > 0 && (typeof reasoning !== "string" || reasoning === ""))
    report.refuse(
      "reasoning_missing",
      `thinking is enabled but reasoning_content is missing in assistant tool call message at index ${i}`,
    )
  for (const { function: called } of calls)
    if (!/^[a-zA-Z][a-zA-Z0-9_-]{0,63}$/.test(String((called as Fields | undefined)?.["name"])))
      report.refuse(
        "name",
        "function name is invalid, must start with a letter and can contain letters, numbers, underscores, and dashes",
      )
}
