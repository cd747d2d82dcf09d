/** What the Gemini API refuses in `contents` and `systemInstruction`: the shapes of its published types, and the rules that its documentation or its errors state. */
import {
  anything,
  type Check,
  type Fields,
  fieldsIn,
  flag,
  hasHalves,
  isFields,
  list,
  object,
  type Refusal,
  Report,
  type Sentences,
  type Source,
  type Sources,
  text,
} from "./shapes.ts"

/** Of pages and threads that show no date: when they were read. */
export const READ = "2026-11-28"
export const docs = (page: string): Source => ({ url: `https://ai.google.dev/${page}`, date: READ })
export const cli = (issue: number, date: string): Source => ({
  url: `https://github.com/google-gemini/gemini-cli/issues/${issue}`,
  date,
})
export const github = (path: string, date: string): Source => ({ url: `https://github.com/${path}`, date })
/** The types of the client, which are made from the API's own description. */
export const GEMINI_TYPES: Source = { url: "https://www.npmjs.com/package/@google/genai/v/3.3.0", date: READ }

const parent = (path: string) => path.replace(/\.[^.]*$/, "")
const leaf = (path: string) => path.replace(/^.*\./, "")
const GEMINI: Sentences = {
  missing: (path) => `* GenerateContentRequest.${path}: is required.`,
  type: (path, { got }) =>
    `Invalid JSON payload received. Unknown name "${leaf(path)}" at '${parent(path)}': ${got === "an array" ? "Proto field is not repeating, cannot start list." : "Invalid value."}`,
  value: (path, { got }) => `Invalid value at '${path}': ${got}`,
  unknown: (path) =>
    `Invalid JSON payload received. Unknown name "${leaf(path)}" at '${parent(path)}': Cannot find field.`,
  empty: (path) =>
    path === "contents"
      ? "* GenerateContentRequest.contents: contents is not specified"
      : `* GenerateContentRequest.${path}: must not be empty.`,
  long: (path, { limit }) => `* GenerateContentRequest.${path}: at most ${limit}.`,
  pattern: (path) =>
    `* GenerateContentRequest.${path}: Invalid function name. Must start with a letter or an underscore. Must be a-z, A-Z, 0-9, or contain underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.`,
}

const SOURCES: Sources = {
  missing: GEMINI_TYPES,
  type: github("symfony/ai/pull/2040", "2026-05-06"),
  value: GEMINI_TYPES,
  unknown: github("Chevey339/kelivo/issues/543", "2026-04-30"),
  "unknown contents[].parts[].functionCall.id": cli(13972, "2025-11-27"),
  "unknown contents[].parts[].functionResponse.id": cli(13972, "2025-11-27"),
  empty: docs("api/caching#Content"),
  long: docs("api/caching#FunctionCall"),
  pattern: github("kaitranntt/ccs/issues/25", "2025-11-30"),
  role: github("the-open-agent/openagent/issues/1666", "2025-10-19"),
  no_parts: github("vercel/ai/issues/3775", READ),
  no_data: cli(5575, "2025-08-05"),
  no_data_system: github("songquanpeng/one-api/issues/2243", "2025-04-17"),
  two_data: docs("api/caching#Part"),
  begins: github("hariiprasad/interviewcopilot/issues/1", "2025-08-23"),
  ends: github("crewAIInc/crewAI/pull/6973", "2026-08-12"),
  call_turn: cli(11814, "2025-10-23"),
  response_turn: github("langchain-ai/langchain/issues/27799", READ),
  response_count: cli(4504, "2025-07-19"),
  response_pair: docs("gemini-api/docs/function-calling"),
  responses_alone: github("Prism-Shadow/agenthub/pull/189", "2026-08-25"),
  role_of_part: docs("api/caching#Content"),
  signature: docs("gemini-api/docs/thought-signatures"),
  signature_base64: cli(14368, "2025-12-02"),
  signature_changed: github("NoeFabris/opencode-antigravity-auth/issues/368", "2026-02-16"),
  mime: cli(3054, "2025-07-02"),
  response_mime: cli(16995, "2026-01-19"),
  response_parts: docs("gemini-api/docs/function-calling"),
  base64: docs("api/caching#Blob"),
  hosted_pair: docs("gemini-api/docs/tool-combination"),
  size: docs("gemini-api/docs/file-input-methods"),
  unicode: docs("api/caching#Part"),
}

export interface GeminiServer {
  /** The version of the models. Gemini 3 wants signatures in calls of the current turn, and takes media in responses. Default 3. */
  readonly model?: 2.5 | 3
  /** False: calls and responses may have no ids, as in older versions of Vertex AI. Default true. */
  readonly ids?: boolean
  /** Signatures that the server has given. Without it every signature is taken. */
  readonly given?: ReadonlySet<string>
}

/** Google documents this text for calls that another model has made. */
const SKIPS = "skip_thought_signature_validator"
const NAME = /^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$/

