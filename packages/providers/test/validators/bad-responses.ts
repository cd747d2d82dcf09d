/** Requests that the Responses API refuses, each with the rule and where the refusal is reported or documented. */
import type { BadRequest } from "./bad-chat.ts"
import { github, OPENAI_TYPES, READ } from "./openai-sentences.ts"
import type { Source } from "./shapes.ts"

export const asks = (content: unknown = "What is the weather?") => ({ type: "message", role: "user", content })
export const answers = (
  content: unknown = [{ type: "output_text", text: "Sunny.", annotations: [] }],
  more: object = {},
) => ({
  type: "message",
  role: "assistant",
  content,
  ...more,
})
export const reasons = (id: unknown = "rs_1", more: object = {}) => ({
  type: "reasoning",
  id,
  summary: [],
  encrypted_content: "gAAAAA",
  ...more,
})
export const calls = (id: unknown = "call_1", more: object = {}) => ({
  type: "function_call",
  call_id: id,
  name: "weather",
  arguments: "{}",
  ...more,
})
export const outputs = (id: unknown = "call_1", output: unknown = "sunny") => ({
  type: "function_call_output",
  call_id: id,
  output,
})

const bad = (name: string, rule: string, source: Source, ...input: readonly unknown[]): BadRequest => ({
  name,
  rule,
  source,
  body: { model: "gpt-5.1", store: false, input },
})
const z = (length: number) => "z".repeat(length)
const of = (type: string, more: object) => ({ type, ...more })
const image = (image_url: string) => ({ type: "input_image", detail: "auto", image_url })
const shell = of("local_shell_call", {
  id: "lsh_1",
  call_id: "call_1",
  status: "completed",
  action: { type: "exec", command: ["ls"], env: {} },
})
const patch = of("apply_patch_call", {
  call_id: "call_1",
  status: "completed",
  operation: { type: "delete_file", path: "a" },
})
const computer = of("computer_call", {
  id: "cu_1",
  call_id: "call_1",
  pending_safety_checks: [],
  status: "completed",
  action: { type: "screenshot" },
})
const search = (more: object = {}) =>
  of("web_search_call", { id: "ws_1", status: "completed", action: { type: "search", query: "x" }, ...more })
const noOutput = github("router-for-me/CLIProxyAPI/issues/2368", "2026-03-27")
const noCall = github("can1357/oh-my-pi/issues/106", "2026-02-18")
const alone = github("continuedev/continue/issues/8933", READ)

