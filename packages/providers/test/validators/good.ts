/** Requests in the shapes that the documentation of each API shows: its guides on tools, images, thinking and audio. */
import { called, callOf, image, PNG, result, says, user } from "./bad-chat.ts"
import { answers, asks, calls, outputs, reasons } from "./bad-responses.ts"

export interface GoodRequest {
  readonly name: string
  readonly body: object
}

const maker =
  (model: string) =>
  (name: string, ...messages: readonly unknown[]): GoodRequest => ({ name, body: { model, messages } })
const system = { role: "system", content: "Be brief." }
const thought = (message: object, reasoning = "I must look.") => ({ ...message, reasoning_content: reasoning })

const chat = maker("gpt-5.1")
// biome-ignore format: a table, with a request in each line
export const GOOD_CHAT: readonly GoodRequest[] = [
  chat("a question", { role: "developer", content: "Be brief." }, user()),
  chat("a conversation", system, user(), says(), user("And in Rome?")),
  chat("an image", user([{ type: "text", text: "What is this?" }, image("https://example.com/a.jpg"), image(PNG)])),
  chat("a call and its result", user(), called(callOf("call_12345xyz")), result("call_12345xyz"), says(), user()),
  chat("calls in parallel", user(), called(callOf(), callOf("call_2")), result("call_2"), result(), says(), user()),
  chat("two rounds of calls", user(), called(callOf()), result(), called(callOf("call_2")), result("call_2")),
  chat("a text beside a call", user(), { ...called(callOf()), content: "I look." }, result("call_1", "")),
  chat("a custom tool", user(), called({ id: "call_1", type: "custom", custom: { name: "code_exec", input: "print(1)" } }), result()),
  chat("parts in messages of tools", user(), called(callOf()), result("call_1", [{ type: "text", text: "sunny" }])),
  chat("a refusal", user(), { role: "assistant", content: null, refusal: "I cannot." }, user()),
  chat("audio of the assistant", user(), { role: "assistant", audio: { id: "audio_abc123" } }, user()),
  chat("users in a row", user(), user(), { ...user(), name: "Ann" }),
]

const responses = (name: string, ...input: readonly unknown[]): GoodRequest => ({
  name,
  body: { model: "gpt-5.1", store: false, include: ["reasoning.encrypted_content"], instructions: "Be brief.", input },
})
const shell = { type: "shell_call", id: "sh_1", call_id: "call_1", action: { commands: ["ls"] }, status: "completed" }
const exit = { stdout: "a\n", stderr: "", outcome: { type: "exit", exit_code: 0 } }
const search = { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "x" } }
// biome-ignore format: a table, with a request in each line
export const GOOD_RESPONSES: readonly GoodRequest[] = [
  { name: "a text", body: { model: "gpt-5.1", input: "Hello!" } },
  responses("a conversation without types", { role: "user", content: "Hi" }, { role: "assistant", content: "Hello!" }, asks()),
  responses("an answer by its id", asks(), answers(undefined, { id: "msg_1", status: "completed" }), asks()),
  responses("an image and a file", asks([{ type: "input_text", text: "What is this?" }, { type: "input_image", detail: "auto", image_url: PNG }, { type: "input_file", file_id: "file_1" }])),
  responses("reasoning, a call and its output", asks(), reasons(), calls("call_1", { id: "fc_1", status: "completed" }), outputs()),
  responses("calls in parallel", asks(), reasons(), calls(), calls("call_2"), outputs("call_2"), outputs(), reasons("rs_2"), answers()),
  responses("reasoning in a row", asks(), reasons(), reasons("rs_2"), answers(undefined, { id: "msg_1", phase: "final_answer" }), asks()),
  responses("an image of a tool", asks(), calls(), outputs("call_1", [{ type: "input_image", image_url: PNG }])),
  responses("a custom tool", asks(), { type: "custom_tool_call", id: "ctc_1", call_id: "call_1", name: "sh", input: "ls" }, { type: "custom_tool_call_output", call_id: "call_1", output: "a" }),
  responses("a shell call and its output", asks(), shell, { type: "shell_call_output", call_id: "call_1", output: [exit] }),
  responses("a local shell call and its output", asks(), { type: "local_shell_call", id: "lsh_1", call_id: "call_1", status: "completed", action: { type: "exec", command: ["ls"], env: {} } }, { type: "local_shell_call_output", id: "call_1", output: "a" }),
  responses("a patch and its output", asks(), { type: "apply_patch_call", id: "apc_1", call_id: "call_1", status: "completed", operation: { type: "create_file", path: "a", diff: "+a" } }, { type: "apply_patch_call_output", call_id: "call_1", status: "completed", output: "" }),
  responses("a computer call and its screenshot", asks(), { type: "computer_call", id: "cu_1", call_id: "call_1", status: "completed", pending_safety_checks: [], action: { type: "screenshot" } }, { type: "computer_call_output", call_id: "call_1", output: { type: "computer_screenshot", image_url: PNG } }),
  responses("a search", asks(), reasons(), search, answers(), asks()),
  responses("an approval", asks(), { type: "mcp_approval_request", id: "mcpr_1", name: "x", server_label: "s", arguments: "{}" }, { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true }),
  responses("a refusal", asks(), answers([{ type: "refusal", refusal: "I cannot." }], { id: "msg_1" }), asks()),
]

