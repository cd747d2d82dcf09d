/** Requests that providers with the API of Chat Completions refuse, each with the rule and where the refusal is reported or documented. */
import { type BadRequest, called, callOf, image, PNG, result, says, user } from "./bad-chat.ts"
import { github, READ } from "./openai-sentences.ts"
import type { Source } from "./shapes.ts"

const maker =
  (model: string) =>
  (name: string, rule: string, source: Source, ...messages: readonly unknown[]): BadRequest => ({
    name,
    rule,
    source,
    body: { model, messages },
  })
const system = (content: unknown = "Be brief.") => ({ role: "system", content })
const at = (url: string): Source => ({ url, date: READ })
const z = (length: number) => "z".repeat(length)
const surrogates = github("anthropics/claude-code/issues/5934", "2025-08-16")

const VALIDATOR = github("mistralai/mistral-common/blob/main/src/mistral_common/protocol/instruct/validator.py", READ)
const MISTRAL_TYPES = { url: "https://www.npmjs.com/package/@mistralai/mistralai/v/2.7.0", date: "2026-09-09" }
const ID = "D681PevKs"
const mistral = maker("mistral-medium-latest")
const round = (id: unknown = ID, name?: unknown, args?: unknown) => [user(), called(callOf(id, name, args)), result(id)]

// biome-ignore format: a table, with a request in each line
export const BAD_MISTRAL: readonly BadRequest[] = [
  mistral("an id of another provider", "call_id", github("anomalyco/opencode/issues/1680", "2025-08-07"), ...round("call_PTLP8xhu3uwZk4l3nlnrrJha")),
  mistral("an id of 14 with a line", "call_id", github("editor-code-assistant/eca/issues/233", "2025-12-13"), ...round("2968-LWy3uasib")),
  mistral("an id of 14 with a low line", "call_id", github("karthink/gptel/issues/1203", "2026-01-07"), ...round("call_0fypS1hVX")),
  mistral("an id of 29", "call_id", github("jackmpcollins/magentic/issues/276", "2024-07-25"), ...round("38f04d9ea185424a8dc6ed9a88da5")),
  mistral("an id of 7", "call_id", github("nearai/ironclaw/issues/1241", "2026-03-16"), ...round("turn1_0")),
  mistral("an id of 6", "call_id", github("langchain-ai/langchain/pull/24668", "2024-07-25"), ...round("abc123")),
  mistral("a UUID", "call_id", github("ml-explore/mlx-lm/issues/1375", "2026-06-08"), ...round("0b1ad6f2-8c2e-4f0e-9b34-6a8d6a8f1d11")),
  mistral("an id of 9 with a low line", "call_id", github("jundot/omlx/pull/1997", "2026-06-24"), ...round("call_49c8")),
  mistral("a result without an id", "call_id", VALIDATOR, user(), called(callOf(ID)), { role: "tool", content: "x" }),
  mistral("a user behind a result", "order", github("datapizza-labs/datapizza-ai/issues/98", "2025-12-04"), ...round(), user()),
  mistral("a user behind a call that was stopped", "order", github("zed-industries/zed/issues/37021", "2025-08-27"), ...round(), user("Stop")),
  mistral("a result behind a user", "order", github("charmbracelet/crush/issues/279", "2025-07-22"), user(), called(callOf(ID)), user(), result(ID)),
  mistral("a system message behind an answer", "order", VALIDATOR, user(), says(), system(), user()),
  mistral("a system message behind a result", "order", VALIDATOR, ...round(), system(), says(), user()),
  mistral("a result behind a system message", "order", VALIDATOR, system(), result(ID)),
  mistral("an answer at the end", "last_role", github("0xPlaygrounds/rig/pull/1130", "2025-12-08"), user(), says()),
  mistral("an answer alone", "first_role", VALIDATOR, says()),
  mistral("no messages", "no_messages", VALIDATOR),
  mistral("a call without a result", "count", github("NousResearch/hermes-agent/pull/11722", "2026-04-17"), user(), called(callOf(ID)), user()),
  mistral("one result of two calls", "count", VALIDATOR, user(), called(callOf(ID), callOf("D681PevKt")), result(ID), says(), user()),
  mistral("two calls with one id", "repeated_call", VALIDATOR, user(), called(callOf(ID), callOf(ID)), result(ID), result(ID)),
  mistral("two results of one call", "repeated_result", VALIDATOR, user(), called(callOf(ID)), result(ID), result(ID)),
  mistral("a result of another call", "orphan", VALIDATOR, user(), called(callOf(ID)), result("D681PevKt")),
  mistral("an answer of an empty text", "empty_answer", github("metadist/synaplan/issues/1115", "2026-06-18"), user(), says(""), user()),
  mistral("an answer without content", "empty_answer", github("solbrowse/extension/issues/16", "2025-06-30"), user(), says(null), user()),
  mistral("reasoning_content", "unknown messages[].reasoning_content", github("charmbracelet/crush/issues/1590", "2025-12-10"), user(), says("x", { reasoning_content: "\n" }), user()),
  mistral("reasoning_content of a proxy", "unknown messages[].reasoning_content", github("BerriAI/litellm/issues/30835", "2026-06-19"), user(), says("x", { reasoning_content: "hm" }), user()),
  mistral("a refusal", "unknown messages[].refusal", MISTRAL_TYPES, user(), says("x", { refusal: null }), user()),
  mistral("a name of a user", "unknown messages[].name", github("nomtek/mistralai_client_dart/issues/44", "2024-05-29"), { ...user(), name: "Ann" }),
  mistral("metadata of a message", "unknown messages[].metadata", github("BerriAI/litellm/issues/30882", "2026-06-20"), user(), says("x", { metadata: {} }), user()),
  mistral("a name beside a call", "unknown messages[].tool_calls[].name", github("zeroclaw-labs/zeroclaw/issues/2693", "2026-03-04"), user(), called({ ...callOf(ID), name: null }), result(ID)),
  mistral("an empty name", "name", VALIDATOR, ...round(ID, "")),
  mistral("a name with a point", "name", VALIDATOR, ...round(ID, "a.b")),
  mistral("a name of 65", "name", VALIDATOR, ...round(ID, z(65))),
  mistral("the role of a developer", "value messages[].role", MISTRAL_TYPES, { role: "developer", content: "x" }, user()),
  mistral("an image in HEIC", "image_format messages[].content[].image_url.url", MISTRAL_TYPES, user([image("data:image/heic;base64,AAAA")])),
  mistral("half of a surrogate pair", "unicode", surrogates, user("cut \ud83d")),
]

