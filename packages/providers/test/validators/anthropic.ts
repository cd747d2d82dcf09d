/**
 * What Anthropic's Messages API refuses in a body: the shapes of its published types, and the rules that its documentation or its errors state.
 */
import { sideOf, typeOf } from "./anthropic-images.ts"
import { ANTHROPIC, ANTHROPIC_TYPES, claudeCode, docs, READ } from "./anthropic-sentences.ts"
import { BODY } from "./anthropic-shapes.ts"
import { github } from "./openai-sentences.ts"
import { type Fields, fieldsIn, hasHalves, isFields, type Refusal, Report, type Sources } from "./shapes.ts"

const SOURCES: Sources = {
  missing: ANTHROPIC_TYPES,
  type: ANTHROPIC_TYPES,
  value: ANTHROPIC_TYPES,
  pattern: claudeCode(65513, READ),
  unknown: github("langchain-ai/langchain/issues/31208", "2025-05-13"),
  empty: docs("api/messages/create"),
  long: docs("api/messages/create"),
  "type messages[].content[].input": claudeCode(6696, "2025-08-28"),
  "missing messages[].content[].signature": claudeCode(20691, "2026-01-25"),
  "empty messages[].content[].signature": github("kaitranntt/ccs/issues/415", "2026-02-01"),
  blank_text: claudeCode(23440, "2026-02-05"),
  empty_message: docs("api/messages/create"),
  begins: docs("api/messages/create"),
  ends: github("strands-agents/sdk-python/issues/1694", READ),
  ends_in_thinking: github("tailcallhq/forgecode/issues/2107", READ),
  ends_in_space: github("tailcallhq/forgecode/issues/1872", "2025-11-08"),
  unanswered: claudeCode(1831, "2025-06-09"),
  orphan: claudeCode(13460, "2025-12-09"),
  repeated_result: docs("agents-and-tools/tool-use/implement-tool-use"),
  repeated_call: claudeCode(20527, READ),
  role_of_block: docs("api/messages/create"),
  hosted_without_result: docs("build-with-claude/handling-stop-reasons"),
  hosted_without_call: claudeCode(64383, "2026-06-01"),
  thinking_changed: docs("build-with-claude/extended-thinking"),
  failed_without_content: docs("agents-and-tools/tool-use/implement-tool-use"),
  cache_marks: github("tghamm/Anthropic.SDK/issues/50", "2024-09-26"),
  cache_order: docs("build-with-claude/prompt-caching"),
  image_base64: docs("build-with-claude/vision"),
  image_size: docs("build-with-claude/vision"),
  image_type: github("vybestack/llxprt-code/issues/2130", "2026-06-23"),
  image_count: claudeCode(23392, "2026-02-05"),
  image_pixels: claudeCode(4778, "2025-08-04"),
  many_images: claudeCode(49537, "2026-04-16"),
  unicode: claudeCode(5934, "2025-08-16"),
}

export interface AnthropicServer {
  /** An answer may be last, for the model to go on with it: models before Claude 4.6. */
  readonly prefill?: boolean
  /** How many images and documents a request may have: 100 for models with a window of 200,000 tokens. Default 600, of the others. */
  readonly media?: number
  /** Signatures that the server has given, each with the thinking that it signs. Without it every signature is taken. */
  readonly signed?: ReadonlyMap<string, string>
}

export function refusedByAnthropic(value: unknown, o: AnthropicServer = {}): readonly Refusal[] {
  const report = new Report(ANTHROPIC, SOURCES)
  if (hasHalves(value)) report.refuse("unicode", "The request body is not valid JSON: no low surrogate in string")
  BODY(value, "", report)
  if (!isFields(value)) return report.refusals
  const messages = fieldsIn(value["messages"])
  checkTexts(value, report)
  checkOrder(messages, report, o)
  checkCalls(messages, report)
  let waiting: ReadonlySet<string> = new Set()
  for (const i of messages.keys()) waiting = checkAnswer(messages, i, waiting, report, o)
  checkMarks(value, report)
  checkImages(messages, report, o)
  return report.refusals
}

const blocksOf = ({ content }: Fields): readonly Fields[] =>
  typeof content === "string" ? [{ type: "text", text: content }] : fieldsIn(content)

