/** What the Responses API takes. Each rule has its source and the date on which it was read there. */
import { isObject } from "@sessions/formats/messages/values"
import { checkArgument } from "../shared/check.ts"
import type { Rules } from "../shared/rules.ts"

export const RULES: Rules = {
  receiver: "OpenAI",
  // "Invalid 'input[2].call_id': string too long. Expected a string with maximum length 64": github.com/openclaw/openclaw/issues/4718. "Duplicate
  // 'call_id'": github.com/earendil-works/pi/issues/9057 (2026-11-28).
  callId: {
    refused: /[^\x20-\x7e]/g,
    filler: "_",
    once: true,
    min: 1,
    max: 64,
    says: "ids of 64 characters at most, each once",
  },
  // platform.openai.com/docs/api-reference/responses/create, `name` of a function (2026-11-28).
  callName: {
    refused: /[^a-zA-Z0-9_-]/g,
    filler: "_",
    min: 1,
    max: 64,
    says: "letters, digits, `_` and `-`, 64 at most",
  },
  order: { begins: "any", ends: "any", joined: [] },
  // platform.openai.com/docs/guides/images-vision, "Image input requirements" (2026-11-28).
  images: { types: ["image/png", "image/jpeg", "image/webp", "image/gif"] },
}

/** A call of one of OpenAI's own tools that the program runs. */
export interface HostedCall {
  /** The type of the item of its output. Without one: "No tool output found for local shell call …". */
  readonly output: string
  /** The name of the tool, unless the item has one. */
  readonly name?: string
  /** The fields of the item that are the arguments. One that is an object is all of them. */
  readonly arguments: readonly string[]
  /** The API finds the item by its `id`, so that it is not sent without. */
  readonly needsId?: boolean
}

/**
 * `ResponseInputItem` of the client `openai` 7.57; guides of platform.openai.com: tools-local-shell, tools-shell, tools-apply-patch,
 * tools-computer-use, tools-connectors-mcp, tools-tool-search. The output of a local shell has the `call_id`, not the `id` of the client's types:
 * github.com/openai/openai-agents-python/pull/1855 (2026-11-28).
 */
export const HOSTED_CALLS: Readonly<Record<string, HostedCall>> = {
  local_shell_call: { output: "local_shell_call_output", name: "local_shell", arguments: ["action"], needsId: true },
  shell_call: { output: "shell_call_output", name: "shell", arguments: ["action"] },
  apply_patch_call: { output: "apply_patch_call_output", name: "apply_patch", arguments: ["operation"] },
  computer_call: {
    output: "computer_call_output",
    name: "computer",
    arguments: ["action", "actions", "pending_safety_checks"],
    needsId: true,
  },
  tool_search_call: { output: "tool_search_output", name: "tool_search", arguments: ["arguments"] },
  mcp_approval_request: { output: "mcp_approval_response", arguments: ["arguments"], needsId: true },
}

/** Items of the API's own tools that come in two halves, both from the API. */
export const HALVES: Readonly<Record<string, string>> = {
  shell_call: "shell_call_output",
  apply_patch_call: "apply_patch_call_output",
  computer_call: "computer_call_output",
  local_shell_call: "local_shell_call_output",
  tool_search_call: "tool_search_output",
  program: "program_output",
}

/**
 * Types whose items may be sent without their `id`. An id is in a request once, "Duplicate item found with id": github.com/vercel/ai/issues/13307,
 * github.com/earendil-works/pi/issues/5147. With it, an item is refused without the reasoning that it followed: "Item 'fc_…' of type
 * 'function_call' was provided without its required 'reasoning' item", github.com/cline/cline/issues/12242 (2026-11-28).
 */
export const ID_OPTIONAL: ReadonlySet<unknown> = new Set([
  "message",
  "function_call",
  "custom_tool_call",
  "shell_call",
  "apply_patch_call",
  "tool_search_call",
  "shell_call_output",
  "apply_patch_call_output",
  "computer_call_output",
  "tool_search_output",
])

/**
 * Fields of an answer that the items of a request do not have: who made an item, what `client.responses.parse` adds (`ResponseInputItem` and
 * `ParsedResponse` of the client `openai` 7.57), and the sources of a search, "Unknown parameter: 'input[1].action.sources'": github.com/pydantic/pydantic-ai
 * (2026-11-28).
 */
