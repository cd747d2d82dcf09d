/** Requests that Anthropic's Messages API refuses, each with the rule and where the refusal is reported or documented. */
import { ANTHROPIC_TYPES, claudeCode, docs, READ } from "./anthropic-sentences.ts"
import type { BadRequest } from "./bad-chat.ts"
import { github } from "./openai-sentences.ts"
import type { Source } from "./shapes.ts"

const MESSAGES = docs("api/messages/create")
const TOOL_USE = docs("agents-and-tools/tool-use/implement-tool-use")
const VISION = docs("build-with-claude/vision")

export const text = (value: unknown = "hi") => ({ type: "text", text: value })
export const user = (...content: readonly unknown[]) => ({
  role: "user",
  content: content.length === 0 ? "hi" : content,
})
export const says = (...content: readonly unknown[]) => ({ role: "assistant", content })
export const call = (id: unknown = "toolu_1", more: object = {}) => ({
  type: "tool_use",
  id,
  name: "read",
  input: {},
  ...more,
})
export const result = (id: unknown = "toolu_1", more: object = {}) => ({
  type: "tool_result",
  tool_use_id: id,
  content: "ok",
  ...more,
})
export const thinking = (more: object = {}) => ({ type: "thinking", thinking: "hm", signature: "EqQB", ...more })
const hosted = (more: object = {}) => ({
  type: "server_tool_use",
  id: "srvtoolu_1",
  name: "web_search",
  input: { query: "q" },
  ...more,
})
const found = (more: object = {}) => ({
  type: "web_search_tool_result",
  tool_use_id: "srvtoolu_1",
  content: [],
  ...more,
})
const PIXEL = "iVBORw0KGgo="
const image = (source: object = {}) => ({
  type: "image",
  source: { type: "base64", media_type: "image/png", data: PIXEL, ...source },
})
const MARK = { cache_control: { type: "ephemeral" } }

/** The header of a PNG of this size. */
const png = (width: number, height: number) =>
  btoa(
    `\x89PNG\r\n\x1a\n\0\0\0\rIHDR${[width, height].map((n) => String.fromCharCode((n >>> 24) & 255, (n >>> 16) & 255, (n >>> 8) & 255, n & 255)).join("")}`,
  )

const bad = (name: string, rule: string, source: Source, ...messages: readonly unknown[]): BadRequest => ({
  name,
  rule,
  source,
  body: { model: "claude-sonnet-5-5", max_tokens: 100, messages },
})
const withSystem = (name: string, rule: string, source: Source, system: unknown): BadRequest => ({
  name,
  rule,
  source,
  body: { system, messages: [user()] },
})
/** A call and its result. */
const round = (c: object, r: object = result()) => [user(), says(c), user(r)]

