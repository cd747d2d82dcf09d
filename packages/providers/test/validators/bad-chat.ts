/** Requests that the Chat Completions API refuses, each with the rule and where the refusal is reported or documented. */
import { github, OPENAI_TYPES, READ } from "./openai-sentences.ts"
import type { Source } from "./shapes.ts"

export interface BadRequest {
  readonly name: string
  /** The rule that refuses it. */
  readonly rule: string
  readonly source: Source
  readonly body: object
}

export const user = (content: unknown = "What is the weather?") => ({ role: "user", content })
export const says = (content: unknown = "Sunny.", more: object = {}) => ({ role: "assistant", content, ...more })
export const callOf = (id: unknown = "call_1", name: unknown = "weather", args: unknown = "{}") => ({
  id,
  type: "function",
  function: { name, arguments: args },
})
export const called = (...calls: readonly object[]) => ({ role: "assistant", content: null, tool_calls: calls })
export const result = (id: unknown = "call_1", content: unknown = "sunny") => ({
  role: "tool",
  tool_call_id: id,
  content,
})
export const image = (url: unknown) => ({ type: "image_url", image_url: { url } })
export const PNG = "data:image/png;base64,iVBORw0KGgo="

const bad = (name: string, rule: string, source: Source, ...messages: readonly unknown[]): BadRequest => ({
  name,
  rule,
  source,
  body: { model: "gpt-5.1", messages },
})
/** A call and its result. */
const round = (id: unknown, name?: unknown, args?: unknown) => [user(), called(callOf(id, name, args)), result(id)]
const z = (length: number) => "z".repeat(length)

