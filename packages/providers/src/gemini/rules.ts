/** What the Gemini API takes. */
import type { Rules } from "../shared/rules.ts"

export const RULES: Rules = {
  receiver: "Gemini",
  // No form is documented: https://ai.google.dev/api/caching#FunctionCall, read 2026-11-28.
  callId: {
    refused: /[^\x20-\x7e]/g,
    filler: "_",
    once: false,
    min: 1,
    max: 512,
    says: "ids of 512 characters at most",
  },
  // https://ai.google.dev/api/caching#FunctionDeclaration, read 2026-11-28.
  callName: {
    refused: /[^a-zA-Z0-9_.:-]/g,
    filler: "_",
    min: 1,
    max: 128,
    first: /^[a-zA-Z_]/,
    says: "letters, digits, `_`, `.`, `:` and `-`, a letter or `_` first, 128 at most",
  },
  // "Please ensure that function call turn comes immediately after a user turn or after a function response turn":
  // https://github.com/google-gemini/gemini-cli/issues/11814; "Please ensure that multiturn requests end with a user turn or a function response".
  // Read 2026-11-28.
  order: { begins: "user", ends: "user", joined: ["user", "model"] },
  // https://ai.google.dev/gemini-api/docs/image-understanding, "Supported image formats", read 2026-11-28.
  images: { types: ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"] },
}
