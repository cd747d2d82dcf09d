/** Requests that the Gemini API refuses, each with the rule and where the refusal is reported or documented. */
import type { BadRequest } from "./bad-chat.ts"
import { cli, docs, GEMINI_TYPES, type GeminiServer, github, READ } from "./gemini.ts"
import type { Source } from "./shapes.ts"

export interface BadGeminiRequest extends BadRequest {
  readonly server?: GeminiServer
}

const CALLING = docs("gemini-api/docs/function-calling")
const SIGNATURES = docs("gemini-api/docs/thought-signatures")
const IMAGES = docs("gemini-api/docs/image-understanding")
const NAMES = github("kaitranntt/ccs/issues/25", "2025-11-30")
const CONTENT = docs("api/caching#Content")
const NO_DATA = github("router-for-me/CLIProxyAPI/issues/1292", "2026-01-28")

const text = (value: unknown = "hi") => ({ text: value })
export const user = (...parts: readonly unknown[]) => ({ role: "user", parts: parts.length === 0 ? [text()] : parts })
export const model = (...parts: readonly unknown[]) => ({ role: "model", parts: parts.length === 0 ? [text()] : parts })
export const call = (more: object = {}, part: object = { thoughtSignature: "c2ln" }) => ({
  functionCall: { name: "read", args: {}, ...more },
  ...part,
})
export const response = (more: object = {}) => ({
  functionResponse: { name: "read", response: { output: "ok" }, ...more },
})
const image = (mimeType: unknown = "image/png", data: unknown = "AAAA") => ({ inlineData: { mimeType, data } })

const bad = (name: string, rule: string, source: Source, ...contents: readonly unknown[]): BadGeminiRequest => ({
  name,
  rule,
  source,
  body: { contents },
})
const on = (server: GeminiServer, one: BadGeminiRequest): BadGeminiRequest => ({ ...one, server })
const withSystem = (name: string, rule: string, source: Source, systemInstruction: unknown): BadGeminiRequest => ({
  name,
  rule,
  source,
  body: { contents: [user()], config: { systemInstruction } },
})
/** A call and its response. */
const round = (c: object, r: object = response()) => [user(), model(c), user(r)]

