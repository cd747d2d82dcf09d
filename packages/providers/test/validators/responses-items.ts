/** The shapes of the items of the Responses API's `input`, from its published types. */
import {
  anything,
  type Check,
  fieldsIn,
  flag,
  integer,
  isFields,
  list,
  nullable,
  object,
  tagged,
  text,
  textOr,
} from "./shapes.ts"

const MAX_TEXT = 10_485_760
const CALL_ID = text({ min: 1, max: 64 })
const NAME = text({ min: 1, max: 128, pattern: /^[a-zA-Z0-9_-]+$/ })
const STATUS = nullable(text({ values: ["in_progress", "completed", "incomplete"] }))
const HOSTED = (...more: readonly string[]) =>
  text({ values: ["in_progress", "completed", "incomplete", "failed", ...more] })
const CALLER = { caller: nullable(object({ type: text() }, { caller_id: text() })) }
const BREAKPOINT = { prompt_cache_breakpoint: anything }

/** Ids of items begin with the letters of their type. An item of another type may be named by any id. */
function id(prefix: string): Check {
  return (value, path, report) => {
    if (typeof value !== "string") return text()(value, path, report)
    if (!/^[a-zA-Z0-9_-]+$/.test(value))
      return report.refuse(
        "pattern input[].id",
        `Invalid '${path}': '${value}'. Expected an ID that contains letters, numbers, underscores, or dashes, but this value contained additional characters.`,
      )
    if (value.length > 64) report.at("long", path, { kind: "string", limit: 64, got: String(value.length) })
    if (!value.startsWith(prefix))
      report.refuse("id_prefix", `Invalid '${path}': '${value}'. Expected an ID that begins with '${prefix}'.`)
  }
}
const anyId = text({ max: 64 })

const summary = list(object({ type: text({ values: ["summary_text"] }), text: text() }))
/** The text of a reasoning is not taken back. */
const noContent: Check = (value, path, report) => {
  if (Array.isArray(value) && value.length > 0)
    report.refuse(
      "long_reasoning",
      `Invalid '${path}': array too long. Expected an array with maximum length 0, but got an array with length ${value.length} instead.`,
    )
}

const outputText = object(
  { type: anything, text: text() },
  { annotations: list(object({ type: text() }, {}, { open: true })), logprobs: anything },
)
const answerParts = list(
  tagged("type", { output_text: outputText, refusal: object({ type: anything, refusal: text() }) }),
)

/** The check of one item. `picture`: of the addresses of images. */
export function itemsChecks(picture: Check): Check {
  const inputParts = {
    input_text: object({ type: anything, text: text({ max: MAX_TEXT }) }, BREAKPOINT),
    input_image: object(
      { type: anything },
      { detail: text(), image_url: nullable(picture), file_id: nullable(text()), ...BREAKPOINT },
    ),
    input_file: object(
      { type: anything },
      {
        detail: text(),
        file_data: text(),
        file_id: nullable(text()),
        file_url: text(),
        filename: text(),
        ...BREAKPOINT,
      },
    ),
  }
  const input = textOr(list(tagged("type", inputParts)), { max: MAX_TEXT })
  const asked = object({ role: anything, content: input }, { type: anything, status: STATUS, id: anyId })
  const message = tagged("role", {
    user: asked,
    system: asked,
    developer: asked,
    assistant: object(
      { role: anything, content: textOr(answerParts, { max: MAX_TEXT }) },
      {
        type: anything,
        id: id("msg"),
        status: STATUS,
        phase: nullable(text({ values: ["commentary", "final_answer"] })),
      },
    ),
  })
  const result = textOr(list(tagged("type", inputParts)), { max: MAX_TEXT })
  const typed = tagged("type", {
    message,
    reasoning: object(
      { type: anything, id: id("rs"), summary },
      { content: noContent, encrypted_content: nullable(text()) },
    ),
    function_call: object(
      { type: anything, call_id: CALL_ID, name: NAME, arguments: text() },
      { id: id("fc"), status: STATUS, async: flag, namespace: text(), ...CALLER },
    ),
    function_call_output: object(
      { type: anything, call_id: CALL_ID, output: result },
      { id: nullable(anyId), status: STATUS, name: nullable(text()), namespace: nullable(text()), ...CALLER },
    ),
    custom_tool_call: object(
      { type: anything, call_id: CALL_ID, name: NAME, input: text() },
      { id: id("ctc"), async: flag, status: STATUS, namespace: text(), ...CALLER },
    ),
    custom_tool_call_output: object(
      { type: anything, call_id: CALL_ID, output: result },
      { id: nullable(anyId), status: STATUS, ...CALLER },
    ),
    ...hosted,
    computer_call_output: object(
      {
        type: anything,
        call_id: CALL_ID,
        output: object({ type: text({ values: ["computer_screenshot"] }) }, { image_url: picture, file_id: text() }),
      },
      { id: nullable(anyId), status: STATUS, acknowledged_safety_checks: nullable(list(safetyCheck)) },
    ),
  })
  // A message may be without its type, and a reference as well.
  return (value, path, report) => {
    if (!isFields(value) || value["type"] !== undefined) return typed(value, path, report)
    if (value["role"] === undefined && fieldsIn([value]).length > 0) return report.at("missing", `${path}.type`)
    message(value, path, report)
  }
}