// biome-ignore format: a table, with a request in each line
export const BAD_ANTHROPIC: readonly BadRequest[] = [
  // Roles and order.
  bad("no messages", "empty messages", MESSAGES),
  bad("an answer first", "begins", MESSAGES, says(text("Hello!")), user()),
  bad("a call first", "begins", MESSAGES, says(call()), user(result())),
  bad("a role that is the system's", "value messages[].role", MESSAGES, { role: "system", content: "be brief" }, user()),
  bad("a role that is a tool's", "value messages[].role", MESSAGES, user(), { role: "tool", content: "ok" }),
  bad("a message without a role", "missing messages[].role", ANTHROPIC_TYPES, { content: "hi" }),
  bad("a message without content", "missing messages[].content", ANTHROPIC_TYPES, { role: "user" }),
  bad("an answer last", "ends", github("strands-agents/sdk-python/issues/1694", READ), user(), says(text("half"))),
  bad("an answer of thinking last", "ends_in_thinking", github("tailcallhq/forgecode/issues/2107", READ), user(), says(thinking())),
  bad("redacted thinking last", "ends_in_thinking", github("tailcallhq/forgecode/issues/2107", READ), user(), says(text(), { type: "redacted_thinking", data: "x" })),
  bad("an answer that ends in a space", "ends_in_space", github("tailcallhq/forgecode/issues/1872", "2025-11-08"), user(), says(text("half "))),
  bad("an answer that ends in a new line", "ends_in_space", github("crewAIInc/crewAI/issues/4413", "2026-02-08"), user(), says(text("half\n"))),
  bad("an answer that ends in a tab", "ends_in_space", github("langchain-ai/langchain/issues/35071", "2026-02-08"), user(), { role: "assistant", content: "half\t" }),
  // Empty contents.
  bad("an empty text", "blank_text", claudeCode(59812, "2026-05-16"), user(text(""))),
  bad("a text of white space", "blank_text", claudeCode(23440, "2026-02-05"), user(text(" \n"))),
  bad("an answer of white space", "blank_text", github("anomalyco/opencode/issues/31259", "2026-07-03"), user(), says(text("\n\n")), user()),
  bad("an empty text beside a call", "blank_text", claudeCode(49171, "2026-04-16"), user(), says(text(""), call()), user(result())),
  bad("an empty text in a result", "blank_text", github("experientiallabs/experiential/pull/799", "2026-09-05"), ...round(call(), result("toolu_1", { content: [text("")] }))),
  bad("a content that is an empty text", "empty_message", github("miurla/morphic/issues/83", "2024-04-25"), { role: "user", content: "" }),
  bad("a content without blocks", "empty_message", MESSAGES, user(), { role: "assistant", content: [] }, user()),
  bad("a content of white space", "blank_text", github("Mintplex-Labs/anything-llm/issues/2108", "2024-08-13"), { role: "user", content: "  " }),
  withSystem("an empty text of the system", "blank_text", github("BiFangKNT/mtga/pull/68", "2026-02-28"), [text("")]),
  withSystem("a block of the system that is no text", "value system[].type", MESSAGES, [image()]),
  bad("a failed result without content", "failed_without_content", TOOL_USE, ...round(call(), { type: "tool_result", tool_use_id: "toolu_1", is_error: true })),
  bad("a failed result with an empty list", "failed_without_content", TOOL_USE, ...round(call(), result("toolu_1", { is_error: true, content: [] }))),
  // Calls and results.
  bad("a call that nothing follows", "unanswered", claudeCode(1831, "2025-06-09"), user(), says(call())),
  bad("a call that a question follows", "unanswered", claudeCode(3512, "2025-07-15"), user(), says(call()), user(text("next"))),
  bad("one of two calls without its result", "unanswered", claudeCode(7929, "2025-09-20"), user(), says(call("a"), call("b")), user(result("a"))),
  bad("three calls without results", "unanswered", claudeCode(6242, "2025-08-21"), user(), says(call("a"), call("b"), call("c")), user()),
  bad("a call that another answer follows", "unanswered", claudeCode(12526, "2025-11-27"), user(), says(call()), says(text()), user(result())),
  bad("a text before the result", "unanswered", TOOL_USE, user(), says(call()), user(text("so"), result())),
  bad("a result of no call", "orphan", claudeCode(13460, "2025-12-09"), user(result())),
  bad("a result behind another message", "orphan", claudeCode(66548, "2026-06-09"), user(), says(text()), user(result())),
  bad("two results of one call", "repeated_result", TOOL_USE, user(), says(call()), user(result(), result())),
  bad("an id twice in an answer", "repeated_call", claudeCode(20527, READ), user(), says(call(), call()), user(result())),
  bad("an id of an earlier call", "repeated_call", claudeCode(20527, READ), ...round(call()), ...round(call()).slice(1)),
  bad("an id with a point", "pattern messages[].content[].id", github("openclaw/openclaw/issues/4718", READ), ...round(call("a.b"), result("a.b"))),
  bad("an id with a colon", "pattern messages[].content[].id", github("openclaw/openclaw/issues/4718", READ), ...round(call("functions.read:0"), result("functions.read:0"))),
  bad("an empty id", "empty messages[].content[].id", github("openclaw/openclaw/issues/4718", READ), ...round(call(""), result(""))),
  bad("an id of a result with a bar", "pattern messages[].content[].tool_use_id", github("openclaw/openclaw/issues/4718", READ), ...round(call("a|b"), result("a|b"))),
  bad("a call without an id", "missing messages[].content[].id", ANTHROPIC_TYPES, ...round(call(undefined, { id: undefined }))),
  bad("an empty name", "empty messages[].content[].name", MESSAGES, ...round(call("toolu_1", { name: "" }))),
  bad("a name with a point", "pattern messages[].content[].name", MESSAGES, ...round(call("toolu_1", { name: "server.read" }))),
  bad("a name in Chinese", "pattern messages[].content[].name", MESSAGES, ...round(call("toolu_1", { name: "读" }))),
  bad("a name of 129", "long messages[].content[].name", MESSAGES, ...round(call("toolu_1", { name: "z".repeat(129) }))),
  bad("arguments that are a text", "type messages[].content[].input", claudeCode(6696, "2025-08-28"), ...round(call("toolu_1", { input: "{}" }))),
  bad("arguments that are a list", "type messages[].content[].input", github("prism-php/prism/issues/659", "2025-10-13"), ...round(call("toolu_1", { input: [] }))),
  bad("arguments that are null", "type messages[].content[].input", github("lijunzh/koda/issues/501", "2026-03-18"), ...round(call("toolu_1", { input: null }))),
  bad("no arguments", "missing messages[].content[].input", github("anthropics/anthropic-sdk-typescript/issues/648", "2024-12-31"), ...round(call("toolu_1", { input: undefined }))),
  bad("a call of the user", "role_of_block", MESSAGES, user(call()), user(result())),
  bad("a result in an answer", "role_of_block", MESSAGES, user(), says(call()), says(result()), user()),
  // Hosted tools.
  bad("a search without its result", "hosted_without_result", docs("build-with-claude/handling-stop-reasons"), user(), says(hosted()), user()),
  bad("a search that the answer's end has cut off", "hosted_without_result", docs("build-with-claude/handling-stop-reasons"), user(), says(text(), hosted(), text("and")), user()),
  bad("a call of an MCP server without its result", "hosted_without_result", docs("agents-and-tools/mcp-connector"), user(), says({ type: "mcp_tool_use", id: "mcptoolu_1", name: "echo", server_name: "s", input: {} }), user()),
  bad("a result of a search without its call", "hosted_without_call", claudeCode(64383, "2026-06-01"), user(), says(found()), user()),
  bad("a result of a search behind the user's words", "hosted_without_call", docs("build-with-claude/handling-stop-reasons"), user(), says(hosted(), call()), user(result(), text("stop")), says(found(), text()), user()),
  bad("a result before its search", "hosted_without_call", claudeCode(66548, "2026-06-09"), user(), says(found(), hosted()), user()),
  bad("a hosted tool that does not exist", "value messages[].content[].name", ANTHROPIC_TYPES, user(), says(hosted({ name: "read_mind" }), found()), user()),
  // Thinking.
  bad("thinking without a signature", "missing messages[].content[].signature", github("code-yeongyu/oh-my-openagent/issues/2775", "2026-03-23"), user(), says({ type: "thinking", thinking: "hm" }, text()), user()),
  bad("thinking with an empty signature", "empty messages[].content[].signature", github("kaitranntt/ccs/issues/415", "2026-02-01"), user(), says(thinking({ signature: "" }), text()), user()),
  bad("thinking of the user", "role_of_block", MESSAGES, user(thinking())),
  bad("a mark on thinking", "unknown messages[].content[].cache_control", github("router-for-me/CLIProxyAPI/issues/512", "2025-12-13"), user(), says(thinking(MARK), text()), user()),
  bad("redacted thinking without data", "missing messages[].content[].data", ANTHROPIC_TYPES, user(), says({ type: "redacted_thinking" }, text()), user()),
  // Fields and types of blocks.
  bad("a block of no known type", "value messages[].content[].type", ANTHROPIC_TYPES, user({ type: "toolCall", id: "1" })),
  bad("a block without a type", "missing messages[].content[].type", ANTHROPIC_TYPES, user({ text: "hi" })),
  bad("a block of OpenAI", "value messages[].content[].type", ANTHROPIC_TYPES, user({ type: "image_url", image_url: { url: "x" } })),
  bad("an index in a call", "unknown messages[].content[].index", github("langchain-ai/langchain/issues/31208", "2025-05-13"), ...round(call("toolu_1", { index: 1 }))),
  bad("a text in a call", "unknown messages[].content[].text", claudeCode(4378, "2025-07-25"), ...round(call("toolu_1", { text: "" }))),
  bad("a field of a message", "unknown messages[].id", ANTHROPIC_TYPES, { ...user(), id: "msg_1" }),
  bad("a text that is a number", "type messages[].content[].text", ANTHROPIC_TYPES, user(text(5))),
  { name: "a parameter of another API", rule: "unknown response_format", source: github("amrit110/oli/issues/7", "2025-03-17"), body: { messages: [user()], response_format: {} } },
  // Images.
  bad("image/jpg", "value messages[].content[].source.media_type", VISION, user(image({ media_type: "image/jpg" }))),
  bad("image/heic", "value messages[].content[].source.media_type", VISION, user(image({ media_type: "image/heic" }))),
  bad("image/svg+xml", "value messages[].content[].source.media_type", VISION, user(image({ media_type: "image/svg+xml" }))),
  bad("IMAGE/PNG", "value messages[].content[].source.media_type", VISION, user(image({ media_type: "IMAGE/PNG" }))),
  bad("image/bmp in a result", "value messages[].content[].content[].source.media_type", VISION, ...round(call(), result("toolu_1", { content: [image({ media_type: "image/bmp" })] }))),
  bad("an image without data", "image_base64", VISION, user(image({ data: "" }))),
  bad("a data URL as data", "image_base64", VISION, user(image({ data: `data:image/png;base64,${PIXEL}` }))),
  bad("an image over 5 MB", "image_size", VISION, user(image({ data: "A".repeat(5 * 1024 * 1024 + 4) }))),
  bad("an image of 8,001 pixels", "image_pixels", claudeCode(4778, "2025-08-04"), user(image({ data: png(8001, 10) }))),
  bad("a tall image in a result", "image_pixels", github("can1357/oh-my-pi/pull/10633", "2026-09-03"), ...round(call(), result("toolu_1", { content: [image({ data: png(1440, 8570) })] }))),
  bad("21 images of 2,001 pixels", "many_images", claudeCode(49537, "2026-04-16"), user(...Array.from({ length: 21 }, () => image({ data: png(2001, 9) })))),
  bad("a PNG that is named JPEG", "image_type", github("vybestack/llxprt-code/issues/2130", "2026-06-23"), user(image({ media_type: "image/jpeg" }))),
  bad("a JPEG that is named PNG, in a result", "image_type", github("1jehuang/jcode/issues/465", "2026-07-10"), ...round(call(), result("toolu_1", { content: [image({ data: "/9j/4AAQSkZJRg==" })] }))),
  bad("601 images", "image_count", claudeCode(23392, "2026-02-05"), user(...Array.from({ length: 601 }, () => image()))),
  bad("an image of an answer", "role_of_block", MESSAGES, user(), says(text(), image()), user()),
  // Cache marks.
  bad("five marks", "cache_marks", github("tghamm/Anthropic.SDK/issues/50", "2024-09-26"), user(...Array.from({ length: 5 }, () => ({ ...text(), ...MARK })))),
  { name: "a mark of an hour behind one of five minutes", rule: "cache_order", source: docs("build-with-claude/prompt-caching"), body: { system: [{ ...text(), ...MARK }], messages: [user({ ...text(), cache_control: { type: "ephemeral", ttl: "1h" } })] } },
  bad("a mark with a scope", "unknown messages[].content[].cache_control.scope", github("caozhiyuan/copilot-api/issues/145", "2026-03-31"), user({ ...text(), cache_control: { type: "ephemeral", scope: "global" } })),
  bad("a mark of two hours", "value messages[].content[].cache_control.ttl", docs("build-with-claude/prompt-caching"), user({ ...text(), cache_control: { type: "ephemeral", ttl: "2h" } })),
  // Text.
  bad("half of a surrogate pair", "unicode", claudeCode(5934, "2025-08-16"), user(text("a\ud83d"))),
]