/** A `Struct`: neither a list nor a text. */
const struct: Check = (value, path, report) => {
  if (!isFields(value)) report.at("type", path, { got: Array.isArray(value) ? "an array" : typeof value })
}
const name: Check = (value, path, report) => {
  if (typeof value !== "string" || !NAME.test(value)) report.at("pattern", path)
}
/** In either alphabet of base64, with or without its end. */
const bytes =
  (rule: string): Check =>
  (value, path, report) => {
    if (
      typeof value !== "string" ||
      !/^[A-Za-z0-9+/_-]*={0,2}$/.test(value) ||
      value.replace(/=+$/, "").length % 4 === 1
    )
      refuseBytes(rule, path, report)
  }
function refuseBytes(rule: string, path: string, report: Report): void {
  report.refuse(rule, `Invalid value at '${path}' (TYPE_BYTES), Base64 decoding failed`)
}
const signature: Check = (value, path, report) => {
  if (value === "") report.at("empty", path)
  else bytes("signature_base64")(value, path, report)
}
const MEDIA: ReadonlySet<string> = new Set([
  ...["png", "jpeg", "webp", "heic", "heif"].map((type) => `image/${type}`),
  ...["wav", "mp3", "mpeg", "aiff", "aac", "ogg", "flac"].map((type) => `audio/${type}`),
  ...["mp4", "mpeg", "mov", "avi", "x-flv", "mpg", "webm", "wmv", "3gpp"].map((type) => `video/${type}`),
  "application/pdf",
  "text/plain",
])
const IN_RESPONSES: ReadonlySet<string> = new Set([
  "image/png",
  "image/jpeg",
  "image/webp",
  "application/pdf",
  "text/plain",
])

const blob = (types: ReadonlySet<string>, refuse: (type: string, report: Report) => void): Check =>
  object(
    {
      mimeType: (value, _, report) => {
        if (typeof value !== "string" || !types.has(value)) refuse(String(value), report)
      },
      data: (value, path, report) => {
        if (value === "") refuseBytes("base64", path, report)
        else bytes("base64")(value, path, report)
      },
    },
    { displayName: text() },
  )
const inlineData = blob(MEDIA, (type, report) => report.refuse("mime", `Unsupported MIME type: ${type}`))
const responseBlob = blob(IN_RESPONSES, (type, report) =>
  report.refuse(
    "response_mime",
    `Unable to submit request because the mime_type: ${type} is not supported in \`function_response.parts\`.`,
  ),
)

const withId = (ids: boolean) => (ids ? { id: text() } : {})

function contentCheck({ model = 3, ids = true }: GeminiServer): Check {
  const responseParts = list(object({}, { inlineData: responseBlob, fileData: anything }))
  const data: Readonly<Record<string, Check>> = {
    text: text(),
    inlineData,
    fileData: object({ fileUri: text({ min: 1 }) }, { mimeType: text(), displayName: text() }),
    functionCall: object({ name }, { ...withId(ids), args: struct }),
    functionResponse: object(
      { name, response: struct },
      {
        ...withId(ids),
        parts: (value, path, report) => {
          if (model < 3 && Array.isArray(value) && value.length > 0)
            report.refuse("response_parts", "Multimodal function response is not supported for this model.")
          else responseParts(value, path, report)
        },
        scheduling: text(),
        willContinue: flag,
      },
    ),
    executableCode: object(
      { code: text(), language: text({ values: ["PYTHON", "LANGUAGE_UNSPECIFIED"] }) },
      { id: text() },
    ),
    codeExecutionResult: object({ outcome: text() }, { output: text(), id: text() }),
    toolCall: object({}, { id: text(), toolType: text(), args: struct }),
    toolResponse: object({}, { id: text(), toolType: text(), response: struct }),
  }
  const fields = object(
    {},
    {
      ...data,
      thought: flag,
      thoughtSignature: signature,
      videoMetadata: anything,
      mediaResolution: anything,
      partMetadata: anything,
    },
  )
  const part: Check = (value, path, report) => {
    fields(value, path, report)
    if (!isFields(value)) return
    const count = Object.keys(data).filter((key) => value[key] !== undefined).length
    // A part that is a signature alone has an empty text: https://ai.google.dev/gemini-api/docs/thought-signatures
    const isEmpty = value["text"] === "" && value["thoughtSignature"] === undefined
    if (count === 0 || isEmpty)
      report.refuse(
        path.startsWith("system") ? "no_data_system" : "no_data",
        `* GenerateContentRequest.${path}.data: required oneof field 'data' must have one initialized field`,
      )
    if (count > 1) report.refuse("two_data", `Invalid value at '${path}' (oneof), oneof field 'data' is already set.`)
  }
  return object(
    {
      parts: (value, path, report) => {
        if (Array.isArray(value) && value.length === 0)
          report.refuse("no_parts", `* GenerateContentRequest.${path}: contents.parts must not be empty.`)
        else list(part)(value, path, report)
      },
    },
    {
      role: (value, _, report) => {
        if (value !== "user" && value !== "model") report.refuse("role", "Please use a valid role: user, model.")
      },
    },
  )
}