const mistral = maker("mistral-medium-latest")
const M = "D681PevKs"
// biome-ignore format: a table, with a request in each line
export const GOOD_MISTRAL: readonly GoodRequest[] = [
  mistral("a question", system, user()),
  mistral("users in a row", user(), user(), says(), user()),
  mistral("answers in a row", user(), says(), says(), user()),
  mistral("a call and its result", user(), { ...called(callOf(M)), content: "" }, { ...result(M), name: "weather" }, says(), user()),
  mistral("calls in parallel", user(), called(callOf(M), callOf("D681PevKt")), result("D681PevKt"), result(M)),
  mistral("thinking", user(), says([{ type: "thinking", thinking: [{ type: "text", text: "hm" }] }, { type: "text", text: "Sunny." }]), user()),
  mistral("an image", user([{ type: "text", text: "What is this?" }, { type: "image_url", image_url: PNG }, image(PNG)])),
  mistral("a prefix", user(), says("Sun", { prefix: true })),
  mistral("a system message behind a user", user(), system, says(), user()),
]

const deepseek = maker("deepseek-v4-pro")
// biome-ignore format: a table, with a request in each line
export const GOOD_DEEPSEEK: readonly GoodRequest[] = [
  deepseek("a conversation without tools, without its reasoning", system, user(), says(), user()),
  deepseek("reasoning of a turn without tools", user(), thought(says()), user()),
  deepseek("a call and its result", user(), thought(called(callOf())), result()),
  deepseek("a turn with tools, and the next question", user(), thought({ ...called(callOf()), content: "" }), result(), thought(says()), user()),
  deepseek("an empty reasoning", user(), thought(called(callOf(), callOf("call_2")), ""), result(), result("call_2")),
  { name: "calls without thinking", body: { model: "deepseek-v4-pro", thinking: { type: "disabled" }, messages: [user(), called(callOf()), result()] } },
  deepseek("users in a row", user(), user()),
]

const kimi = maker("kimi-k2.6")
// biome-ignore format: a table, with a request in each line
export const GOOD_KIMI: readonly GoodRequest[] = [
  kimi("a conversation", system, user(), says(), user()),
  kimi("a call and its result", user(), thought({ ...called(callOf("weather:0")), content: "" }), result("weather:0"), says(), user()),
  kimi("calls in parallel", user(), thought(called(callOf(), callOf("call_2"))), result(), result("call_2")),
  kimi("an image", user([image(PNG), { type: "text", text: "What is this?" }, image("ms://file-1")])),
  { name: "calls without thinking", body: { model: "kimi-k2.6", thinking: { type: "disabled" }, messages: [user(), called(callOf()), result()] } },
]

const gemini = maker("google/gemini-3-pro-preview")
const claude = maker("anthropic/claude-sonnet-4.5")
const encrypted = { type: "reasoning.encrypted", data: "SIG", id: "call_1", format: "google-gemini-v1", index: 0 }
const text = { type: "reasoning.text", text: "hm", signature: "SIG", id: null, format: "anthropic-claude-v1", index: 0 }
// biome-ignore format: a table, with a request in each line
export const GOOD_OPENROUTER: readonly GoodRequest[] = [
  claude("a conversation", system, user(), says(), user([{ type: "text", text: "x", cache_control: { type: "ephemeral" } }])),
  claude("signed reasoning", user(), { ...called(callOf()), reasoning: "hm", reasoning_details: [text] }, result()),
  claude("a summary and an encrypted block", user(), { ...says(), reasoning_details: [{ type: "reasoning.summary", summary: "hm", index: 0 }, encrypted] }, user()),
  gemini("a call with its signature", user(), { ...called(callOf()), content: "", reasoning_details: [encrypted] }, result()),
  gemini("calls of an earlier turn without signatures", user(), called(callOf()), result(), says(), user()),
  claude("a call without thinking", user(), called(callOf(), callOf("call_2")), result(), result("call_2")),
]

const strict = maker("gemma-3-27b-it")
// biome-ignore format: a table, with a request in each line
export const GOOD_STRICT: readonly GoodRequest[] = [
  strict("a conversation", system, user(), says(), user()),
  strict("a call and its result", user(), called(callOf()), result()),
  strict("a turn with tools, and the next question", user(), called(callOf()), result(), called(callOf("call_2")), result("call_2"), says(), user()),
  strict("a text beside a call", user(), { ...called(callOf()), content: "I look." }, result(), says(), user()),
]

const google = maker("gemini-3-pro-preview")
const extra = (signature: string) => ({ extra_content: { google: { thought_signature: signature } } })
const sky = (id = "call_1") => ({ ...result(id), name: "weather" })
// biome-ignore format: a table, with a request in each line
export const GOOD_GOOGLE: readonly GoodRequest[] = [
  google("a conversation", system, user(), says(), user()),
  google("a call with its signature", user(), called({ ...callOf(), ...extra("SIG") }), sky()),
  google("calls in parallel, of which the first has a signature", user(), called({ ...callOf(), ...extra("SIG") }, callOf("call_2")), sky(), sky("call_2")),
  google("two steps", user(), called({ ...callOf(), ...extra("A") }), sky(), called({ ...callOf("call_2"), ...extra("B") }), sky("call_2")),
  google("calls of an earlier turn without signatures", user(), called(callOf()), sky(), says(), user()),
  google("a call of another model", user(), called({ ...callOf(), ...extra("skip_thought_signature_validator") }), sky()),
  google("an image and audio", user([{ type: "text", text: "What is this?" }, image(PNG), { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }])),
]