const THINKING = at("https://api-docs.deepseek.com/guides/thinking_mode")
const DEEPSEEK_DOCS = at("https://api-docs.deepseek.com/api/create-chat-completion")
const deepseek = maker("deepseek-v4-pro")
const thought = (message: object, reasoning: unknown = "I must look.") => ({ ...message, reasoning_content: reasoning })
const unthought = [user(), called(callOf()), result()]

// biome-ignore format: a table, with a request in each line
export const BAD_DEEPSEEK: readonly BadRequest[] = [
  deepseek("a call without its reasoning", "reasoning_missing", github("abhigyanpatwari/GitNexus/issues/43", "2026-02-22"), ...unthought),
  deepseek("a call of an agent without its reasoning", "reasoning_missing", github("earendil-works/pi/issues/3636", "2026-04-24"), system(), ...unthought),
  deepseek("a call of an earlier turn without its reasoning", "reasoning_missing", THINKING, ...unthought, thought(says()), user()),
  deepseek("the answer of a turn with tools, without its reasoning", "reasoning_missing", github("openclaw/openclaw/issues/73417", "2026-04-28"), user(), thought(called(callOf())), result(), says(), user()),
  deepseek("an answer of a turn without tools, before one with", "reasoning_missing", github("openclaw/openclaw/issues/73417", "2026-04-28"), user(), says(), user(), thought(called(callOf())), result()),
  deepseek("the second call of a turn without its reasoning", "reasoning_missing", github("vercel/ai/pull/13203", "2026-03-08"), user(), thought(called(callOf())), result(), called(callOf("call_2")), result("call_2")),
  deepseek("an empty reasoning that was left out", "reasoning_missing", github("deepseek-ai/deepseek-harness/discussions/739", READ), user(), called(callOf()), result(), user()),
  deepseek("reasoning that is null", "reasoning_missing", github("continuedev/continue/issues/11285", "2026-03-11"), user(), thought(called(callOf()), null), result()),
  deepseek("reasoning in the field of another provider", "reasoning_missing", github("mnfst/llm-gateway/issues/992", "2026-03-05"), user(), { ...called(callOf()), reasoning: "hm" }, result()),
  deepseek("a call of a subagent without its reasoning", "reasoning_missing", github("Gitlawb/openclaude/issues/1052", "2026-05-07"), system("You are a subagent."), ...unthought),
  deepseek("a call of another model without reasoning", "reasoning_missing", github("continuedev/continue/issues/10193", "2026-02-04"), user(), called(callOf("toolu_01")), result("toolu_01"), thought(says()), user()),
  deepseek("a call without a result", "unanswered", github("langgenius/dify/issues/32222", "2026-02-11"), user(), thought(called(callOf())), user()),
  deepseek("a call without a result at the end", "unanswered", github("smallmain/vscode-unify-chat-provider/issues/248", "2026-07-06"), user(), thought(called(callOf()))),
  deepseek("a result without a call", "orphan", github("FoundationAgents/OpenManus/issues/23", "2025-03-07"), user(), result()),
  deepseek("a result behind an answer", "orphan", github("qwersyk/Newelle/issues/425", "2026-08-28"), user(), thought(called(callOf())), result(), thought(says()), result("call_2"), user()),
  deepseek("two results of one call", "repeated_result", github("HKUDS/nanobot/issues/3945", "2026-05-21"), user(), thought(called(callOf())), result(), result()),
  deepseek("an image of a user", "value messages[].content[].type", github("esengine/DeepSeek-Reasonix/issues/7859", "2026-08-07"), user([image(PNG)])),
  deepseek("an image of the conversation before", "value messages[].content[].type", github("BigPizzaV3/CodexPlusPlus/issues/631", "2026-06-04"), user([{ type: "text", text: "x" }, image(PNG)]), says(), user()),
  deepseek("an image of a tool", "value messages[].content[].type", github("openkursar/hello-halo/issues/109", "2026-05-11"), user(), thought(called(callOf())), result("call_1", [image(PNG)])),
  deepseek("an answer without content and calls", "empty_answer", github("earendil-works/pi/issues/3636", "2026-04-24"), user(), says(null), user()),
  deepseek("an answer of reasoning alone", "empty_answer", DEEPSEEK_DOCS, user(), thought(says("")), user()),
  deepseek("the role of a function", "value messages[].role", github("crazyyanchao/llmcompiler/issues/1", "2024-08-03"), user(), { role: "function", name: "x", content: "y" }),
  deepseek("the role of a developer", "value messages[].role", DEEPSEEK_DOCS, { role: "developer", content: "x" }, user()),
  deepseek("content null of a user", "type messages[].content", DEEPSEEK_DOCS, user(null)),
  deepseek("no id of a result", "missing messages[].tool_call_id", DEEPSEEK_DOCS, user(), thought(called(callOf())), { role: "tool", content: "x" }),
  deepseek("an empty name", "empty messages[].tool_calls[].function.name", DEEPSEEK_DOCS, user(), thought(called(callOf("call_1", ""))), result()),
  { ...maker("deepseek-reasoner")("two users in a row", "successive", github("Aider-AI/aider/pull/5591", "2026-08-17"), user(), user()) },
  deepseek("half of a surrogate pair", "unicode", surrogates, user("cut \ud83d")),
]

