/**
 * What Google's endpoint of chat completions refuses, for Gemini 3: it makes a request of the Gemini API of the messages, whose errors it passes on.
 * A body may be without `model`.
 */
import { callsOf, checkPairs, idOf, type PairSentences } from "./chat-pairs.ts"
import { imageUrl } from "./images.ts"
import { github, READ } from "./openai-sentences.ts"
import {
  anything,
  type Check,
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

const docs = (page: string): Source => ({ url: `https://ai.google.dev/gemini-api/docs/${page}`, date: READ })
const DOCS = docs("openai")

const SOURCES: Sources = {
  missing: DOCS,
  type: DOCS,
  value: DOCS,
  empty: github("ikechan8370/chatgpt-plugin/issues/733", "2024-12-22"),
  "missing messages[].name": github("inference-gateway/inference-gateway/issues/181", "2025-09-08"),
  "empty messages[].name": github("inference-gateway/inference-gateway/issues/181", "2025-09-08"),
  pattern: github("kaitranntt/ccs/issues/25", "2025-11-30"),
  arguments: docs("function-calling"),
  result_name: docs("function-calling"),
  image_format: github("su-kaka/gcli2api/issues/297", "2026-01-21"),
  image_url: github("BoundaryML/baml/issues/1548", "2025-03-02"),
  signature: github("openai/openai-python/issues/2758", "2025-11-21"),
  signature_changed: docs("thought-signatures"),
  unanswered: github("microsoft/vscode/issues/299295", "2026-03-04"),
  orphan: github("lobehub/lobehub/issues/7298", "2025-04-05"),
  repeated_result: github("google-gemini/gemini-cli/issues/26956", "2026-05-12"),
  repeated_call: docs("function-calling"),
  call_turn: github("lobehub/lobehub/issues/7298", "2025-04-05"),
  begins: github("hariiprasad/interviewcopilot/issues/1", "2025-08-23"),
  ends: github("crewAIInc/crewAI/pull/6973", "2026-08-12"),
  empty_message: github("QuantumNous/new-api/issues/1060", "2025-05-12"),
  unicode: github("anthropics/claude-code/issues/5934", "2025-08-16"),
}

const contents = (what: string) => `* GenerateContentRequest.contents${what}`
const SENTENCES: Sentences = {
  missing: (path) => (path.endsWith(".name") ? NO_NAME : `${path} is required.`),
  type: (path, { expected }) => `Invalid value at '${path}', expected ${expected}`,
  value: (path, { got }) => `Invalid value at '${path}': ${got}`,
  unknown: (path) => `Invalid JSON payload received. Unknown name at '${path}': Cannot find field.`,
  empty: (path) => (path.endsWith(".name") ? NO_NAME : contents(": contents is not specified")),
  long: (path, { limit }) => `${path}: at most ${limit}`,
  pattern: (path) =>
    `${path}: Invalid function name. Must start with a letter or an underscore. Must be a-z, A-Z, 0-9, or contain underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.`,
}
const NO_NAME = contents("[].parts[0].function_response.name: Name cannot be empty.")
const COUNT =
  "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn."
const PAIRS: PairSentences = {
  unanswered: () => COUNT,
  orphan: () => "Please ensure that function response turn comes immediately after a function call turn.",
  repeated: () => COUNT,
}

/** Google documents this text for calls that another model has made. */
const SKIPS = "skip_thought_signature_validator"
const TYPES = ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"] as const

const OPEN = { open: true }
const NAME = text({ min: 1, pattern: /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/ })
/** They become a `Struct`. */
const argumentsText: Check = (value, path, report) => {
  if (typeof value !== "string") return report.at("type", path, { expected: "a string" })
  if (!isFields(parsed(value))) report.refuse("arguments", `Invalid value at '${path}' (google.protobuf.Struct)`)
}
const textPart = object({ type: anything, text: text() }, {}, OPEN)
const sentences = {
  format: "Request contains an invalid argument.",
  url: (path: string) => `Invalid or unsupported file uri: ${path}`,
}
const imagePart = object(
  { type: anything, image_url: object({ url: imageUrl(TYPES, sentences, { schemes: [] }) }, {}, OPEN) },
  {},
  OPEN,
)
const audioPart = object({ type: anything, input_audio: object({ data: text({ min: 1 }), format: text() }) }, {}, OPEN)
const texts = textOr(list(tagged("type", { text: textPart })))
const parts = textOr(list(tagged("type", { text: textPart, image_url: imagePart, input_audio: audioPart })))
const call = object(
  {
    id: text({ min: 1 }),
    type: text({ values: ["function"] }),
    function: object({ name: NAME, arguments: argumentsText }, {}, OPEN),
  },
  {},
  OPEN,
)
const message = tagged("role", {
  system: object({ role: anything, content: texts }, {}, OPEN),
  user: object({ role: anything, content: parts }, {}, OPEN),
  assistant: object({ role: anything }, { content: nullable(texts), tool_calls: nullable(list(call)) }, OPEN),
  tool: object({ role: anything, name: NAME, content: texts, tool_call_id: text({ min: 1 }) }, {}, OPEN),
})
const body = object({ messages: list(message, { min: 1 }) }, {}, OPEN)

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

export interface GoogleServer {
  /** Signatures that the server has given. Without it every signature is taken. */
  readonly given?: ReadonlySet<string>
}

export function refusedByGoogleChat(value: unknown, { given }: GoogleServer = {}): readonly Refusal[] {
  const report = new Report(SENTENCES, SOURCES)
  if (hasHalves(value)) report.refuse("unicode", "Invalid JSON payload received: invalid UTF-8.")
  body(value, "", report)
  const said = fieldsIn((value as Fields)["messages"]).filter(({ role }) => role !== "system")
  if (said.length === 0) report.at("empty", "messages")
  checkPairs(said, report, PAIRS)
  checkTurns(said, report)
  checkNames(said, report)
  checkSignatures(said, report, given)
  return report.refusals
}

function checkTurns(said: readonly Fields[], report: Report): void {
  if (said[0]?.["role"] === "assistant") report.refuse("begins", "First content should be with role 'user', got model")
  if (said.at(-1)?.["role"] === "assistant")
    report.refuse("ends", "Please ensure that multiturn requests end with a user turn or a function response.")
  for (const [i, one] of said.entries()) {
    const { role, content } = one
    const isWithout = content === undefined || content === null || (content as string | unknown[]).length === 0
    if (role !== "tool" && isWithout && callsOf(one).length === 0)
      report.refuse("empty_message", contents(`[${i}].parts: contents.parts must not be empty.`))
    const before = said[i - 1]?.["role"]
    if (callsOf(one).length > 0 && before !== "user" && before !== "tool")
      report.refuse(
        "call_turn",
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
      )
  }
}

/** A result has the name of its call. */
function checkNames(said: readonly Fields[], report: Report): void {
  const names = new Map<unknown, unknown>()
  for (const one of said) {
    for (const { id, function: called } of callsOf(one)) names.set(id, (called as Fields | undefined)?.["name"])
    const { role, name, tool_call_id: id } = one
    if (role === "tool" && name !== undefined && names.has(id) && names.get(id) !== name)
      report.refuse("result_name", `Please ensure that the function response of ${String(id)} has its call's name.`)
  }
}

/** The first call of each message of the current turn has the signature with which it came. */
function checkSignatures(said: readonly Fields[], report: Report, given?: ReadonlySet<string>): void {
  const current = said.findLastIndex(({ role }) => role === "user")
  for (const [i, one] of said.entries()) {
    const [first] = callsOf(one)
    if (i > current && first !== undefined && typeof signatureOf(first) !== "string")
      report.refuse(
        "signature",
        `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly (${idOf(first)}).`,
      )
    for (const signature of [one, ...callsOf(one)].map(signatureOf))
      if (signature !== undefined && signature !== SKIPS && given?.has(String(signature)) === false)
        report.refuse("signature_changed", "Thought signature is not valid.")
  }
}

function signatureOf({ extra_content: extra }: Fields): unknown {
  const google = isFields(extra) ? extra["google"] : undefined
  return isFields(google) ? google["thought_signature"] : undefined
}
