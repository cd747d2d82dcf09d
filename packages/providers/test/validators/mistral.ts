/**
 * What Mistral's API refuses in a body of its chat completions: the shapes of its published types, where other fields are forbidden, and the
 * rules of the validator that Mistral publishes with its tokenizer (mode: serving, newest version). A body may be without `model`.
 */
import { callsOf, idOf } from "./chat-pairs.ts"
import { imageUrl } from "./images.ts"
import { IMAGE_TYPES } from "./openai-chat.ts"
import { github, READ } from "./openai-sentences.ts"
import {
  anything,
  type Fields,
  fieldsIn,
  flag,
  hasHalves,
  integer,
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

const TYPES: Source = { url: "https://www.npmjs.com/package/@mistralai/mistralai/v/2.7.0", date: "2026-09-09" }
const VALIDATOR = github("mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py", READ)

const SOURCES: Sources = {
  missing: TYPES,
  type: TYPES,
  value: TYPES,
  empty: TYPES,
  unknown: github("charmbracelet/crush/issues/1590", "2025-12-10"),
  "unknown messages[].name": github("nomtek/mistralai_client_dart/issues/44", "2024-05-29"),
  "unknown messages[].tool_calls[].name": github("zeroclaw-labs/zeroclaw/issues/2693", "2026-03-04"),
  image_format: TYPES,
  image_url: TYPES,
  call_id: github("anomalyco/opencode/issues/1680", "2025-08-07"),
  name: VALIDATOR,
  order: github("datapizza-labs/datapizza-ai/issues/98", "2025-12-04"),
  last_role: github("0xPlaygrounds/rig/pull/1130", "2025-12-08"),
  first_role: VALIDATOR,
  no_messages: VALIDATOR,
  count: github("NousResearch/hermes-agent/pull/11722", "2026-04-17"),
  repeated_call: VALIDATOR,
  repeated_result: VALIDATOR,
  orphan: VALIDATOR,
  empty_answer: github("metadist/synaplan/issues/1115", "2026-06-18"),
  unicode: github("anthropics/claude-code/issues/5934", "2025-08-16"),
}

const detail = (type: string, path: string, msg: string) =>
  JSON.stringify({ object: "error", message: { detail: [{ type, loc: ["body", ...path.split(".")], msg }] } })
const SENTENCES: Sentences = {
  missing: (path) => detail("missing", path, "Field required"),
  type: (path, { expected }) => detail("type_error", path, `Input should be ${expected}`),
  value: (path, { expected }) => detail("literal_error", path, `Input should be ${expected}`),
  unknown: (path) => detail("extra_forbidden", path, "Extra inputs are not permitted"),
  empty: (path) => detail("too_short", path, "Input should have at least 1 item"),
  long: (path, { limit }) => detail("too_long", path, `Input should have at most ${limit} items`),
  pattern: (path, { expected }) => detail("string_pattern_mismatch", path, `String should match pattern '${expected}'`),
}

const textChunk = object({ type: anything, text: text() })
const url = imageUrl(IMAGE_TYPES, {
  format: "Image, 'file type' is not supported, 'accepted types are' PNG, JPEG, WEBP, GIF",
  url: (path) => `Image could not be loaded from ${path}`,
})
const chunks = textOr(
  list(
    tagged("type", {
      text: textChunk,
      image_url: object({
        type: anything,
        image_url: (value, path, report) =>
          typeof value === "string"
            ? url(value, path, report)
            : object({ url }, { detail: nullable(text()) })(value, path, report),
      }),
      document_url: object({ type: anything, document_url: text() }, { document_name: nullable(text()) }),
      reference: object({ type: anything, reference_ids: list(anything) }),
      file: object({ type: anything, file_id: text() }),
      thinking: object(
        { type: anything, thinking: list(tagged("type", { text: textChunk, reference: anything })) },
        {
          signature: nullable(text()),
          closed: flag,
        },
      ),
      input_audio: object({ type: anything, input_audio: anything }),
    }),
  ),
)
const systemChunks = textOr(list(tagged("type", { text: textChunk, thinking: anything })))
const call = object(
  {
    function: object({
      name: text(),
      arguments: (value, path, report) => {
        if (typeof value !== "string") object({}, {}, { open: true })(value, path, report)
      },
    }),
  },
  { id: text(), type: text({ values: ["function"] }), index: integer },
)
const message = tagged("role", {
  system: object({ role: anything, content: systemChunks }),
  user: object({ role: anything, content: nullable(chunks) }),
  assistant: object({ role: anything }, { content: nullable(chunks), tool_calls: nullable(list(call)), prefix: flag }),
  tool: object(
    { role: anything, content: nullable(chunks) },
    { tool_call_id: nullable(text()), name: nullable(text()) },
  ),
})
const PARAMETERS =
  "model frequency_penalty guardrails max_tokens metadata n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_mode random_seed reasoning_effort response_format safe_prompt stop stream temperature tool_choice tools top_p"
const body = object(
  { messages: list(message) },
  Object.fromEntries(PARAMETERS.split(" ").map((name) => [name, anything])),
)

/** Which roles may follow a role. */
const NEXT: Readonly<Record<string, readonly string[]>> = {
  system: ["user", "assistant", "system"],
  user: ["assistant", "system", "user"],
  assistant: ["assistant", "user", "tool"],
  tool: ["assistant", "tool"],
}

export function refusedByMistral(value: unknown): readonly Refusal[] {
  const report = new Report(SENTENCES, SOURCES)
  if (hasHalves(value)) report.refuse("unicode", "The request body is not valid JSON.")
  body(value, "", report)
  const messages = fieldsIn((value as Fields)["messages"])
  checkRoles(messages, report)
  checkCounts(messages, report)
  for (const one of messages) checkNames(one, report)
  return report.refusals
}

function checkRoles(messages: readonly Fields[], report: Report): void {
  const roles = messages.map(({ role }) => String(role))
  const last = messages.at(-1)
  if (last === undefined) report.refuse("no_messages", "Conversation must have at least one message")
  else if (messages.length === 1 && !["user", "system"].includes(String(last["role"])))
    report.refuse("first_role", "Conversation must start with a user message or system message")
  else if (messages.length > 1 && last["role"] === "assistant" && last["prefix"] !== true)
    report.refuse(
      "last_role",
      `Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant`,
    )
  for (const [i, role] of roles.entries()) {
    const before = roles[i - 1]
    if (before !== undefined && NEXT[before]?.includes(role) === false)
      report.refuse("order", `Unexpected role '${role}' after role '${before}'`)
  }
}

function checkCounts(messages: readonly Fields[], report: Report): void {
  let expected: readonly string[] = []
  let seen: string[] = []
  const close = () => {
    if (new Set(expected).size !== seen.length)
      report.refuse("count", "Not the same number of function calls and responses")
  }
  for (const message of messages) {
    if (message["role"] === "tool") {
      const id = String(message["tool_call_id"])
      if (seen.includes(id)) report.refuse("repeated_result", `Duplicate tool call id ${id} in tool results`)
      else if (!expected.includes(id)) report.refuse("orphan", `Unexpected tool call id ${id} in tool results`)
      else seen.push(id)
    }
    if (message["role"] !== "assistant") continue
    close()
    expected = callsOf(message).map(idOf)
    seen = []
    const repeated = expected.find((id, i) => expected.indexOf(id) !== i)
    if (repeated !== undefined)
      report.refuse("repeated_call", `Duplicate tool call id ${repeated} in assistant message`)
  }
  close()
}

const NAME = /^[a-zA-Z0-9_-]{1,64}$/

function checkNames(message: Fields, report: Report): void {
  const checkId = (id: unknown) => {
    if (typeof id === "string" && /^[a-zA-Z0-9]{9}$/.test(id)) return
    report.refuse("call_id", `Tool call id was ${String(id)} but must be a-z, A-Z, 0-9, with a length of 9.`)
  }
  const checkName = (name: unknown) => {
    if (typeof name === "string" && NAME.test(name)) return
    report.refuse(
      "name",
      `Function name was ${String(name)} but must be a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64.`,
    )
  }
  if (message["role"] === "tool") {
    checkId(message["tool_call_id"])
    if (typeof message["name"] === "string") checkName(message["name"])
  }
  if (message["role"] !== "assistant") return
  const { content } = message
  const isWithout = content === undefined || content === null || (content as string | unknown[]).length === 0
  if (isWithout && callsOf(message).length === 0)
    report.refuse("empty_answer", "Assistant message must have either content or tool_calls, but not none.")
  for (const one of callsOf(message)) {
    checkId(one["id"])
    checkName((one["function"] as Fields | undefined)?.["name"])
  }
}
