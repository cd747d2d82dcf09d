/** What the Gemini API takes. All sources were read on 2026-11-28. */
import { REQUEST_LIMITS } from "@sessions/core/format"
import { BYTES_FOR_TEXTS, type Rules } from "../shared/rules.ts"

/** The role, in `order`, of contents that have responses. */
export const RESPONSES = "responses"

export const RULES: Rules = {
  receiver: "Gemini",
  // No form is documented: https://ai.google.dev/api/caching#FunctionCall
  callId: {
    refused: /[^\x20-\x7e]/g,
    filler: "_",
    min: 1,
    max: 256,
    once: false,
    says: "ids of 256 characters at most",
  },
  // 64 characters of the Gemini API, https://ai.google.dev/api/caching#FunctionDeclaration; the first one of Vertex AI,
  // https://cloud.google.com/vertex-ai/generative-ai/docs/reference/rest/v1/FunctionDeclaration
  callName: {
    refused: /[^a-zA-Z0-9_.:-]/g,
    filler: "_",
    min: 1,
    max: 64,
    first: /^[a-zA-Z_]/,
    says: "names of letters, digits, `_`, `.`, `:` and `-`, a letter or `_` first, 64 at most",
  },
  // "Please ensure that function call turn comes immediately after a user turn or after a function response turn":
  // https://github.com/google-gemini/gemini-cli/issues/11814, https://github.com/google-gemini/gemini-cli/issues/26956. "Please ensure that multiturn
  // requests end with a user turn": https://github.com/continuedev/continue/issues/11164. A content with responses has nothing else:
  // https://github.com/sst/opencode/pull/43479
  order: { begins: "user", ends: "user", joined: ["user", "model", RESPONSES] },
  // https://ai.google.dev/gemini-api/docs/image-understanding, "Supported image formats"
  images: {
    types: ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"],
    maxTotal: REQUEST_LIMITS.gemini.bytes - BYTES_FOR_TEXTS,
  },
}

/**
 * Parts whose other half is a part of the same answer, by their ids: calls that Google's own tools have got and answered.
 * https://ai.google.dev/gemini-api/docs/tool-combination
 */
export const HOSTED = { call: "toolCall", result: "toolResponse" } as const

/**
 * Images that may be in the `parts` of a response, which models before Gemini 3 refuse: https://ai.google.dev/gemini-api/docs/function-calling,
 * https://github.com/google-gemini/gemini-cli/issues/19436, https://github.com/google-gemini/gemini-cli/issues/16995
 */
export const IN_RESPONSES: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/webp"])

/** Both alphabets of base64: https://github.com/google-gemini/gemini-cli/issues/14368 */
export const SIGNATURE: RegExp = /^(?:[A-Za-z0-9+/_-]{4})*(?:[A-Za-z0-9+/_-]{2,3}={0,2})?$/

/** For calls of other models: https://ai.google.dev/gemini-api/docs/thought-signatures */
export const FOREIGN_SIGNATURE = "skip_thought_signature_validator"

/** The version of a model such as `gemini-3-pro-preview`; 0 for another name. */
export function versionOf(model = ""): number {
  return Number(/gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1] ?? 0)
}
