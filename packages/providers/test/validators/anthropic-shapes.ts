/** The shapes of bodies of Anthropic's Messages API, as its published types have them. */
import { BASE64, IMAGE_TYPES } from "./anthropic-images.ts"
import { anything, type Check, flag, isFields, list, nullable, object, tagged, text } from "./shapes.ts"

const MARK = {
  cache_control: nullable(object({ type: text({ values: ["ephemeral"] }) }, { ttl: text({ values: ["5m", "1h"] }) })),
}
const CALL_ID = text({ min: 1, pattern: /^[a-zA-Z0-9_-]+$/ })
/** A mapping: arguments of a call may be no list and no text. */
const dictionary: Check = (value, path, report) => {
  if (!isFields(value)) report.at("type", path, { expected: "a valid dictionary" })
}
const caller = object({ type: text() }, { tool_id: text() })
const image = object(
  {
    type: anything,
    source: tagged("type", {
      base64: object({ type: anything, media_type: text({ values: IMAGE_TYPES }), data: BASE64 }),
      url: object({ type: anything, url: text({ min: 1 }) }),
      file: object({ type: anything, file_id: text({ min: 1 }) }),
    }),
  },
  { ...MARK, transformations: anything },
)
const document = object(
  { type: anything, source: object({ type: text() }, {}, { open: true }) },
  { ...MARK, citations: anything, context: nullable(text()), title: nullable(text()) },
)
const textBlock = object({ type: anything, text: text() }, { ...MARK, citations: nullable(list(anything)) })
const searchResult = object(
  { type: anything, content: list(textBlock), source: text(), title: text() },
  { ...MARK, citations: anything },
)
const resultParts = list(
  tagged("type", {
    text: textBlock,
    image,
    document,
    search_result: searchResult,
    tool_reference: object({ type: anything, tool_name: text() }, MARK),
    browser_state: object({ type: anything }, {}, { open: true }),
  }),
)
/** The result of a tool that the API runs itself is what it was in the answer. */
const hostedResult = object({ type: anything, tool_use_id: CALL_ID, content: anything }, { ...MARK, caller })
const HOSTED_NAMES = [
  "web_search",
  "web_fetch",
  "code_execution",
  "bash_code_execution",
  "text_editor_code_execution",
  "tool_search_tool_regex",
  "tool_search_tool_bm25",
]
const mcpResult = object({ type: anything, tool_use_id: CALL_ID, content: anything }, { ...MARK, is_error: flag })

const BLOCKS: Readonly<Record<string, Check>> = {
  text: textBlock,
  image,
  document,
  search_result: searchResult,
  thinking: object({ type: anything, thinking: text(), signature: text({ min: 1 }) }),
  redacted_thinking: object({ type: anything, data: text({ min: 1 }) }),
  tool_use: object(
    { type: anything, id: CALL_ID, name: text({ min: 1, max: 128, pattern: /^[a-zA-Z0-9_-]+$/ }), input: dictionary },
    { ...MARK, caller, toolset_name: nullable(text()) },
  ),
  tool_result: object(
    { type: anything, tool_use_id: CALL_ID },
    {
      ...MARK,
      content: (value, path, report) => {
        if (typeof value !== "string") resultParts(value, path, report)
      },
      is_error: flag,
      toolset_name: nullable(text()),
    },
  ),
  server_tool_use: object(
    { type: anything, id: CALL_ID, name: text({ values: HOSTED_NAMES }), input: dictionary },
    { ...MARK, caller },
  ),
  web_search_tool_result: hostedResult,
  web_fetch_tool_result: hostedResult,
  code_execution_tool_result: hostedResult,
  bash_code_execution_tool_result: hostedResult,
  text_editor_code_execution_tool_result: hostedResult,
  tool_search_tool_result: hostedResult,
  container_upload: object({ type: anything, file_id: text() }, MARK),
  mcp_tool_use: object(
    { type: anything, id: CALL_ID, name: text({ min: 1 }), server_name: text({ min: 1 }), input: dictionary },
    MARK,
  ),
  mcp_tool_result: mcpResult,
}

const blocks = list(tagged("type", BLOCKS))
const message = object({
  role: text({ values: ["user", "assistant"] }),
  content: (value, path, report) => {
    if (typeof value === "string") return
    blocks(value, path, report)
  },
})
const PARAMETERS =
  "model max_tokens cache_control container context_management inference_geo mcp_servers metadata output_config service_tier stop_sequences stream temperature thinking tool_choice tools top_k top_p"
/** A body may be without `model` and `max_tokens`, which callers add. */
export const BODY = object(
  { messages: list(message, { min: 1 }) },
  {
    system: (value, path, report) => {
      if (typeof value !== "string") list(tagged("type", { text: textBlock }))(value, path, report)
    },
    ...Object.fromEntries(PARAMETERS.split(" ").map((name) => [name, anything])),
  },
)
