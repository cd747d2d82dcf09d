/** What the providers of the AI SDK take: it sends ids and names as they are, so they fit each of the providers. */
import type { Rules } from "../shared/rules.ts"

export const RULES: Rules = {
  receiver: "The AI SDK",
  // The shortest is that of Chat Completions: https://github.com/vercel/ai/issues/5171, read 2026-11-28.
  callId: {
    refused: /[^a-zA-Z0-9_-]/g,
    filler: "_",
    once: true,
    min: 1,
    max: 40,
    says: "letters, digits, `_` and `-`, 40 at most, each once",
  },
  callName: {
    refused: /[^a-zA-Z0-9_-]/g,
    filler: "_",
    min: 1,
    max: 64,
    first: /^[a-zA-Z_]/,
    says: "letters, digits, `_` and `-`, a letter or `_` first, 64 at most",
  },
  order: { begins: "user", ends: "user", joined: ["assistant", "tool"] },
  images: { types: ["image/jpeg", "image/png", "image/gif", "image/webp"] },
}
