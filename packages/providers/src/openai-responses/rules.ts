/** What the Responses API takes. */
import type { Rules } from "../shared/rules.ts"

export const RULES: Rules = {
  receiver: "OpenAI",
  // "Invalid 'input[2].call_id': string too long. Expected a string with maximum length 64": https://github.com/openclaw/openclaw/issues/4718, read 2026-11-28.
  callId: { refused: /[^\x20-\x7e]/g, filler: "_", once: false, min: 1, max: 64, says: "ids of 64 characters at most" },
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