// biome-ignore format: a table, with a request in each line
export const BAD_CHAT: readonly BadRequest[] = [
  // Ids.
  bad("an id of 41", "long messages[].tool_calls[].id", github("microsoft/autogen/issues/6377", "2025-04-23"), ...round(z(41))),
  bad("an id of 43", "long messages[].tool_calls[].id", github("vercel/ai/issues/5171", READ), ...round(z(43))),
  bad("an id of 46, of another model", "long messages[].tool_calls[].id", github("anomalyco/opencode/issues/12653", "2026-02-08"), ...round(z(46))),
  bad("an id of 51, of web search", "long messages[].tool_calls[].id", github("vercel/ai/issues/8132", "2025-08-18"), ...round("ws_689e2d4880a0819d98acca37694989b00b15d90494fc6b87")),
  bad("an id of 53, of the Responses API", "long messages[].tool_calls[].id", github("agno-agi/agno/issues/5382", "2025-11-11"), ...round("fc_0f0e50a1476a6c35006912c58dc9f8819192c25864eb16f07f")),
  bad("an id of 83", "long messages[].tool_calls[].id", github("openclaw/openclaw/pull/875", "2026-01-13"), ...round(z(83))),
  bad("a long id of a result", "long messages[].tool_call_id", github("BerriAI/litellm/issues/17343", "2025-12-02"), ...round(z(46))),
  bad("an empty id", "empty messages[].tool_calls[].id", github("openclaw/openclaw/pull/41119", "2026-03-09"), ...round("")),
  bad("a call without an id", "missing messages[].tool_calls[].id", OPENAI_TYPES, user(), called({ ...callOf(), id: undefined }), result()),
  bad("an id that is a number", "type messages[].tool_calls[].id", OPENAI_TYPES, user(), called(callOf(7)), result("7")),
  // Names.
  bad("an empty name", "empty messages[].tool_calls[].function.name", github("continuedev/continue/issues/12776", "2026-06-18"), ...round("call_1", "")),
  bad("an empty name in a long conversation", "empty messages[].tool_calls[].function.name", github("continuedev/continue/issues/11645", "2026-03-20"), ...round("call_1"), says(), user(), ...round("call_2", "").slice(1)),
  bad("a name with a space", "pattern messages[].tool_calls[].function.name", github("mcp-use/mcp-use/issues/90", READ), ...round("call_1", "search tools")),
  bad("a name with a point", "pattern messages[].tool_calls[].function.name", github("CherryHQ/cherry-studio/pull/2895", "2025-03-05"), ...round("call_1", "server.tool")),
  bad("a name with a slash", "pattern messages[].tool_calls[].function.name", github("danishjsheikh/swagger-mcp/issues/13", "2025-06-11"), ...round("call_1", "get_/whoami")),
  bad("a name with a colon", "pattern messages[].tool_calls[].function.name", github("langchain-ai/langchain/issues/7191", "2023-07-05"), ...round("call_1", "Gmail: Find Email")),
  bad("a name in Chinese", "pattern messages[].tool_calls[].function.name", github("langgenius/dify/issues/22867", "2025-07-23"), ...round("call_1", "代码计算器")),
  bad("a name of 65", "long messages[].tool_calls[].function.name", OPENAI_TYPES, ...round("call_1", z(65))),
  bad("no name", "missing messages[].tool_calls[].function.name", OPENAI_TYPES, user(), called({ id: "call_1", type: "function", function: { arguments: "{}" } }), result()),
  bad("a name of a participant with a space", "pattern messages[].name", github("jekalmin/extended_openai_conversation/issues/251", "2024-08-08"), { ...user(), name: "John Doe" }),
  bad("a name of a participant that is a path", "pattern messages[].name", github("crazyyanchao/llmcompiler/issues/1", "2024-08-03"), { ...says(), name: "tools/search" }, user()),
  bad("an empty name of a custom tool", "empty messages[].tool_calls[].custom.name", github("continuedev/continue/issues/11645", "2026-03-20"), user(), called({ id: "call_1", type: "custom", custom: { name: "", input: "x" } }), result()),
  bad("a bad name of a custom tool", "pattern messages[].tool_calls[].custom.name", OPENAI_TYPES, user(), called({ id: "call_1", type: "custom", custom: { name: "a b", input: "x" } }), result()),
  // Calls and results.
  bad("a call without a result, at the end", "unanswered", github("agno-agi/agno/issues/3105", "2025-05-06"), user(), called(callOf())),
  bad("a call without a result, before the user", "unanswered", github("aliasrobotics/cai/issues/111", "2025-05-09"), user(), called(callOf()), user()),
  bad("one of two calls without a result", "unanswered", github("BerriAI/litellm/issues/10083", "2025-04-17"), user(), called(callOf(), callOf("call_2")), result(), user()),
  bad("a result behind the next question", "unanswered", github("QwenLM/qwen-code/issues/606", "2025-09-14"), user(), called(callOf()), user(), result()),
  bad("a result behind an answer", "orphan", github("evalstate/fast-agent/issues/314", "2025-07-29"), user(), called(callOf()), says(), result()),
  bad("a system message between call and result", "unanswered", github("minoism/freecc/issues/2", "2025-07-12"), user(), called(callOf()), { role: "system", content: "Be brief." }, result()),
  bad("a result without a call", "orphan", github("miurla/morphic/issues/136", "2024-05-11"), user(), result()),
  bad("a result first", "orphan", github("prism-php/prism/issues/175", "2025-02-10"), result(), user()),
  bad("a result behind an answer without calls", "orphan", github("FoundationAgents/OpenManus/issues/23", "2025-03-07"), user(), says(), result(), user()),
  bad("a result whose call was compacted", "orphan", github("itmisx/deepx-code/issues/94", "2026-06-10"), user("Summary of what was before"), result(), says(), user()),
  bad("a result of another call", "orphan", github("symgraph/GhidrAssist/issues/45", "2025-09-18"), user(), called(callOf()), result(), result("call_9")),
  bad("two results of one call", "repeated_result", github("fatwang2/search2ai/issues/30", "2024-06-17"), user(), called(callOf()), result(), result()),
  bad("two results of one call, and more behind them", "repeated_result", github("agno-agi/agno/issues/5116", READ), user(), called(callOf(), callOf("call_2")), result(), result("call_2"), result("call_2"), says(), user()),
  bad("two calls with one id", "repeated_call", github("openclaw/openclaw/pull/47136", "2026-03-15"), user(), called(callOf("edit:22"), callOf("edit:22")), result("edit:22"), result("edit:22")),
  bad("a result without the id of its call", "missing messages[].tool_call_id", OPENAI_TYPES, user(), called(callOf()), { role: "tool", content: "x" }),
  bad("no calls in a list of calls", "empty messages[].tool_calls", github("openai/openai-node/pull/1341", "2025-02-20"), user(), says("x", { tool_calls: [] }), user()),
  bad("no calls in the list of a stored answer", "empty messages[].tool_calls", github("home-assistant/core/pull/118577", "2024-05-31"), user(), user(), says("x", { tool_calls: [] }), user()),
  bad("131 calls", "long messages[].tool_calls", github("github/copilot-cli/issues/669", "2025-11-27"), user(), called(...Array.from({ length: 131 }, (_, i) => callOf(`call_${i}`))), ...Array.from({ length: 131 }, (_, i) => result(`call_${i}`))),
  bad("arguments as an object", "type messages[].tool_calls[].function.arguments", OPENAI_TYPES, ...round("call_1", "weather", { city: "Paris" })),
  bad("a call without arguments", "missing messages[].tool_calls[].function.arguments", OPENAI_TYPES, user(), called({ id: "call_1", type: "function", function: { name: "weather" } }), result()),
  bad("a call of an unknown type", "value messages[].tool_calls[].type", OPENAI_TYPES, user(), called({ ...callOf(), type: "tool" }), result()),
  bad("a call without a type", "missing messages[].tool_calls[].type", OPENAI_TYPES, user(), called({ ...callOf(), type: undefined }), result()),
  bad("the index of a stream in a call", "unknown messages[].tool_calls[].index", github("labring/FastGPT/issues/1253", READ), user(), called({ ...callOf(), index: 0 }), result()),
  // Contents.
  bad("content null of a user", "type messages[].content", github("langchain-ai/langchainjs/issues/4153", "2024-07-25"), user(null)),
  bad("content null of a result", "type messages[].content", github("run-llama/llama_index/issues/17555", "2025-01-20"), user(), called(callOf()), result("call_1", null)),
  bad("an answer without content and calls", "empty_answer", github("docker/docker-agent/issues/63", "2025-07-23"), user(), says(null), user()),
  bad("an answer without any field but its role", "empty_answer", github("openai/openai-cookbook/issues/503", "2023-06-14"), user(), { role: "assistant" }, user()),
  bad("an answer of an empty text", "empty_answer", github("songquanpeng/one-api/issues/784", "2023-12-06"), user(), says(""), user()),
  bad("no content of a user", "missing messages[].content", OPENAI_TYPES, { role: "user" }),
  bad("no parts of a user", "empty messages[].content", github("openai/openai-openapi", READ), user([])),
  bad("no parts of a result", "empty messages[].content", github("openai/openai-openapi", READ), user(), called(callOf()), result("call_1", [])),
  bad("one part that is no list", "type messages[].content", OPENAI_TYPES, user({ type: "text", text: "hi" })),
  bad("a part of the Responses API", "value messages[].content[].type", OPENAI_TYPES, user([{ type: "input_text", text: "hi" }])),
  bad("a block of Anthropic", "value messages[].content[].type", OPENAI_TYPES, user(), called(callOf()), result("call_1", [{ type: "tool_result", content: "x" }])),
  bad("thinking as a part", "value messages[].content[].type", OPENAI_TYPES, user(), says([{ type: "thinking", thinking: "hm" }]), user()),
  bad("a part without a text", "missing messages[].content[].text", OPENAI_TYPES, user([{ type: "text" }])),
  bad("a mark of Anthropic's cache", "unknown messages[].content[].cache_control", github("openai/openai-node/issues/1161", "2024-12-05"), user([{ type: "text", text: "x", cache_control: { type: "ephemeral" } }])),
  // Images.
  bad("an image of the assistant", "image_place", github("openai/openai-node/issues/1030", "2024-09-03"), user(), says([image(PNG)]), user()),
  bad("an image of a tool", "image_place", github("OpenHands/OpenHands/issues/7700", READ), user(), called(callOf()), result("call_1", [{ type: "text", text: "x" }, image(PNG)])),
  bad("an image in TIFF", "image_format messages[].content[].image_url.url", github("anomalyco/opencode/pull/5704", "2025-12-17"), user([image("data:image/tiff;base64,SUkqAA==")])),
  bad("an image in SVG", "image_format messages[].content[].image_url.url", github("STranslate/STranslate/issues/277", "2024-12-09"), user([image("data:image/svg+xml;base64,PHN2Zz4=")])),
  bad("an image in HEIC", "image_format messages[].content[].image_url.url", github("CosmosShadow/gptpdf/issues/6", "2024-06-30"), user([image("data:image/heic;base64,AAAA")])),
  bad("a PDF as an image", "image_format messages[].content[].image_url.url", github("Future-House/paper-qa/issues/1273", "2026-01-22"), user([image("data:application/pdf;base64,JVBERg==")])),
  bad("an image without data", "image_url messages[].content[].image_url.url", github("vercel/ai/issues/1544", "2024-05-09"), user([image("data:image/png;base64,")])),
  bad("an image that is a path", "image_url messages[].content[].image_url.url", github("vercel/ai/issues/1544", "2024-05-09"), user([image("/tmp/a.png")])),
  // The rest.
  bad("no messages", "empty messages", github("danny-avila/LibreChat/issues/10408", "2025-11-07")),
  bad("an unknown role", "value messages[].role", OPENAI_TYPES, { role: "toolResult", content: "x" }, user()),
  bad("a message without a role", "missing messages[].role", OPENAI_TYPES, { content: "x" }),
  bad("an id of a message", "unknown messages[].id", github("transitive-bullshit/agentic/issues/531", "2023-04-06"), { ...user(), id: "m1" }),
  bad("a parsed answer", "unknown messages[].parsed", github("openai/openai-node/issues/1161", "2024-12-05"), user(), says("{}", { parsed: {} }), user()),
  bad("thinking of DeepSeek", "unknown messages[].reasoning_content", github("CherryHQ/cherry-studio/issues/16790", READ), user(), says("x", { reasoning_content: "hm" }), user()),
  bad("half of a surrogate pair", "unicode", github("anthropics/claude-code/issues/5934", "2025-08-16"), user("cut \ud83d")),
]
