/** What Anthropic's Messages API takes. */
import type { Rules } from "../shared/rules.ts"

export const RULES: Rules = {
  receiver: "Anthropic",
  // "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'": https://github.com/openclaw/openclaw/issues/4718. Bedrock takes 64
  // characters: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolUseBlock.html. Read 2026-11-28.
  callId: {
    refused: /[^a-zA-Z0-9_-]/g,
    filler: "_",
    once: true,
    min: 1,
    max: 64,
    says: "letters, digits, `_` and `-`, 64 at most, each once",
  },
  // "tools.0.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'": https://github.com/anthropics/claude-code/issues/10606, read 2026-11-28.
  callName: {
    refused: /[^a-zA-Z0-9_-]/g,
    filler: "_",
    min: 1,
    max: 128,
    says: "letters, digits, `_` and `-`, 128 at most",
  },
  // "messages: first message must use the "user" role", and "The conversation must end with a user message" of the models from 4.6 on:
  // https://platform.claude.com/docs/en/about-claude/models/migration-guide and https://github.com/strands-agents/sdk-python/issues/1694, read 2026-11-28.
  order: { begins: "user", ends: "user", joined: ["user"] },
  // https://platform.claude.com/docs/en/build-with-claude/vision, read 2026-11-28.
  images: {
    types: ["image/jpeg", "image/png", "image/gif", "image/webp"],
    maxLength: 5 * 1024 * 1024,
    maxSide: 8000,
    many: { count: 20, maxSide: 2000 },
  },
}