function checkTexts(body: Fields, report: Report): void {
  const check = (owner: string, blocks: readonly Fields[]) => {
    for (const { type, text } of blocks) {
      if (type !== "text" || typeof text !== "string" || text.trim() !== "") continue
      const must = text === "" ? "be non-empty" : "contain non-whitespace text"
      report.refuse("blank_text", `${owner}: text content blocks must ${must}`)
    }
  }
  check("system", fieldsIn(body["system"]))
  for (const [i, one] of fieldsIn(body["messages"]).entries()) {
    if (one["content"] === "" || (Array.isArray(one["content"]) && one["content"].length === 0))
      report.refuse("empty_message", `messages.${i}: all messages must have non-empty content`)
    else check("messages", blocksOf(one))
    for (const { type, content, is_error: isError } of blocksOf(one)) {
      if (type !== "tool_result") continue
      check("messages", fieldsIn(content))
      const isEmpty = content === undefined || content === "" || (Array.isArray(content) && content.length === 0)
      if (isError === true && isEmpty)
        report.refuse("failed_without_content", `messages.${i}: content cannot be empty if \`is_error\` is true`)
    }
  }
}

function checkOrder(messages: readonly Fields[], report: Report, { prefill }: AnthropicServer): void {
  if (messages.length > 0 && messages[0]?.["role"] !== "user")
    report.refuse("begins", 'messages: first message must use the "user" role')
  const last = messages.at(-1)
  if (last?.["role"] !== "assistant") return
  const block = blocksOf(last).at(-1)
  // A turn that the API has paused goes on from its answer.
  if (isHostedCall(block)) return
  if (block?.["type"] === "thinking" || block?.["type"] === "redacted_thinking")
    report.refuse(
      "ends_in_thinking",
      `messages.${messages.length - 1}: The final block in an assistant message cannot be \`thinking\`.`,
    )
  if (block?.["type"] === "text" && /\s$/.test(String(block["text"])))
    report.refuse("ends_in_space", "messages: final assistant content cannot end with trailing whitespace")
  if (prefill !== true)
    report.refuse(
      "ends",
      "This model does not support assistant message prefill. The conversation must end with a user message.",
    )
}

/** The results of the program's tools are the first blocks of the next message, each call has one; ids are unique. */
function checkCalls(messages: readonly Fields[], report: Report): void {
  const known = new Set<string>()
  let open: readonly string[] = []
  for (const [i, one] of messages.entries()) {
    const blocks = blocksOf(one)
    const first = blocks.findIndex(({ type }) => type !== "tool_result")
    const atStart = (first < 0 ? blocks : blocks.slice(0, first)).map((block) => String(block["tool_use_id"]))
    const unanswered = open.filter((id) => one["role"] !== "user" || !atStart.includes(id))
    if (unanswered.length > 0) refuseUnanswered(i, unanswered, report)
    const seen = new Set<string>()
    for (const [j, { type, tool_use_id: result }] of blocks.entries()) {
      if (type !== "tool_result") continue
      const id = String(result)
      if (!open.includes(id))
        report.refuse(
          "orphan",
          `messages.${i}.content.${j}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`,
        )
      else if (seen.has(id))
        report.refuse(
          "repeated_result",
          `messages.${i}.content.${j}: each tool_use must have a single result. Found multiple \`tool_result\` blocks with id: ${id}`,
        )
      seen.add(id)
    }
    open = blocks.filter(({ type }) => type === "tool_use").map(({ id }) => String(id))
    for (const id of open) {
      if (known.has(id)) report.refuse("repeated_call", "messages: `tool_use` ids must be unique")
      known.add(id)
    }
  }
  if (open.length > 0) refuseUnanswered(messages.length, open, report)
}

function refuseUnanswered(at: number, ids: readonly string[], report: Report): void {
  report.refuse(
    "unanswered",
    `messages.${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${ids.join(", ")}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`,
  )
}

const OF_ANSWERS = /^(thinking|redacted_thinking|tool_use|server_tool_use|mcp_tool_use|.+_tool_result)$/
const OF_USERS = /^(image|document|search_result|tool_result|container_upload)$/

/** `waiting`: the hosted calls whose results may be in this message. Returns those of the next one. */
function checkAnswer(
  messages: readonly Fields[],
  at: number,
  waiting: ReadonlySet<string>,
  report: Report,
  { signed }: AnthropicServer,
): ReadonlySet<string> {
  const message = messages[at] ?? {}
  const blocks = blocksOf(message)
  const isAnswer = message["role"] === "assistant"
  for (const { type } of blocks) {
    const kind = String(type)
    if ((isAnswer ? OF_USERS : OF_ANSWERS).test(kind))
      report.refuse(
        "role_of_block",
        `messages.${at}: \`${kind}\` blocks can only be in \`${isAnswer ? "user" : "assistant"}\` messages`,
      )
  }
  if (!isAnswer) return blocks.every(({ type }) => type === "tool_result") ? waiting : new Set()
  for (const [j, { type, thinking, signature }] of blocks.entries())
    if (type === "thinking" && signed !== undefined && signed.get(String(signature)) !== thinking)
      report.refuse("thinking_changed", `messages.${at}.content.${j}: Invalid \`signature\` in \`thinking\` block`)
  return checkHosted(blocks, at, at === messages.length - 1 && isHostedCall(blocks.at(-1)), waiting, report)
}