// biome-ignore format: a table, with a request in each line
export const BAD_GEMINI: readonly BadGeminiRequest[] = [
  // Contents and roles.
  bad("no contents", "empty contents", CONTENT),
  { name: "contents that are missing", rule: "missing contents", source: CONTENT, body: {} },
  bad("a role that is the assistant's", "role", github("songquanpeng/one-api/issues/1385", "2024-04-28"), user(), { role: "assistant", parts: [text()] }, user()),
  bad("a role that is the system's", "role", github("the-open-agent/openagent/issues/1666", "2025-10-19"), { role: "system", parts: [text()] }, user()),
  bad("a role that is a tool's", "role", github("genkit-ai/genkit/pull/5782", "2026-07-22"), user(), model(call()), { role: "tool", parts: [response()] }),
  bad("an answer first", "begins", github("hariiprasad/interviewcopilot/issues/1", "2025-08-23"), model(), user()),
  bad("an answer last", "ends", github("crewAIInc/crewAI/pull/6973", "2026-08-12"), user(), model()),
  bad("a thought last", "ends", github("crewAIInc/crewAI/pull/7134", "2026-08-27"), user(), model({ text: "hm", thought: true })),
  // Parts.
  bad("a content without parts", "no_parts", github("egoist/chatwise-releases/issues/250", "2025-02-18"), user(), { role: "model", parts: [] }, user()),
  bad("a question without parts", "no_parts", github("vercel/ai/issues/3775", READ), { role: "user", parts: [] }),
  bad("a content whose parts are missing", "missing contents[].parts", CONTENT, { role: "user" }),
  bad("parts that are a text", "type contents[].parts", GEMINI_TYPES, { role: "user", parts: "hi" }),
  bad("an empty text", "no_data", NO_DATA, user(), model(text("")), user()),
  bad("an empty text of the user", "no_data", github("QuantumNous/new-api/issues/632", "2024-12-17"), user(text(""))),
  bad("a part of nothing", "no_data", github("boldsoftware/sketch/issues/68", "2025-05-06"), user({})),
  bad("a part of a signature alone", "no_data", github("genkit-ai/genkit/issues/3816", "2025-11-18"), user(), model({ thoughtSignature: "c2ln" }), user()),
  bad("a part of a thought alone", "no_data", github("genkit-ai/genkit/issues/3816", "2025-11-18"), user(), model({ thought: true }), user()),
  bad("an empty text beside a response", "no_data", github("54xzh/FLIT/issues/69", "2026-05-19"), user(), model(call()), user(response(), text(""))),
  bad("an empty text beside a call", "no_data", cli(5575, "2025-08-05"), user(), model(text(""), call()), user(response())),
  bad("a part of two values", "two_data", docs("api/caching#Part"), user({ ...text(), ...image() })),
  bad("a call in a text", "two_data", docs("api/caching#Part"), user(), model({ ...text(), ...call() }), user(response())),
  withSystem("an empty system prompt", "no_data_system", github("songquanpeng/one-api/issues/2243", "2025-04-17"), ""),
  withSystem("a system prompt of an empty part", "no_data_system", github("songquanpeng/one-api/issues/2243", "2025-04-17"), { parts: [text("")] }),
  withSystem("a system prompt without parts", "no_parts", CONTENT, { parts: [] }),
  // Fields.
  bad("an id of a part", "unknown contents[].parts[].id", github("Chevey339/kelivo/issues/543", "2026-04-30"), user({ ...text(), id: "1" })),
  bad("a type of a part", "unknown contents[].parts[].type", GEMINI_TYPES, user({ ...text(), type: "text" })),
  bad("a signature with another name", "unknown contents[].parts[].signature", SIGNATURES, user(), model(call({}, { signature: "c2ln" })), user(response())),
  bad("an id of a content", "unknown contents[].id", GEMINI_TYPES, { ...user(), id: "1" }),
  bad("arguments of OpenAI", "unknown contents[].parts[].functionCall.arguments", GEMINI_TYPES, ...round(call({ args: undefined, arguments: "{}" }))),
  bad("content in a response", "unknown contents[].parts[].functionResponse.content", GEMINI_TYPES, ...round(call(), response({ content: "ok" }))),
  bad("a mark of an error in a response", "unknown contents[].parts[].functionResponse.isError", GEMINI_TYPES, ...round(call(), response({ isError: true }))),
  on({ ids: false }, bad("an id of a call where the API has none", "unknown contents[].parts[].functionCall.id", cli(13972, "2025-11-27"), ...round(call({ id: "1" })))),
  on({ ids: false }, bad("an id of a response where the API has none", "unknown contents[].parts[].functionResponse.id", cli(13972, "2025-11-27"), ...round(call(), response({ id: "1" })))),
  bad("a text that is a number", "type contents[].parts[].text", GEMINI_TYPES, user(text(5))),
  bad("an empty signature", "empty contents[].parts[].thoughtSignature", SIGNATURES, user(), model({ ...text(), thoughtSignature: "" }), user()),
  { name: "a parameter of another API", rule: "unknown messages", source: GEMINI_TYPES, body: { contents: [user()], messages: [] } },
  // Names, arguments, responses.
  bad("an empty name", "pattern contents[].parts[].functionCall.name", NAMES, ...round(call({ name: "" }), response({ name: "" }))),
  bad("a name that begins with a digit", "pattern contents[].parts[].functionCall.name", cli(7869, "2025-09-06"), ...round(call({ name: "1st" }), response({ name: "1st" }))),
  bad("a name with a slash", "pattern contents[].parts[].functionCall.name", cli(12425, "2025-11-01"), ...round(call({ name: "a/b" }), response({ name: "a/b" }))),
  bad("a name with a space", "pattern contents[].parts[].functionCall.name", github("kaitranntt/ccs/issues/219", "2025-12-28"), ...round(call({ name: "a b" }), response({ name: "a b" }))),
  bad("a name of 65", "pattern contents[].parts[].functionCall.name", cli(7878, "2025-09-06"), ...round(call({ name: "z".repeat(65) }), response({ name: "z".repeat(65) }))),
  bad("a name in Chinese", "pattern contents[].parts[].functionCall.name", cli(2966, READ), ...round(call({ name: "读" }), response({ name: "读" }))),
  bad("a call without a name", "missing contents[].parts[].functionCall.name", docs("api/caching#FunctionCall"), ...round(call({ name: undefined }))),
  bad("a response without a name", "missing contents[].parts[].functionResponse.name", docs("api/caching#FunctionResponse"), ...round(call(), response({ name: undefined }))),
  bad("arguments that are a text", "type contents[].parts[].functionCall.args", docs("api/caching#FunctionCall"), ...round(call({ args: "{}" }))),
  bad("arguments that are a list", "type contents[].parts[].functionCall.args", github("symfony/ai/pull/2040", "2026-05-06"), ...round(call({ args: [] }))),
  bad("a response that is a list", "type contents[].parts[].functionResponse.response", github("symfony/ai/pull/2040", "2026-05-06"), ...round(call(), response({ response: [] }))),
  bad("a response that is a text", "type contents[].parts[].functionResponse.response", docs("api/caching#FunctionResponse"), ...round(call(), response({ response: "ok" }))),
  bad("a response without a response", "missing contents[].parts[].functionResponse.response", docs("api/caching#FunctionResponse"), ...round(call(), response({ response: undefined }))),
  // Turns.
  bad("a call first", "call_turn", cli(11814, "2025-10-23"), model(call()), user(response())),
  bad("a call behind another answer", "call_turn", cli(26486, "2026-05-05"), user(), model(), model(call()), user(response())),
  bad("a call behind another call", "call_turn", github("lobehub/lobehub/issues/10049", "2025-11-04"), user(), model(call()), model(call()), user(response(), response())),
  bad("a call behind a cut-off answer", "call_turn", github("continuedev/continue/issues/11164", "2026-03-07"), user(), model({ text: "hm", thought: true }), model(call()), user(response())),
  bad("a call without its response", "response_count", cli(4504, "2025-07-19"), user(), model(call()), user()),
  bad("one response of two", "response_count", cli(16132, "2026-01-08"), user(), model(call(), call({}, {})), user(response())),
  bad("two responses of one call", "response_count", cli(15568, READ), user(), model(call()), user(response(), response())),
  bad("responses in two contents", "response_count", github("dust-tt/dust/pull/26268", "2026-05-27"), user(), model(call(), call({}, {})), user(response()), user(response())),
  bad("a call last", "response_count", cli(3814, "2025-07-10"), user(), model(call())),
  bad("a response of no call", "response_turn", github("langchain-ai/langchain/issues/27799", READ), user(response())),
  bad("a response behind another message", "response_turn", github("GoogleCloudPlatform/generative-ai/pull/368", "2024-01-30"), user(), model(), user(response())),
  bad("a response with the name of another tool", "response_pair", CALLING, ...round(call(), response({ name: "write" }))),
  bad("a response with the id of another call", "response_pair", CALLING, ...round(call({ id: "a" }), response({ id: "b" }))),
  bad("a call of the user", "role_of_part", CONTENT, user(call()), user(response())),
  bad("a response of the model", "role_of_part", CONTENT, user(), model(call()), model(response()), user()),
  bad("a hosted call without its result", "hosted_pair", docs("gemini-api/docs/tool-combination"), user(), model({ toolCall: { id: "t1", toolType: "GOOGLE_SEARCH_WEB", args: {} } }), user()),
  bad("a hosted result without its call", "hosted_pair", docs("gemini-api/docs/tool-combination"), user(), model({ toolResponse: { id: "t1", toolType: "GOOGLE_SEARCH_WEB", response: {} } }), user()),
  // Signatures.
  bad("responses and the user's words in one content", "responses_alone", github("Prism-Shadow/agenthub/pull/189", "2026-08-25"), user(), model(call()), user(response(), text("next"))),
  bad("a response and an image in one content", "responses_alone", github("vellum-ai/vellum-assistant/pull/39495", "2026-07-29"), user(), model(call()), user(response(), image())),
  bad("a signature that is no base64", "signature_base64", github("router-for-me/CLIProxyAPIPlus/issues/178", "2026-02-04"), user(), model(call({}, { thoughtSignature: "claude#c2ln" })), user(response())),
  bad("two signatures that are joined", "signature_base64", github("MayDay-wpf/snow-cli/issues/84", "2025-12-19"), user(), model(call({}, { thoughtSignature: "dTBoZ0I=RXBzRkNr" })), user(response())),
  bad("a call of the current turn without a signature", "signature", github("nanbingxyz/5ire/issues/405", "2026-02-04"), ...round(call({}, {}))),
  bad("a second step without a signature", "signature", github("nearai/ironclaw/issues/1510", "2026-03-21"), ...round(call()), model(call({}, {})), user(response())),
  on({ given: new Set() }, bad("a signature of another model", "signature_changed", github("NoeFabris/opencode-antigravity-auth/issues/368", "2026-02-16"), ...round(call()))),
  // Media.
  bad("image/jpg", "mime", github("brianpetro/obsidian-smart-connections/issues/1238", READ), user(image("image/jpg"))),
  bad("image/svg+xml", "mime", cli(3054, "2025-07-02"), user(image("image/svg+xml"))),
  bad("a media type without its group", "mime", github("charmbracelet/crush/issues/995", "2025-09-08"), user(image("png"))),
  bad("image/gif", "mime", IMAGES, user(image("image/gif"))),
  bad("IMAGE/PNG", "mime", IMAGES, user(image("IMAGE/PNG"))),
  bad("an image without a type", "missing contents[].parts[].inlineData.mimeType", github("smg-project/smg/pull/1407", "2026-04-28"), user({ inlineData: { data: "AAAA" } })),
  bad("application/json", "mime", github("QuantumNous/new-api/pull/1139", "2025-06-02"), user(image("application/json"))),
  bad("a video in a response", "response_mime", cli(16995, "2026-01-19"), ...round(call(), response({ parts: [image("video/mp4")] }))),
  bad("image/heic in a response", "response_mime", CALLING, ...round(call(), response({ parts: [image("image/heic")] }))),
  on({ model: 2.5 }, bad("an image in a response for Gemini 2.5", "response_parts", CALLING, ...round(call({}, {}), response({ parts: [image()] })))),
  bad("an image without data", "base64", docs("api/caching#Blob"), user(image("image/png", ""))),
  bad("a data URL as data", "base64", docs("api/caching#Blob"), user(image("image/png", "data:image/png;base64,AAAA"))),
  bad("more than 20 MB", "size", docs("gemini-api/docs/file-input-methods"), user(image("image/png", "A".repeat(21 * 1024 * 1024)))),
  // Text.
  bad("half of a surrogate pair", "unicode", docs("api/caching#Part"), user(text("a\ud83d"))),
]

