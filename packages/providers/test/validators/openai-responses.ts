/**
 * What OpenAI's Responses API refuses in a body that has the whole conversation: the shapes of its published types, and the rules that its
 * documentation or its errors state. A body may be without `model`, which callers add.
 */
import { imageUrl } from "./images.ts"
import { IMAGE_TYPES } from "./openai-chat.ts"
import { github, OPENAI, OPENAI_TYPES, READ } from "./openai-sentences.ts"
import { itemsChecks } from "./responses-items.ts"
import {
  anything,
  type Fields,
  fieldsIn,
  hasHalves,
  isFields,
  list,
  object,
  type Refusal,
  Report,
  type Sources,
  textOr,
} from "./shapes.ts"

const SOURCES: Sources = {
  missing: OPENAI_TYPES,
  type: OPENAI_TYPES,
  value: OPENAI_TYPES,
  unknown: github("microsoft/agent-framework/issues/2203", "2025-11-13"),
  "unknown input[].status": github("1jehuang/jcode/issues/1028", "2026-08-21"),
  "unknown input[].namespace": github("james-6-23/codex2api/issues/406", "2026-07-18"),
  "unknown input[].action.sources": github("pydantic/pydantic-ai", READ),
  "missing input[].id": github("openai/codex/issues/6926", "2025-11-19"),
  "missing input[].summary": github("lidge-jun/opencodex/pull/4673", "2026-09-15"),
  "value input[].action.type": github("openai/codex/issues/6945", "2025-11-19"),
  "value input[].content[].type": github("epam/ai-dial-adapter-openai/issues/511", "2026-07-27"),
  "empty input[].name": github("openai/codex/issues/17620", "2026-04-13"),
  "empty input[].call_id": github("openai/codex/issues/42088", "2026-09-13"),
  "empty input": github("decolua/9router/pull/419", "2026-03-24"),
  "long input[].call_id": github("openai/codex/issues/14355", "2026-03-11"),
  "long input[].id": github("can1357/oh-my-pi/issues/284", "2026-03-04"),
  "long input[].content": github("VectorlyApp/bluebox/issues/31", "2025-11-05"),
  "long input[].name": github("diegosouzapw/OmniRoute/pull/4317", "2026-06-19"),
  long_reasoning: github("querymt/querymt/issues/976", "2026-09-22"),
  "pattern input[].name": github("mcp-use/mcp-use/issues/90", READ),
  "pattern input[].id": github("langchain-ai/langchainjs/issues/11044", READ),
  id_prefix: github("openai/codex/issues/33176", "2026-07-14"),
  image_format: github("STranslate/STranslate/issues/277", "2024-12-09"),
  image_url: github("vercel/ai/issues/1544", "2024-05-09"),
  no_output: github("router-for-me/CLIProxyAPI/issues/2368", "2026-03-27"),
  no_call: github("can1357/oh-my-pi/issues/106", "2026-02-18"),
  repeated_call: github("earendil-works/pi/issues/9057", "2026-09-03"),
  repeated_output: github("earendil-works/pi/issues/9057", "2026-09-03"),
  repeated_item: github("earendil-works/pi/issues/5147", "2026-05-28"),
  reasoning_alone: github("continuedev/continue/issues/9628", "2026-01-18"),
  without_reasoning: github("continuedev/continue/issues/11994", "2026-04-02"),
  not_persisted: github("can1357/oh-my-pi/issues/41", "2026-02-12"),
  foreign_encryption: github("openai/codex/issues/8119", "2025-12-16"),
  unicode: github("anthropics/claude-code/issues/5934", "2025-08-16"),
}

const PARAMETERS =
  "model access_programs background background_options context_management conversation image include instructions max_output_tokens max_tool_calls metadata moderation parallel_tool_calls previous_response_id prompt prompt_cache_key prompt_cache_options prompt_cache_retention reasoning safety_identifier service_tier store stream stream_options temperature text tool_choice tools top_logprobs top_p truncation user"
const picture = imageUrl(IMAGE_TYPES, {
  format:
    "The image data you provided does not represent a valid image. Please check your input and try again with one of the supported image formats: ['image/jpeg', 'image/png', 'image/gif', 'image/webp'].",
  url: (path) => `Invalid '${path}'. Expected a valid URL, but got a value with an invalid format.`,
})
const body = object(
  { input: textOr(list(itemsChecks(picture), { min: 1 })) },
  Object.fromEntries(PARAMETERS.split(" ").map((name) => [name, anything])),
)

/** The two halves of each call that the program answers. */
export const OUTPUTS: Readonly<Record<string, { readonly output: string; readonly says: string }>> = {
  function_call: { output: "function_call_output", says: "function call" },
  custom_tool_call: { output: "custom_tool_call_output", says: "custom tool call" },
  computer_call: { output: "computer_call_output", says: "computer call" },
  local_shell_call: { output: "local_shell_call_output", says: "local shell call" },
  shell_call: { output: "shell_call_output", says: "shell call" },
  apply_patch_call: { output: "apply_patch_call_output", says: "apply patch call" },
}