export function refusedByGemini(value: unknown, o: GeminiServer = {}): readonly Refusal[] {
  const report = new Report(GEMINI, SOURCES)
  const content = contentCheck(o)
  if (hasHalves(value)) report.refuse("unicode", "Invalid JSON payload received: invalid UTF-8.")
  object({ contents: list(content, { min: 1 }) }, { config: anything, model: anything })(value, "", report)
  if (!isFields(value)) return report.refusals
  const config = isFields(value["config"]) ? value["config"] : {}
  const { systemInstruction: system } = config
  if (isFields(system)) content(system, "systemInstruction", report)
  else if (system === "")
    report.refuse(
      "no_data_system",
      "* GenerateContentRequest.system_instruction.parts[0].data: required oneof field 'data' must have one initialized field",
    )
  const contents = fieldsIn(value["contents"])
  checkTurns(contents, report)
  checkSignatures(contents, report, o)
  if (JSON.stringify(value).length > 20 * 1024 * 1024)
    report.refuse("size", "Request payload size exceeds the limit: 20971520 bytes.")
  return report.refusals
}

const partsOf = (content: Fields | undefined): readonly Fields[] => fieldsIn(content?.["parts"])
const valuesOf = (content: Fields | undefined, key: string): readonly Fields[] =>
  partsOf(content).flatMap((part) => (isFields(part[key]) ? [part[key]] : []))
const roleOf = (content: Fields | undefined) => content?.["role"] ?? "user"

function checkTurns(contents: readonly Fields[], report: Report): void {
  if (contents.length > 0 && roleOf(contents[0]) !== "user")
    report.refuse("begins", "First content should be with role 'user', got model")
  if (contents.length > 0 && roleOf(contents.at(-1)) !== "user")
    report.refuse("ends", "Please ensure that multiturn requests end with a user turn or a function response.")
  for (const [i, content] of contents.entries()) {
    const calls = valuesOf(content, "functionCall")
    const responses = valuesOf(content, "functionResponse")
    const before = contents[i - 1]
    const asked = roleOf(before) === "model" ? valuesOf(before, "functionCall") : []
    if (responses.length > 0 && responses.length < partsOf(content).length)
      report.refuse("responses_alone", "Requests ending with a model turn are not supported.")
    if (calls.length > 0 && roleOf(content) !== "model")
      report.refuse("role_of_part", `contents[${i}]: function calls are of the model`)
    if (responses.length > 0 && roleOf(content) === "model")
      report.refuse("role_of_part", `contents[${i}]: function responses are of the user`)
    if (calls.length > 0 && (before === undefined || roleOf(before) !== "user"))
      report.refuse(
        "call_turn",
        "Please ensure that function call turn comes immediately after a user turn or after a function response turn.",
      )
    if (responses.length > 0 && asked.length === 0)
      report.refuse(
        "response_turn",
        "Please ensure that function response turn comes immediately after a function call turn.",
      )
    else if (responses.length !== asked.length)
      report.refuse(
        "response_count",
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
      )
    else checkPairs(asked, responses, report)
    checkHosted(content, report)
  }
  const open = valuesOf(contents.at(-1), "functionCall")
  if (open.length > 0)
    report.refuse(
      "response_count",
      "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
    )
}

/** By their ids, or by names. */
function checkPairs(calls: readonly Fields[], responses: readonly Fields[], report: Report): void {
  const keys = (all: readonly Fields[]) => all.map(({ id, name }) => `${String(name)} ${String(id ?? "")}`).toSorted()
  if (keys(calls).join("\n") !== keys(responses).join("\n"))
    report.refuse(
      "response_pair",
      "Please ensure that each function response has the name and the id of its function call.",
    )
}

/** Calls of Google's own tools have their results in the same content. */
function checkHosted(content: Fields, report: Report): void {
  const ids = (key: string) =>
    valuesOf(content, key)
      .map(({ id }) => String(id))
      .toSorted()
      .join("\n")
  if (ids("toolCall") !== ids("toolResponse"))
    report.refuse("hosted_pair", "Please ensure that each tool call has its tool response.")
}

/** The first call of each step of the current turn has the signature with which it came. */
function checkSignatures(contents: readonly Fields[], report: Report, { model = 3, given }: GeminiServer): void {
  const isSaid = (content: Fields) => roleOf(content) === "user" && valuesOf(content, "functionResponse").length === 0
  const current = contents.findLastIndex(isSaid)
  for (const [i, content] of contents.entries()) {
    const first = partsOf(content).find(({ functionCall }) => isFields(functionCall))
    if (model >= 3 && i > current && first !== undefined && first["thoughtSignature"] === undefined)
      report.refuse(
        "signature",
        "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.",
      )
    for (const { thoughtSignature: signature } of partsOf(content))
      if (signature !== undefined && signature !== SKIPS && given !== undefined && !given.has(String(signature)))
        report.refuse("signature_changed", "Thought signature is not valid.")
  }
}