const KIMI_DOCS = at("https://platform.moonshot.ai/docs/api/chat")
const kimi = maker("kimi-k2.6")

// biome-ignore format: a table, with a request in each line
export const BAD_KIMI: readonly BadRequest[] = [
  kimi("a call without its reasoning", "reasoning_missing", github("continuedev/continue/issues/11600", "2026-03-18"), ...unthought),
  kimi("a call in a long conversation without its reasoning", "reasoning_missing", github("continuedev/continue/issues/11711", "2026-03-22"), ...unthought, says(), user()),
  kimi("a call that was replayed without its reasoning", "reasoning_missing", github("tailcallhq/forgecode/issues/2590", "2026-03-18"), system(), ...unthought),
  kimi("a call of an agent without its reasoning", "reasoning_missing", github("openclaw/openclaw/issues/91558", "2026-06-09"), user(), called(callOf(), callOf("call_2")), result(), result("call_2")),
  kimi("a call whose reasoning is null", "reasoning_missing", github("continuedev/continue/pull/11806", "2026-03-25"), user(), thought(called(callOf()), null), result()),
  kimi("a call whose reasoning is empty", "reasoning_missing", github("theopenco/llmgateway/pull/2093", READ), user(), thought(called(callOf()), ""), result()),
  kimi("a call with reasoning in another field", "reasoning_missing", github("esokullu/webbrain/pull/143", "2026-07-17"), user(), { ...called(callOf()), reasoning: "hm" }, result()),
  kimi("an empty answer", "empty_message", github("MoonshotAI/kimi-code/issues/1985", "2026-07-21"), user(), says(""), user()),
  kimi("an answer of reasoning alone", "empty_message", github("MoonshotAI/kimi-code/issues/1985", "2026-07-21"), user(), thought(says(null)), user()),
  kimi("an empty question", "empty_message", KIMI_DOCS, user("")),
  kimi("a question without parts", "empty_message", KIMI_DOCS, user([])),
  kimi("two calls with one id", "repeated_call", github("openclaw/openclaw/issues/84730", "2026-05-20"), user(), thought(called(callOf("exec:2"), callOf("exec:2"))), result("exec:2"), result("exec:2")),
  kimi("two results of one call", "repeated_result", github("openclaw/openclaw/issues/84730", "2026-05-20"), user(), thought(called(callOf())), result(), result()),
  kimi("a result without a call", "orphan", github("yaogang1991/harness/issues/392", "2026-05-15"), user(), result()),
  kimi("a result behind an answer", "orphan", github("yaogang1991/harness/issues/392", "2026-05-15"), user(), thought(called(callOf())), result(), says(), result("call_2"), user()),
  kimi("a call without a result", "unanswered", github("MoonshotAI/kimi-code/issues/705", "2026-06-13"), user(), thought(called(callOf("Read:158"))), user()),
  kimi("one of two calls without a result", "unanswered", github("MoonshotAI/kimi-cli/issues/1977", READ), user(), thought(called(callOf("Shell:57"), callOf("Shell:58"))), result("Shell:57"), user()),
  kimi("a name that begins with a digit", "name", github("MoonshotAI/kimi-cli/issues/1773", "2026-04-07"), user(), thought(called(callOf("call_1", "1st"))), result()),
  kimi("a name that begins with a low line", "name", github("MoonshotAI/kimi-cli/issues/1773", "2026-04-07"), user(), thought(called(callOf("call_1", "_run"))), result()),
  kimi("a name with a point", "name", github("MoonshotAI/kimi-cli/issues/1773", "2026-04-07"), user(), thought(called(callOf("call_1", "a.b"))), result()),
  kimi("an empty name", "name", github("tailcallhq/forgecode/issues/1141", "2025-07-19"), user(), thought(called(callOf("call_1", ""))), result()),
  kimi("a video of a user", "value messages[].content[].type", github("MoonshotAI/kimi-cli/issues/788", "2026-01-29"), user([{ type: "video_url", video_url: { url: "ms://f1" } }])),
  kimi("an image of the assistant", "value messages[].content[].type", KIMI_DOCS, user(), says([image(PNG)]), user()),
  kimi("an image in SVG", "image_format messages[].content[].image_url.url", at("https://www.kimi.com/help/kimi-api/api-model-selection"), user([image("data:image/svg+xml;base64,AAAA")])),
  kimi("arguments as an object", "type messages[].tool_calls[].function.arguments", KIMI_DOCS, user(), thought(called(callOf("call_1", "weather", {}))), result()),
  kimi("no messages", "empty messages", KIMI_DOCS),
  kimi("half of a surrogate pair", "unicode", surrogates, user("cut \ud83d")),
]

