/**
 * What the providers of the AI SDK take. The SDK sends ids, names and images as they are, and the roles in their order, so they have to fit the
 * provider, or each of them if it is not known. All sources were read on 2026-11-28.
 */
import { RULES as ANTHROPIC } from "../anthropic/rules.ts"
import { RULES as GEMINI } from "../gemini/rules.ts"
import { TOOL_NAME } from "../shared/fit.ts"
import type { IdForm, Images, Rules } from "../shared/rules.ts"

/** The shortest is that of Chat Completions: https://github.com/vercel/ai/issues/5171 */
const CALL_ID: IdForm = {
  refused: /[^a-zA-Z0-9_-]/g,
  filler: "_",
  min: 1,
  max: 40,
  once: true,
  says: "ids of letters, digits, `_` and `-`, 40 at most, each once",
}

/** "Tool call id was call_… but must be a-z, A-Z, 0-9, with a length of 9": https://github.com/vercel/ai/issues/1690 */
const MISTRAL_ID: IdForm = {
  refused: /[^a-zA-Z0-9]/g,
  filler: "0",
  min: 9,
  max: 9,
  once: true,
  says: "ids of 9 letters and digits, each once",
}

/** What the SDK tells apart by the first bytes of a file. */
const IMAGES: Images = { types: ["image/jpeg", "image/png", "image/gif", "image/webp"] }

/** `provider`: of the model, such as `"anthropic.messages"`. */
export function rulesOf(provider = ""): Rules {
  const isGoogle = provider.startsWith("google")
  return {
    receiver: provider === "" ? "A provider of the AI SDK" : provider,
    callId: provider.startsWith("mistral") ? MISTRAL_ID : CALL_ID,
    callName: TOOL_NAME,
    // Gemini wants a user's turn before a call, Anthropic's newer models one at the end.
    order: { begins: "user", ends: "user", joined: ["assistant", "tool"] },
    images: isGoogle ? GEMINI.images : provider.includes("anthropic") ? ANTHROPIC.images : IMAGES,
  }
}