// biome-ignore format: a table, with a request in each line
const SHOWN: readonly (readonly [string, object])[] = [
  ["a question", { messages: [user()] }],
  ["a system prompt of blocks with a mark", { system: [{ ...text(), ...MARK }], messages: [user()] }],
  ["parallel calls and their results, then the user's words", { messages: [user(), says(thinking(), text(), call("a"), call("b")), user(result("a"), result("b"), text("next"))] }],
  ["a failed result", { messages: round(call(), result("toolu_1", { is_error: true })) }],
  ["a result without content", { messages: round(call(), { type: "tool_result", tool_use_id: "toolu_1" }) }],
  ["a search and its result", { messages: [user(), says(hosted(), found(), text()), user()] }],
  ["a turn that the API has paused", { messages: [user(), says(text(), hosted())] }],
  ["a search that waits for the program's tool", { messages: [user(), says(hosted(), call()), user(result())] }],
  ["a search whose result is in the answer to the program's tool", { messages: [user(), says(hosted(), call()), user(result()), says(found(), text()), user()] }],
  ["two messages of the user in a row", { messages: [user(), user()] }],
  ["an image of 2,001 pixels among 20", { messages: [user(...Array.from({ length: 20 }, () => image({ data: png(2001, 9) })))] }],
]

/** Requests that the documentation shows. */
export const GOOD_ANTHROPIC = SHOWN.map(([name, body]) => ({ name, body }))