const REASONING = at("https://openrouter.ai/docs/use-cases/reasoning-tokens")
const OPENROUTER_DOCS = at("https://openrouter.ai/docs/api-reference/chat-completion")
const gemini = maker("google/gemini-3-pro-preview")
const claude = maker("anthropic/claude-sonnet-4.5")
const detailed = (message: object, ...details: readonly object[]) => ({ ...message, reasoning_details: details })
const signed = (more: object = {}) => ({
  type: "reasoning.encrypted",
  data: "SIG",
  format: "google-gemini-v1",
  index: 0,
  ...more,
})

// biome-ignore format: a table, with a request in each line
export const BAD_OPENROUTER: readonly BadRequest[] = [
  gemini("a call without its details", "details_missing", github("LibreChat-AI/agents/issues/37", "2025-11-25"), ...unthought),
  gemini("a call of an agent without its details", "details_missing", github("massgen/MassGen/issues/624", "2025-12-12"), system(), ...unthought),
  gemini("a call of a router without its details", "details_missing", github("musistudio/claude-code-router/issues/1057", "2025-12-07"), user(), says(), user(), called(callOf()), result()),
  gemini("calls in parallel without details", "details_missing", github("hotovo/aider-desk/issues/513", "2025-11-29"), user(), called(callOf(), callOf("call_2")), result(), result("call_2")),
  gemini("the second step without its details", "details_missing", github("microsoft/agent-framework/issues/2947", "2025-12-18"), user(), detailed(called(callOf()), signed()), result(), called(callOf("call_2")), result("call_2")),
  gemini("details without the encrypted one", "details_missing", github("Kochava-Studios/witsy/issues/490", "2025-11-19"), user(), detailed(called(callOf()), { type: "reasoning.text", text: "hm", format: "google-gemini-v1", index: 0 }), result()),
  gemini("a signature that is empty", "details_missing", github("microsoft/vscode-copilot-chat/pull/2649", "2025-12-20"), user(), detailed(called(callOf()), signed({ data: "" })), result()),
  gemini("reasoning as a text alone", "details_missing", github("musistudio/claude-code-router/issues/1081", READ), user(), { ...called(callOf()), reasoning: "hm" }, result()),
  claude("details of an unknown type", "value messages[].reasoning_details[].type", REASONING, user(), detailed(called(callOf()), { type: "thinking", thinking: "hm" }), result()),
  claude("an encrypted detail without its data", "missing messages[].reasoning_details[].data", REASONING, user(), detailed(called(callOf()), { type: "reasoning.encrypted" }), result()),
  claude("an encrypted detail whose data is an object", "type messages[].reasoning_details[].data", REASONING, user(), detailed(called(callOf()), signed({ data: {} })), result()),
  claude("details that are a text", "type messages[].reasoning_details", REASONING, user(), { ...called(callOf()), reasoning_details: "hm" }, result()),
  { ...maker("openai/gpt-5-codex")("one reasoning of OpenAI twice", "repeated_reasoning", github("OpenRouterTeam/ai-sdk-provider/issues/254", "2025-11-26"), user(), detailed(called(callOf()), signed({ format: "openai-responses-v1", id: "rs_1" })), result(), detailed(says(), signed({ format: "openai-responses-v1", id: "rs_1" })), user()) },
  claude("a call without a result", "unanswered", github("charmbracelet/crush/issues/279", "2025-07-22"), user(), called(callOf()), user()),
  claude("a result without a call", "orphan", github("charmbracelet/crush/issues/279", "2025-07-22"), user(), result()),
  claude("two results of one call", "repeated_result", github("openclaw/openclaw/pull/47136", "2026-03-15"), user(), called(callOf()), result(), result()),
  claude("two calls with one id", "repeated_call", github("openclaw/openclaw/pull/47136", "2026-03-15"), user(), called(callOf(), callOf()), result(), result()),
  claude("a name with a point", "pattern messages[].tool_calls[].function.name", github("xinnan-tech/xiaozhi-esp32-server/issues/1466", "2025-06-04"), user(), called(callOf("call_1", "a.b")), result()),
  claude("a name of 65", "long messages[].tool_calls[].function.name", github("openclaw/openclaw/pull/875", "2026-01-13"), user(), called(callOf("call_1", z(65))), result()),
  claude("an empty name", "empty messages[].tool_calls[].function.name", OPENROUTER_DOCS, user(), called(callOf("call_1", "")), result()),
  claude("an empty answer", "empty_answer", github("docker/docker-agent/issues/63", "2025-07-23"), user(), says(null), user()),
  claude("an unknown role", "value messages[].role", OPENROUTER_DOCS, { role: "function", name: "x", content: "y" }, user()),
  claude("an image in HEIC", "image_format messages[].content[].image_url.url", OPENROUTER_DOCS, user([image("data:image/heic;base64,AAAA")])),
  claude("no messages", "empty messages", OPENROUTER_DOCS),
  claude("half of a surrogate pair", "unicode", surrogates, user("cut \ud83d")),
]