export interface ResponsesServer {
  /** The `output` of each answer that the server has given: with them it knows which item followed which reasoning. */
  readonly given?: readonly (readonly object[])[]
}

export function refusedByOpenAIResponses(value: unknown, { given = [] }: ResponsesServer = {}): readonly Refusal[] {
  const report = new Report(OPENAI, SOURCES)
  if (hasHalves(value)) report.refuse("unicode", "We could not parse the JSON body of your request.")
  body(value, "", report)
  const { input, store } = value as Fields
  const items = fieldsIn(input)
  checkIds(items, report)
  checkHalves(items, report)
  checkReasoning(items, given, report)
  if (store === false) checkPersisted(items, report)
  return report.refusals
}

function checkIds(items: readonly Fields[], report: Report): void {
  const seen = new Set<unknown>()
  for (const { id, type } of items) {
    if (typeof id !== "string" || type === "local_shell_call_output") continue
    if (seen.has(id))
      report.refuse(
        "repeated_item",
        `Duplicate item found with id ${id}. Remove duplicate items from your input and try again.`,
      )
    seen.add(id)
  }
}

const halfOf = (item: Fields): string => String(item["call_id"] ?? item["id"])

function checkHalves(items: readonly Fields[], report: Report): void {
  const calls = new Map<string, Fields>()
  const answered = new Set<Fields>()
  for (const item of items) {
    const type = String(item["type"])
    const half = OUTPUTS[type]
    if (half !== undefined) {
      const id = halfOf(item)
      if (calls.has(`${half.output} ${id}`)) report.refuse("repeated_call", `Duplicate 'call_id': ${id}.`)
      calls.set(`${half.output} ${id}`, item)
      continue
    }
    if (!type.endsWith("_call_output")) continue
    const says = Object.values(OUTPUTS).find(({ output }) => output === type)?.says ?? type
    const call = calls.get(`${type} ${halfOf(item)}`)
    if (call === undefined)
      report.refuse("no_call", `No tool call found for ${says} output with call_id ${halfOf(item)}.`)
    else if (answered.has(call)) report.refuse("repeated_output", `Duplicate tool output for call_id: ${halfOf(item)}.`)
    else answered.add(call)
  }
  for (const call of calls.values())
    if (!answered.has(call))
      report.refuse("no_output", `No tool output found for ${OUTPUTS[String(call["type"])]?.says} ${halfOf(call)}.`)
}

/** What comes from the model: the rest is what the program or the user says. */
function isOutput({ type, role }: Fields): boolean {
  if (type === undefined || type === "message") return role === "assistant"
  return !String(type).endsWith("_output") && type !== "mcp_approval_response"
}

function checkReasoning(items: readonly Fields[], given: readonly (readonly object[])[], report: Report): void {
  const followed = new Map<unknown, unknown>()
  for (const output of given)
    for (const [i, item] of output.entries()) {
      const before = output[i - 1] as Fields | undefined
      if (before?.["type"] === "reasoning") followed.set((item as Fields)["id"], before["id"])
    }
  for (const [i, item] of items.entries()) {
    const { id, type } = item
    if (type === "reasoning") {
      const next = items.slice(i + 1).find((one) => one["type"] !== "reasoning")
      if (next === undefined || !isOutput(next))
        report.refuse(
          "reasoning_alone",
          `Item '${String(id)}' of type 'reasoning' was provided without its required following item.`,
        )
    }
    const reasoning = typeof id === "string" ? followed.get(id) : undefined
    if (reasoning !== undefined && items[i - 1]?.["id"] !== reasoning)
      report.refuse(
        "without_reasoning",
        `Item '${String(id)}' of type '${String(type)}' was provided without its required 'reasoning' item: '${String(reasoning)}'.`,
      )
    if (type === "reasoning" && isKnown(given) && !wasGiven(item, given))
      report.refuse("foreign_encryption", `The encrypted content for item ${String(id)} could not be verified.`)
  }
}

const isKnown = (given: readonly (readonly object[])[]) => given.length > 0

/** Only this server can read what it has encrypted, and it has encrypted each item for its own id. */
function wasGiven({ id, encrypted_content: data }: Fields, given: readonly (readonly object[])[]): boolean {
  if (data === undefined || data === null) return true
  return given.some((output) =>
    output.some((item) => isFields(item) && item["id"] === id && item["encrypted_content"] === data),
  )
}

/** With `store: false` an item is its content: the server cannot look up an id. */
function checkPersisted(items: readonly Fields[], report: Report): void {
  for (const { id, type, encrypted_content: data } of items)
    if (type === "item_reference" || (type === "reasoning" && !data))
      report.refuse(
        "not_persisted",
        `Item with id '${String(id)}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`,
      )
}
