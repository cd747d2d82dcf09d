/** What the Chat Completions API of OpenAI takes. */
import type { Rules } from "../shared/rules.ts"

export const RULES: Rules = {
  receiver: "OpenAI",
  // "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40": https://github.com/vercel/ai/issues/5171, read 2026-11-28.
  callId: { refused: /[^\x20-\x7e]/g, filler: "_", once: false, min: 1, max: 40, says: "ids of 40 characters at most" },
  // "name: a-z, A-Z, 0-9, or contain underscores and dashes, with a maximum length of 64": https://platform.openai.com/docs/api-reference/chat/create, read 2026-11-28.
  callName: {
    refused: /[^a-zA-Z0-9_-]/g,
    filler: "_",
    min: 1,
    max: 64,
    says: "letters, digits, `_` and `-`, 64 at most",
  },
  order: { begins: "any", ends: "any", joined: [] },
  // https://platform.openai.com/docs/guides/images-vision, "Image input requirements", read 2026-11-28.
  images: { types: ["image/png", "image/jpeg", "image/webp", "image/gif"] },
}