const strict = maker("gemma-3-27b-it")

// biome-ignore format: a table, with a request in each line
export const BAD_STRICT: readonly BadRequest[] = [
  strict("two users", "alternate", github("perplexityai/api-discussion/issues/265", "2025-04-01"), user("Hello!"), user("How are you?")),
  strict("two users behind a system message", "alternate", github("vllm-project/vllm/issues/6862", "2024-07-27"), system(), user(), user()),
  strict("context and question as two users", "alternate", github("glowingjade/obsidian-smart-composer/issues/305", "2025-03-17"), system(), user("# Inputs"), user([{ type: "text", text: "x" }])),
  strict("a translation as two users", "alternate", github("nextai-translator/raycast-openai-translator/issues/34", "2026-02-19"), system(), user("Translate."), user("<1>x</1>")),
  strict("a reminder before the question", "alternate", github("charmbracelet/crush/issues/279", "2026-01-14"), system(), user("<system_reminder>"), user("hello")),
  strict("two answers", "alternate", github("withcatai/node-llama-cpp/issues/263", "2024-07-04"), user(), says(), says(), user()),
  strict("two users around a call", "alternate", github("SWE-agent/mini-swe-agent/issues/759", "2026-02-24"), user(), called(callOf()), result(), user()),
  strict("the summary of a compaction and the user", "alternate", github("FoundationAgents/OpenManus/issues/580", "2025-03-13"), user("Summary"), user(), says(), user()),
  strict("an answer first", "user_first", github("a-ghorbani/pocketpal-ai/issues/363", "2025-06-30"), says(), user()),
  strict("an answer behind the system message", "user_first", github("run-llama/llama_index/issues/11731", "2024-03-07"), system(), says("Hi, how can I help?"), user()),
  strict("a call first", "user_first", github("unslothai/unsloth/issues/334", "2024-04-13"), called(callOf()), result()),
  strict("a user behind a result", "user_after_tool", github("mistralai/mistral-vibe/issues/578", "2026-04-09"), user(), called(callOf()), result(), user()),
  strict("a user behind the result of Devstral", "user_after_tool", github("aliou/pi-neuralwatt/issues/12", "2026-06-02"), user(), says(), user(), called(callOf()), result(), user()),
  strict("a system message in the middle", "system_place", github("edenai/edenai-apis/pull/144", "2024-02-26"), user(), says(), system(), user()),
  strict("a system message behind the first question", "system_place", github("danny-avila/LibreChat/issues/3048", "2024-06-12"), user(), system(), says(), user()),
  strict("a system message at the end", "last_role", github("QwenLM/Qwen3/issues/518", "2024-06-10"), user(), system()),
  strict("an answer at the end", "last_role", github("0xPlaygrounds/rig/pull/1130", "2025-12-08"), user(), says()),
  strict("an empty question", "empty_message", github("InfinitiBit/graphbit/pull/163", "2025-09-08"), user("")),
  strict("an empty answer", "empty_message", github("OpenHands/software-agent-sdk/pull/199", "2025-09-10"), user(), says(""), user()),
  strict("no calls in a list of calls", "no_calls", github("vllm-project/vllm/issues/13978", "2025-02-27"), user(), says("x", { tool_calls: [] }), user()),
  strict("arguments that were cut", "arguments", github("vllm-project/vllm/pull/48922", "2026-07-17"), user(), called(callOf("call_1", "write", '{"contents": "')), result()),
  strict("arguments that are a text", "arguments", github("OpenHands/software-agent-sdk/issues/2887", "2026-06-01"), user(), called(callOf("call_1", "write", "date")), result()),
  strict("arguments of a log that are no JSON", "arguments", github("local-inference-lab/vllm/issues/684", "2026-09-06"), user(), called(callOf("call_1", "diagnostic_noop", '{"value": ')), result()),
  strict("a call without a result", "unanswered", github("agno-agi/agno/issues/3105", "2025-05-06"), user(), called(callOf()), user()),
  strict("a result without a call", "orphan", github("miurla/morphic/issues/136", "2024-05-11"), user(), result()),
  strict("half of a surrogate pair", "unicode", surrogates, user("cut \ud83d")),
]