// biome-ignore format: a table, with a request in each line
export const BAD_RESPONSES: readonly BadRequest[] = [
  // Ids of calls.
  bad("a call id of 69", "long input[].call_id", github("V1ki/dsh-plugin-subscriptions/issues/29", "2026-08-22"), asks(), calls(z(69)), outputs(z(69))),
  bad("a call id of 86", "long input[].call_id", github("orchidfiles/ungate/issues/26", READ), asks(), calls(z(86)), outputs(z(86))),
  bad("a call id of 116", "long input[].call_id", github("AnswerDotAI/fastllm/issues/45", "2026-06-08"), asks(), calls(z(116)), outputs(z(116))),
  bad("a call id of 1,324", "long input[].call_id", github("openai/codex/issues/14355", "2026-03-11"), asks(), calls(z(1324)), outputs(z(1324))),
  bad("a long call id of an output", "long input[].call_id", github("HKUDS/nanobot/issues/1623", "2026-03-06"), asks(), outputs(z(65))),
  bad("an empty call id", "empty input[].call_id", github("openai/codex/issues/42088", "2026-09-13"), asks(), calls(""), outputs("")),
  bad("a call without its id", "missing input[].call_id", OPENAI_TYPES, asks(), { ...calls(), call_id: undefined }),
  bad("an output without its id", "missing input[].call_id", github("openai/codex/issues/42088", "2026-09-13"), asks(), { ...outputs(), call_id: undefined }),
  // Ids of items.
  bad("a call with an id of another application", "id_prefix", github("BigPizzaV3/CodexPlusPlus/issues/1796", "2026-08-07"), asks(), calls("call_1", { id: "item_c270d5511c7129adc7475632" }), outputs()),
  bad("a reasoning with an id of another application", "id_prefix", github("jlcodes99/cockpit-tools/issues/2543", "2026-09-22"), asks(), reasons("item_d774e8ddba30f7bdaba945d5"), answers()),
  bad("a reasoning with the id of an item", "id_prefix", github("jlcodes99/cockpit-tools/issues/2090", "2026-08-26"), asks(), reasons("item_df7e40c3f04fc8ade5c3800e"), calls(), outputs()),
  bad("an answer with a UUID", "id_prefix", github("openai/codex/issues/33176", "2026-07-14"), asks(), answers(undefined, { id: "019f629b-43ee-7a82-acb1-3071dbffbdad" }), asks()),
  bad("a custom call with the id of a function call", "id_prefix", github("BigPizzaV3/CodexPlusPlus/issues/1796", "2026-08-07"), asks(), of("custom_tool_call", { id: "fc_1", call_id: "call_1", name: "sh", input: "ls" }), of("custom_tool_call_output", { call_id: "call_1", output: "a" })),
  bad("an empty id", "pattern input[].id", github("langchain-ai/langchainjs/issues/11044", READ), asks(), calls("call_1", { id: "" }), outputs()),
  bad("an id with a bar", "pattern input[].id", github("langchain-ai/langchainjs/issues/11044", READ), asks(), answers(undefined, { id: "msg_1|fc_1" }), asks()),
  bad("a reasoning with an id of 416", "long input[].id", github("can1357/oh-my-pi/issues/284", "2026-03-04"), asks(), reasons(`rs_${z(413)}`), answers()),
  bad("an answer with an id of 66", "long input[].id", github("ranxianglei/billion-context/pull/244", "2026-08-25"), asks(), answers(undefined, { id: `msg-proxy-2-${z(54)}` }), asks()),
  bad("a search without its id", "missing input[].id", github("openai/codex/issues/6926", "2025-11-19"), asks(), { ...search(), id: undefined }, answers()),
  bad("a reasoning without its id", "missing input[].id", github("openai/codex/issues/6934", "2025-11-19"), asks(), { type: "reasoning", summary: [], encrypted_content: "x" }, answers()),
  bad("one reasoning twice", "repeated_item", github("vercel/ai/issues/7883", "2025-08-08"), asks(), reasons(), answers(), asks(), reasons(), answers(), asks()),
  bad("one message id twice", "repeated_item", github("earendil-works/pi/issues/5147", "2026-05-28"), asks(), answers(undefined, { id: "msg_4" }), asks(), answers(undefined, { id: "msg_4" }), asks()),
  bad("one function call twice", "repeated_item", github("vercel/ai/issues/13307", "2026-03-10"), asks(), calls("call_1", { id: "fc_1" }), outputs(), calls("call_2", { id: "fc_1" }), outputs("call_2")),
  // Names and arguments.
  bad("an empty name", "empty input[].name", github("openai/codex/issues/17620", "2026-04-13"), asks(), calls("call_1", { name: "" }), outputs()),
  bad("an empty name of a custom tool", "empty input[].name", github("decolua/9router/issues/444", "2026-03-29"), asks(), of("custom_tool_call", { call_id: "call_1", name: "", input: "x" }), of("custom_tool_call_output", { call_id: "call_1", output: "" })),
  bad("a name with a point", "pattern input[].name", github("CherryHQ/cherry-studio/pull/2895", "2025-03-05"), asks(), calls("call_1", { name: "server.tool" }), outputs()),
  bad("a name with a space", "pattern input[].name", github("mcp-use/mcp-use/issues/90", READ), asks(), calls("call_1", { name: "search tools" }), outputs()),
  bad("a name of 129", "long input[].name", github("diegosouzapw/OmniRoute/pull/4317", "2026-06-19"), asks(), calls("call_1", { name: z(129) }), outputs()),
  bad("arguments as an object", "type input[].arguments", OPENAI_TYPES, asks(), calls("call_1", { arguments: {} }), outputs()),
  bad("no arguments", "missing input[].arguments", OPENAI_TYPES, asks(), calls("call_1", { arguments: undefined }), outputs()),
  // Halves.
  bad("a call without its output", "no_output", noOutput, asks(), calls(), asks()),
  bad("one of two calls without its output", "no_output", noOutput, asks(), calls(), calls("call_2"), outputs(), asks()),
  bad("an output that names the item", "no_output", github("tjardoo/openai-client/pull/124", "2025-04-28"), asks(), calls("call_1", { id: "fc_1" }), outputs("fc_1")),
  bad("a custom call without its output", "no_output", github("diegosouzapw/OmniRoute/issues/8946", "2026-07-30"), asks(), of("custom_tool_call", { call_id: "call_1", name: "sh", input: "ls" }), asks()),
  bad("a custom call with the output of a function", "no_output", github("diegosouzapw/OmniRoute/issues/8946", "2026-07-30"), asks(), of("custom_tool_call", { call_id: "call_1", name: "sh", input: "ls" }), outputs()),
  bad("a local shell call without its output", "no_output", noOutput, asks(), shell, asks()),
  bad("a shell call without its output", "no_output", noOutput, asks(), of("shell_call", { call_id: "call_1", action: { commands: ["ls"] } }), asks()),
  bad("a patch without its output", "no_output", noOutput, asks(), patch, asks()),
  bad("a computer call without its output", "no_output", noOutput, asks(), computer, asks()),
  bad("an output without its call", "no_call", noCall, asks(), outputs(), asks()),
  bad("an output whose call was compacted", "no_call", github("openai/codex/issues/42088", "2026-09-13"), outputs("call_x0jSANyYfXIjJkd5ftBlNxf5"), asks()),
  bad("an output before its call", "no_call", github("leookun/cursor-byok/issues/307", "2026-08-14"), asks(), outputs(), calls()),
  bad("a screenshot without its call", "no_call", noCall, asks(), of("computer_call_output", { call_id: "call_1", output: { type: "computer_screenshot", image_url: "https://example.com/a.png" } })),
  bad("two calls with one id", "repeated_call", github("earendil-works/pi/issues/9057", "2026-09-03"), asks(), calls("undefined"), calls("undefined"), outputs("undefined"), outputs("undefined")),
  bad("two outputs of one call", "repeated_output", github("earendil-works/pi/issues/9057", "2026-09-03"), asks(), calls(), outputs(), outputs()),
  // Reasoning.
  bad("a reasoning at the end", "reasoning_alone", github("openai/openai-agents-python/issues/1611", "2025-08-29"), asks(), reasons()),
  bad("a reasoning before the user", "reasoning_alone", github("continuedev/continue/issues/9628", "2026-01-18"), asks(), reasons(), asks()),
  bad("a reasoning before an output", "reasoning_alone", alone, asks(), calls(), reasons(), outputs()),
  bad("two reasonings before the user", "reasoning_alone", github("openai/codex/issues/1235", "2025-06-06"), asks(), reasons(), reasons("rs_2"), asks()),
  bad("a reasoning without its summary", "missing input[].summary", github("lidge-jun/opencodex/pull/4673", "2026-09-15"), asks(), reasons("rs_1", { summary: undefined }), answers()),
  bad("a reasoning of a stored log without its summary", "missing input[].summary", github("mangowhoiscloud/geode/pull/1715", "2026-05-25"), asks(), { type: "reasoning", id: "rs_1", encrypted_content: "gAAAAA" }, calls(), outputs()),
  bad("a summary that is null", "type input[].summary", github("am17an/llama.cpp/issues/50", "2026-09-19"), asks(), reasons("rs_1", { summary: null }), answers()),
  bad("the text of a reasoning", "long_reasoning", github("querymt/querymt/issues/976", "2026-09-22"), asks(), reasons("rs_1", { content: [{ type: "reasoning_text", text: "hm" }] }), answers()),
  bad("the status of a reasoning", "unknown input[].status", github("1jehuang/jcode/issues/1028", "2026-08-21"), asks(), reasons("rs_1", { status: "completed" }), answers()),
  bad("a reasoning by its id alone", "not_persisted", github("can1357/oh-my-pi/issues/41", "2026-02-12"), asks(), reasons("rs_1", { encrypted_content: undefined }), answers()),
  bad("a reasoning whose encryption is null", "not_persisted", github("anomalyco/opencode/issues/8987", "2026-01-16"), asks(), reasons("rs_1", { encrypted_content: null }), answers()),
  bad("a reference to an item", "not_persisted", github("anomalyco/opencode/issues/7724", READ), asks(), { type: "item_reference", id: "msg_1" }, asks()),
  // Contents.
  bad("an answer in the parts of a question", "value input[].content[].type", github("epam/ai-dial-adapter-openai/issues/511", "2026-07-27"), asks(), answers([{ type: "input_text", text: "Hello!" }]), asks()),
  bad("a joke in the parts of a question", "value input[].content[].type", github("jamesrochabrun/SwiftOpenAI/issues/136", "2025-04-16"), asks([{ type: "input_text", text: "Tell me jokes." }]), answers([{ type: "input_text", text: "Sure thing!" }]), asks()),
  bad("a question in the parts of an answer", "value input[].content[].type", OPENAI_TYPES, asks([{ type: "output_text", text: "Hello!" }])),
  bad("a part of Chat Completions", "value input[].content[].type", OPENAI_TYPES, asks([{ type: "text", text: "Hello!" }])),
  bad("no content", "missing input[].content", OPENAI_TYPES, { role: "user" }),
  bad("content null", "type input[].content", OPENAI_TYPES, asks(null)),
  bad("a text of 62 MB", "long input[].content", github("VectorlyApp/bluebox/issues/31", "2025-11-05"), asks(z(10_485_761))),
  bad("an output that is missing", "missing input[].output", OPENAI_TYPES, asks(), calls(), { type: "function_call_output", call_id: "call_1" }),
  bad("an output that is an object", "type input[].output", OPENAI_TYPES, asks(), calls(), outputs("call_1", { temperature: 20 })),
  bad("an image in HEIC", "image_format input[].content[].image_url", github("CosmosShadow/gptpdf/issues/6", "2024-06-30"), asks([image("data:image/heic;base64,AAAA")])),
  bad("an image in SVG, of a tool", "image_format input[].output[].image_url", github("STranslate/STranslate/issues/277", "2024-12-09"), asks(), calls(), outputs("call_1", [image("data:image/svg+xml;base64,AAAA")])),
  bad("an image that is a path", "image_url input[].content[].image_url", github("vercel/ai/issues/1544", "2024-05-09"), asks([image("a.png")])),
  bad("a screenshot that is a text", "type input[].output", OPENAI_TYPES, asks(), computer, of("computer_call_output", { call_id: "call_1", output: "here" })),
  bad("a search with an unknown action", "value input[].action.type", github("openai/codex/issues/6945", "2025-11-19"), asks(), search({ action: { type: "other" } }), answers()),
  bad("a search with its sources", "unknown input[].action.sources", github("pydantic/pydantic-ai", READ), asks(), search({ action: { type: "search", query: "x", sources: [{ type: "url", url: "https://example.com" }] } }), answers()),
  // Roles, fields and types.
  bad("the role of a tool", "value input[].role", OPENAI_TYPES, { role: "tool", content: "x", tool_call_id: "call_1" }),
  bad("an item of an unknown type", "value input[].type", OPENAI_TYPES, asks(), { type: "thinking", text: "hm" }, answers()),
  bad("an item without type and role", "missing input[].type", OPENAI_TYPES, { content: "x" }),
  bad("metadata of a message", "unknown input[].metadata", github("microsoft/agent-framework/issues/2203", "2025-11-13"), { ...asks(), metadata: { client: "x" } }),
  bad("the calls of Chat Completions", "unknown input[].tool_calls", github("microsoft/agent-framework/issues/2203", "2025-11-13"), asks(), answers("x", { tool_calls: [] })),
  bad("a namespace of a message", "unknown input[].namespace", github("james-6-23/codex2api/issues/406", "2026-07-18"), { ...asks(), namespace: "mcp" }),
  bad("metadata of another program", "unknown input[].internal_chat_message_metadata_passthrough", github("caozhiyuan/copilot-api/issues/308", "2026-07-04"), { ...asks(), internal_chat_message_metadata_passthrough: {} }),
  bad("a mark of Anthropic's cache", "unknown input[].content[].cache_control", github("microsoft/agent-framework/issues/2203", "2025-11-13"), asks([{ type: "input_text", text: "x", cache_control: {} }])),
  bad("no items", "empty input", github("decolua/9router/pull/419", "2026-03-24")),
  bad("half of a surrogate pair", "unicode", github("anthropics/claude-code/issues/5934", "2025-08-16"), asks(), calls(), outputs("call_1", "cut \ud83d")),
]