export const ANSWER_ONLY: ReadonlySet<string> = new Set(["created_by", "parsed_arguments", "parsed", "sources"])

/** OpenAI's own items, of which it takes nothing else: servers that have its API, and proxies, give other ids and fields under its name. */
export interface ItemForm {
  /** "Invalid 'input[1].id': 'item_1'. Expected an ID that begins with 'rs'": github.com/openai/codex/issues/33176 (2026-11-28). */
  readonly prefix: string
  readonly fields: readonly string[]
}

/**
 * Fields as in `ResponseInputItem` of the client `openai` 7.57. Of reasoning neither `status` nor `content` is taken: "Unknown parameter:
 * 'input[1].status'", github.com/1jehuang/jcode/issues/1028; "Invalid 'input[1].content': array too long. Expected an array with maximum length 0",
 * github.com/querymt/querymt/issues/976 (2026-11-28).
 */
export const ITEM_FORMS: Readonly<Record<string, ItemForm>> = {
  message: { prefix: "msg", fields: ["type", "id", "role", "status", "phase", "content"] },
  reasoning: { prefix: "rs", fields: ["type", "id", "summary", "encrypted_content"] },
  function_call: {
    prefix: "fc",
    fields: ["type", "id", "call_id", "name", "arguments", "status", "namespace", "caller", "async"],
  },
  custom_tool_call: {
    prefix: "ctc",
    fields: ["type", "id", "call_id", "name", "input", "namespace", "caller", "async"],
  },
}

/** The same of the parts of a text. */
export const PART_FIELDS: readonly string[] = ["type", "text", "refusal", "annotations", "logprobs"]

/** "string too long. Expected a string with maximum length 64": github.com/can1357/oh-my-pi/issues/284, github.com/langchain-ai/langchainjs/issues/11044. */
export const ITEM_ID: RegExp = /^[a-zA-Z0-9_-]{1,64}$/

/** What a search does. "Invalid value: 'other'": github.com/openai/codex/issues/6945 (2026-11-28). */
export const SEARCH_ACTIONS: ReadonlySet<unknown> = new Set(["search", "open_page", "find_in_page"])

/**
 * Reasoning without its encrypted content is a reference into the API's store, which keeps it for 30 days, and only if the request was stored: "Item with
 * id 'rs_…' not found. Items are not persisted when `store` is set to false". platform.openai.com/docs/guides/your-data (2026-11-28).
 */
export const STORED_SECONDS: number = 30 * 24 * 60 * 60

/**
 * The second in which OpenAI has made an item, which its ids have: `rs_68582a79…` is of 2025-06-22 (github.com/openai/openai-agents-python/issues/919),
 * `rs_028eb363e402d9f2016a46604e…` of 2026-07-02 (github.com/home-assistant/core/issues/175363). Undefined for other ids (2026-11-29).
 */
export function madeAt(id: unknown): number | undefined {
  const { 1: older, 2: newer } = ITEM_TIME.exec(String(id)) ?? []
  const digits = older ?? newer
  return digits === undefined ? undefined : Number.parseInt(digits, 16)
}

const ITEM_TIME = /^[a-z]+_(?:([0-9a-f]{8})[0-9a-f]{40}|[0-9a-f]{18}([0-9a-f]{8})[0-9a-f]{24})$/

/** A reference into the API's store, such as reasoning without its encrypted content. */
export interface StoredItem {
  readonly id: unknown
  /** When the answer was made, in seconds since 1970. Default: what the id says. */
  readonly made?: number | undefined
  /** When the answer was saved, if the id does not say when it was made. */
  readonly saved?: number | undefined
}

/** Why the API does not find what is referred to; undefined: it does, or nothing says how old it is. `now`: in milliseconds since 1970. */
export function referenceProblem(
  item: StoredItem,
  { isStored, now }: { readonly isStored: boolean; readonly now: number },
): "not stored" | "expired" | undefined {
  checkArgument("referenceProblem", isObject(item), "an item of the store, `{ id, made?, saved? }`", item)
  const { id, made, saved } = item
  if (!isStored) return "not stored"
  const since = made ?? madeAt(id) ?? saved
  return since !== undefined && (since + STORED_SECONDS) * 1000 <= now ? "expired" : undefined
}