const google = maker("gemini-3-pro-preview")
const G = (page: string) => at(`https://ai.google.dev/gemini-api/docs/${page}`)
const extra = (signature: unknown) => ({ extra_content: { google: { thought_signature: signature } } })
const sealed = (id?: unknown, name?: unknown, args?: unknown) => ({ ...callOf(id, name, args), ...extra("SIG") })
const named = (id?: unknown, name: unknown = "weather", content?: unknown) => ({ ...result(id, content), name })

// biome-ignore format: a table, with a request in each line
export const BAD_GOOGLE: readonly BadRequest[] = [
  google("a result without a name", "missing messages[].name", github("inference-gateway/inference-gateway/issues/181", "2025-09-08"), user(), called(sealed()), result()),
  google("a result without a name, behind others", "missing messages[].name", github("NousResearch/hermes-agent/issues/16478", "2026-04-27"), user(), called(sealed("call_1"), callOf("call_2")), named(), result("call_2")),
  google("a result without a name, in a later turn", "missing messages[].name", github("vectorize-io/hindsight/pull/187", "2026-01-22"), user(), called(sealed()), result(), says(), user()),
  google("a result with an empty name", "empty messages[].name", github("FoundationAgents/OpenManus/issues/824", "2025-03-18"), user(), called(sealed()), named("call_1", "")),
  google("a result with the name of another function", "result_name", G("function-calling"), user(), called(sealed()), named("call_1", "time")),
  google("a call without a signature", "signature", github("openai/openai-python/issues/2758", "2025-11-21"), user(), called(callOf()), named()),
  google("a call without a signature behind a system message", "signature", github("langroid/langroid/pull/969", "2026-02-06"), system(), user(), called(callOf()), named()),
  google("two calls without a signature", "signature", github("theopenco/llmgateway/issues/1267", "2025-11-29"), user(), called(callOf(), callOf("call_2")), named(), named("call_2")),
  google("a second step without a signature", "signature", github("niki914/zafiro/issues/100", "2026-08-02"), user(), called(sealed()), named(), called(callOf("call_2")), named("call_2")),
  google("a signature at the second call", "signature", G("thought-signatures"), user(), called(callOf(), sealed("call_2")), named(), named("call_2")),
  google("a signature beside `extra_content`", "signature", github("manthanabc/paws/issues/103", "2026-02-19"), user(), called({ ...callOf(), thought_signature: "SIG" }), named()),
  google("a signature of null", "signature", G("thought-signatures"), user(), called({ ...callOf(), ...extra(null) }), named()),
  google("a call without a result", "unanswered", github("microsoft/vscode/issues/299295", "2026-03-04"), user(), called(sealed()), user()),
  google("one result of two calls", "unanswered", github("google-gemini/gemini-cli/issues/6418", "2025-08-17"), user(), called(sealed(), callOf("call_2")), named()),
  google("a result without a call", "orphan", github("lobehub/lobehub/issues/7298", "2025-04-05"), user(), named()),
  google("a result behind a user", "orphan", github("lobehub/lobehub/issues/7298", "2025-04-05"), user(), called(sealed()), named(), user(), named("call_2")),
  google("two results of one call", "repeated_result", github("google-gemini/gemini-cli/issues/26956", "2026-05-12"), user(), called(sealed()), named(), named()),
  google("two calls with one id", "repeated_call", G("function-calling"), user(), called(sealed(), callOf()), named(), named()),
  google("a call first", "call_turn", github("google-gemini/gemini-cli/issues/11814", "2025-10-23"), system(), called(sealed()), named()),
  google("a call behind an answer", "call_turn", github("lobehub/lobehub/issues/10049", "2025-11-04"), user(), says(), called(sealed()), named()),
  google("an answer first", "begins", github("hariiprasad/interviewcopilot/issues/1", "2025-08-23"), says(), user()),
  google("an answer at the end", "ends", github("crewAIInc/crewAI/pull/6973", "2026-08-12"), user(), says()),
  google("no messages", "empty messages", github("ikechan8370/chatgpt-plugin/issues/733", "2024-12-22")),
  google("a system message alone", "empty messages", github("Mai-with-u/MaiBot/pull/1915", "2026-07-17"), system()),
  google("an answer without content", "empty_message", github("QuantumNous/new-api/issues/1060", "2025-05-12"), user(), says(null), user()),
  google("an answer without parts", "empty_message", github("CherryHQ/cherry-studio/pull/16196", "2026-06-18"), user(), says([]), user()),
  google("an image by its address", "image_url messages[].content[].image_url.url", github("BoundaryML/baml/issues/1548", "2025-03-02"), user([image("https://example.com/a.jpg")])),
  google("an image without its bytes", "image_url messages[].content[].image_url.url", github("musistudio/claude-code-router/issues/845", "2025-09-28"), user([image("data:image/png;base64")])),
  google("an image in GIF", "image_format messages[].content[].image_url.url", github("su-kaka/gcli2api/issues/297", "2026-01-21"), user([image("data:image/gif;base64,R0lGODlh")])),
  google("an image in JPG", "image_format messages[].content[].image_url.url", github("ogkalu2/comic-translate/pull/399", "2026-01-28"), user([image("data:image/jpg;base64,AAAA")])),
  google("a name that begins with a digit", "pattern messages[].tool_calls[].function.name", github("kaitranntt/ccs/issues/25", "2025-11-30"), user(), called(sealed("call_1", "1a")), named("call_1", "1a")),
  google("a name of 65", "pattern messages[].tool_calls[].function.name", github("router-for-me/CLIProxyAPI/issues/218", "2025-11-06"), user(), called(sealed("call_1", z(65))), named("call_1", z(65))),
  google("arguments that are a list", "arguments", github("symfony/ai/pull/2040", "2026-05-06"), user(), called(sealed("call_1", "weather", "[]")), named()),
  google("half of a surrogate pair", "unicode", surrogates, user("cut \ud83d")),
]