const isHostedCall = (block: Fields | undefined) =>
  block?.["type"] === "server_tool_use" || block?.["type"] === "mcp_tool_use"

/**
 * Calls of the API's own tools have their results behind them, in the same answer. It runs those that have none yet if the answer is the last
 * message, or if it waits for results of the program's tools as well: then the results are in the answer to those, as the page on stop reasons says of
 * `tool_use`.
 */
function checkHosted(
  blocks: readonly Fields[],
  at: number,
  goesOn: boolean,
  waiting: ReadonlySet<string>,
  report: Report,
): ReadonlySet<string> {
  const calls = new Map(
    blocks.flatMap((block, j) =>
      isHostedCall(block) ? [[String(block["id"]), { j, name: String(block["name"]) }] as const] : [],
    ),
  )
  const answered = new Set<string>()
  for (const [j, { type, tool_use_id: result }] of blocks.entries()) {
    if (typeof type !== "string" || !type.endsWith("_tool_result")) continue
    const call = calls.get(String(result))
    answered.add(String(result))
    if (call === undefined ? !waiting.has(String(result)) : call.j > j)
      report.refuse(
        "hosted_without_call",
        `messages.${at}.content.${j}: unexpected \`tool_use_id\` found in \`${type}\` blocks: ${String(result)}. Each \`${type}\` block must have a corresponding \`${type === "mcp_tool_result" ? "mcp_tool_use" : "server_tool_use"}\` block before it.`,
      )
  }
  const open = new Set([...waiting, ...calls.keys()].filter((id) => !answered.has(id)))
  if (goesOn || blocks.some(({ type }) => type === "tool_use")) return open
  for (const [id, { name }] of calls)
    if (open.has(id))
      report.refuse(
        "hosted_without_result",
        `messages.${at}: \`${name}\` tool use with id \`${id}\` was found without a corresponding \`${name}_tool_result\` block`,
      )
  return new Set()
}

function checkMarks(body: Fields, report: Report): void {
  const marked: Fields[] = []
  const visit = (blocks: readonly Fields[]) => {
    for (const block of blocks) {
      visit(fieldsIn(block["content"]))
      if (isFields(block["cache_control"])) marked.push(block["cache_control"])
    }
  }
  visit(fieldsIn(body["tools"]))
  visit(fieldsIn(body["system"]))
  for (const one of fieldsIn(body["messages"])) visit(fieldsIn(one["content"]))
  if (marked.length > 4)
    report.refuse("cache_marks", `A maximum of 4 blocks with cache_control may be provided. Found ${marked.length}.`)
  const short = marked.findIndex(({ ttl }) => ttl !== "1h")
  if (short >= 0 && marked.slice(short).some(({ ttl }) => ttl === "1h"))
    report.refuse(
      "cache_order",
      "messages: a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block.",
    )
}

/** https://platform.claude.com/docs/en/build-with-claude/vision, "Request limits" */
function checkImages(messages: readonly Fields[], report: Report, { media = 600 }: AnthropicServer): void {
  const all = messages.flatMap((one) => {
    const own = blocksOf(one)
    return [...own, ...own.flatMap(({ content }) => fieldsIn(content))]
  })
  const images = all.filter(({ type }) => type === "image")
  const documents = all.filter(({ type }) => type === "document").length
  if (images.length + documents > media)
    report.refuse("image_count", `too many images and documents: ${images.length} + ${documents} > ${media}`)
  const limit = images.length > 20 ? 2000 : 8000
  for (const { source } of images) {
    const data = isFields(source) && source["type"] === "base64" ? source["data"] : undefined
    if (typeof data !== "string") continue
    if (data.length > 5 * 1024 * 1024)
      report.refuse("image_size", `messages: image exceeds 5 MB maximum: ${data.length} bytes > 5242880 bytes`)
    const [named, real] = [String(isFields(source) ? source["media_type"] : ""), typeOf(data)]
    if (real !== undefined && real !== named)
      report.refuse(
        "image_type",
        `messages: The image was specified using the ${named} media type, but the image appears to be a ${real} image`,
      )
    if (sideOf(data) > limit)
      report.refuse(
        limit === 8000 ? "image_pixels" : "many_images",
        `messages: At least one of the image dimensions exceed max allowed size${limit === 8000 ? "" : " for many-image requests"}: ${limit} pixels`,
      )
  }
}
