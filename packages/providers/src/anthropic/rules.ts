/** What Anthropic's Messages API takes. All sources were read on 2026-11-28. */
import { REQUEST_LIMITS } from "@sessions/core/format"
import { BYTES_FOR_TEXTS, type Rules } from "../shared/rules.ts"

export const RULES: Rules = {
  receiver: "Anthropic",
  // "String should match pattern '^[a-zA-Z0-9_-]+$'": https://github.com/openclaw/openclaw/issues/4718. "`tool_use` ids must be unique":
  // https://github.com/anthropics/claude-code/issues/20527. Bedrock takes 64 characters:
  // https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html
  callId: {
    refused: /[^a-zA-Z0-9_-]/g,
    filler: "_",
    min: 1,
    max: 64,
    once: true,
    says: "ids of letters, digits, `_` and `-`, 64 at most, each once",
  },
  // "String should match pattern '^[a-zA-Z0-9_-]{1,128}$'": https://platform.claude.com/docs/en/api/messages/create, `tools.name`.
  callName: {
    refused: /[^a-zA-Z0-9_-]/g,
    filler: "_",
    min: 1,
    max: 128,
    says: "names of letters, digits, `_` and `-`, 128 at most",
  },
  // "first message must use the "user" role": https://platform.claude.com/docs/en/api/messages/create. "The conversation must end with a user message", of
  // all models since 4.6: https://platform.claude.com/docs/en/about-claude/models/migration-guide,
  // https://github.com/strands-agents/sdk-python/issues/1694
  order: { begins: "user", ends: "user", joined: ["user"] },
  // https://platform.claude.com/docs/en/build-with-claude/vision. The 5 MB are those of the base64 text: https://github.com/lobehub/lobehub/pull/14711. More
  // images are refused: "too many images and documents: 104 + 1 > 100", https://github.com/anthropics/claude-code/issues/23392
  images: {
    types: ["image/jpeg", "image/png", "image/gif", "image/webp"],
    maxLength: 5 * 1024 * 1024,
    maxTotal: REQUEST_LIMITS.anthropic.bytes - BYTES_FOR_TEXTS,
    maxCount: REQUEST_LIMITS.anthropic.images,
    maxSide: 8000,
    many: { count: 20, maxSide: 2000 },
  },
}

/**
 * Blocks whose result is a block of an answer, too: https://platform.claude.com/docs/en/agents-and-tools/tool-use/server-tools and
 * https://platform.claude.com/docs/en/agents-and-tools/mcp-connector. After `pause_turn` the API makes the missing results when it gets the answer back,
 * after `tool_use` when it gets the results of the program's tools: https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
 */
export const HOSTED_CALLS: ReadonlySet<string> = new Set(["server_tool_use", "mcp_tool_use"])

/** `web_search_tool_result`, `mcp_tool_result` and the others. `tool_result` is that of the program's tools. */
export const HOSTED_RESULT: RegExp = /_tool_result$/

/** "The final block in an assistant message cannot be `thinking`": https://github.com/tailcallhq/forgecode/issues/2107 */
export const THINKING: ReadonlySet<string> = new Set(["thinking", "redacted_thinking"])