const safetyCheck = object({ id: text() }, { code: nullable(text()), message: nullable(text()) })
const action = tagged("type", {
  search: object({ type: anything }, { query: text(), queries: list(text()) }),
  open_page: object({ type: anything }, { url: nullable(text()) }),
  find_in_page: object({ type: anything, pattern: text(), url: text() }),
})
const shellOutput = object({
  stdout: text(),
  stderr: text(),
  outcome: tagged("type", {
    timeout: object({ type: anything }),
    exit: object({ type: anything, exit_code: integer }),
  }),
})
const tool = object({ name: text(), input_schema: anything }, { annotations: anything, description: nullable(text()) })

/** Items of tools that run at the provider, and of those that it describes. */
const hosted: Readonly<Record<string, Check>> = {
  web_search_call: object({ type: anything, id: anyId, status: HOSTED("searching") }, { action }),
  file_search_call: object(
    { type: anything, id: anyId, queries: list(text()), status: HOSTED("searching") },
    { results: nullable(list(anything)) },
  ),
  code_interpreter_call: object({
    type: anything,
    id: anyId,
    code: nullable(text()),
    container_id: text(),
    outputs: nullable(list(anything)),
    status: HOSTED("interpreting"),
  }),
  image_generation_call: object(
    { type: anything, id: anyId, result: nullable(text()), status: HOSTED("generating") },
    Object.fromEntries(
      "action background error output_format quality revised_prompt size svg_usage"
        .split(" ")
        .map((key) => [key, anything]),
    ),
  ),
  computer_call: object(
    { type: anything, id: anyId, call_id: CALL_ID, pending_safety_checks: list(safetyCheck), status: STATUS },
    { action: anything, actions: list(anything) },
  ),
  local_shell_call: object({
    type: anything,
    id: anyId,
    call_id: CALL_ID,
    status: STATUS,
    action: object(
      { type: text({ values: ["exec"] }), command: list(text()), env: object({}, {}, { open: true }) },
      { timeout_ms: nullable(integer), user: nullable(text()), working_directory: nullable(text()) },
    ),
  }),
  // The guide names the call by `call_id`, the types name the item by `id`.
  local_shell_call_output: object({ type: anything, output: text() }, { id: anyId, call_id: CALL_ID, status: STATUS }),
  shell_call: object(
    {
      type: anything,
      call_id: CALL_ID,
      action: object(
        { commands: list(text()) },
        { max_output_length: nullable(integer), timeout_ms: nullable(integer) },
      ),
    },
    { id: nullable(anyId), status: STATUS, environment: anything, ...CALLER },
  ),
  shell_call_output: object(
    { type: anything, call_id: CALL_ID, output: list(shellOutput) },
    { id: nullable(anyId), max_output_length: nullable(integer), status: STATUS, ...CALLER },
  ),
  apply_patch_call: object(
    {
      type: anything,
      call_id: CALL_ID,
      operation: tagged("type", {
        create_file: object({ type: anything, path: text(), diff: text() }),
        update_file: object({ type: anything, path: text(), diff: text() }),
        delete_file: object({ type: anything, path: text() }),
      }),
      status: text({ values: ["in_progress", "completed"] }),
    },
    { id: nullable(anyId), ...CALLER },
  ),
  apply_patch_call_output: object(
    { type: anything, call_id: CALL_ID, status: text({ values: ["completed", "failed"] }) },
    { id: nullable(anyId), output: nullable(text()), ...CALLER },
  ),
  mcp_list_tools: object(
    { type: anything, id: anyId, server_label: text(), tools: list(tool) },
    { error: nullable(text()) },
  ),
  mcp_call: object(
    { type: anything, id: anyId, name: text(), server_label: text(), arguments: text() },
    { approval_request_id: nullable(text()), error: anything, output: nullable(text()), status: HOSTED("calling") },
  ),
  mcp_approval_request: object({ type: anything, id: anyId, name: text(), server_label: text(), arguments: text() }),
  mcp_approval_response: object(
    { type: anything, approval_request_id: text(), approve: flag },
    { id: nullable(anyId), reason: nullable(text()) },
  ),
  compaction: object({ type: anything, encrypted_content: text() }, { id: nullable(anyId) }),
  compaction_trigger: object({ type: anything }, { id: nullable(anyId) }),
  tool_search_call: object(
    { type: anything, arguments: anything },
    {
      id: nullable(anyId),
      call_id: nullable(text()),
      execution: text({ values: ["server", "client"] }),
      status: STATUS,
    },
  ),
  tool_search_output: object(
    { type: anything, tools: list(anything) },
    {
      id: nullable(anyId),
      call_id: nullable(text()),
      execution: text({ values: ["server", "client"] }),
      status: STATUS,
    },
  ),
  additional_tools: object({ type: anything, role: anything, tools: list(anything) }, { id: nullable(anyId) }),
  program: object({ type: anything, id: anyId, call_id: text(), code: text(), fingerprint: text() }),
  program_output: object({ type: anything, id: anyId, call_id: text(), result: text(), status: STATUS }),
  item_reference: object({ type: anything, id: anyId }),
}