// biome-ignore format: a table, with a request in each line
const SHOWN: readonly (readonly [string, object, GeminiServer?])[] = [
  ["a question", { contents: [user()] }],
  ["a question without a role", { contents: [{ parts: [text()] }] }],
  ["a system prompt", { contents: [user()], config: { systemInstruction: "be brief" } }],
  ["parallel calls, of which the first is signed, and their responses", { contents: [user(), model(call({ id: "a" }), call({ id: "b" }, {})), user(response({ id: "a" }), response({ id: "b" }))] }],
  ["responses, then the user's words", { contents: [user(), model(call()), user(response()), user()] }],
  ["a signature at the end of an answer", { contents: [user(), model(text(), { text: "", thoughtSignature: "c2ln" }), user()] }],
  ["a call of an earlier turn without a signature", { contents: [...round(call({}, {})), model(), user()] }],
  ["a call of another model", { contents: round(call({}, { thoughtSignature: "skip_thought_signature_validator" })) }, { given: new Set() }],
  ["a call without a signature for Gemini 2.5", { contents: round(call({}, {})) }, { model: 2.5 }],
  ["an image in a response", { contents: round(call(), response({ parts: [image()] })) }],
  ["a hosted call and its result", { contents: [user(), model({ toolCall: { id: "t1", toolType: "GOOGLE_SEARCH_WEB", args: {} } }, { toolResponse: { id: "t1", toolType: "GOOGLE_SEARCH_WEB", response: {} } }, text()), user()] }],
  ["executed code and its result", { contents: [user(), model({ executableCode: { code: "1", language: "PYTHON" } }, { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } }), user()] }],
]

/** Requests that the documentation shows. */
export const GOOD_GEMINI = SHOWN.map(([name, body, server]) => ({ name, body, server }))
