/**
 * What the Chat Completions API takes, and in what the providers differ that have this API, too. Each rule has its source and the date on which it
 * was read there.
 */
import type { Form, IdForm, Images, Order, Rules } from "../shared/rules.ts"

/** The rules of a provider that has the Chat Completions API. */
export interface ChatRules extends Rules {
  /** Under which name the provider's answers are in the log. Default: that of the last answer of the conversation. */
  readonly provider?: string
  /** Fields that OpenAI does not have, of the message of an answer, and of a call: they go back to the provider that gave them. */
  readonly fields: readonly string[]
  readonly callFields: readonly string[]
  /** Fields of the first call of a message that has none of `callFields`, as those of other providers. */
  readonly foreignCall?: Readonly<Record<string, unknown>>
  /** Of an answer. */
  readonly maxCalls: number
  /** Answers have `reasoning_content`: those with calls, or all. `empty` is sent if an answer has none, as those of other providers. */
  readonly reasoning?: { readonly of: "calls" | "all"; readonly empty: string }
  /** Thinking goes back as parts of the content. */
  readonly thinkingParts: boolean
  /** Parts of an answer's content that OpenAI does not have go back to the provider that gave them. */
  readonly otherParts: boolean
  /** Custom tools, refusals and audio have places of their own. Elsewhere they are functions and texts. */
  readonly isOpenAI: boolean
  /** The system prompt and all system messages are one message at the beginning. */
  readonly systemFirst: boolean
  /** A content of texts is one text, and an answer of calls has the content "". */
  readonly joinsTexts: boolean
  /** Results have the name of their call. */
  readonly namesResults: boolean
  /** Images may be addresses, as imported messages have them. */
  readonly imageAddresses: boolean
}

/**
 * "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40": github.com/vercel/ai/issues/5171,
 * github.com/openclaw/openclaw/issues/4718 (2026-11-28).
 */
const CALL_ID: IdForm = {
  refused: /[^\x20-\x7e]/g,
  filler: "_",
  once: false,
  min: 1,
  max: 40,
  says: "ids of 40 characters at most",
}

/** Providers that name no limit. Kimi's own ids have the name of the function in them, which may have 64 characters. */
const LONG_CALL_ID: IdForm = { ...CALL_ID, max: 128, says: "ids of 128 characters at most" }

/** "Tool call id was … but must be a-z, A-Z, 0-9, with a length of 9": github.com/mistralai/mistral-common, validator.py (2026-11-28). */
const MISTRAL_CALL_ID: IdForm = {
  refused: /[^a-zA-Z0-9]/g,
  filler: "0",
  once: false,
  min: 9,
  max: 9,
  says: "ids of 9 letters and digits",
}

/** platform.openai.com/docs/api-reference/chat/create, `function.name` (2026-11-28). Mistral's validator has the same. */
const CALL_NAME: Form = {
  refused: /[^a-zA-Z0-9_-]/g,
  filler: "_",
  min: 1,
  max: 64,
  says: "letters, digits, `_` and `-`, 64 at most",
}

/** "function name is invalid, must start with a letter": github.com/MoonshotAI/kimi-cli/issues/1773 (2026-11-28). */
const KIMI_CALL_NAME: Form = {
  ...CALL_NAME,
  first: /^[a-zA-Z]/,
  says: "letters, digits, `_` and `-`, a letter first, 64 at most",
}

/** A letter or `_` first: github.com/kaitranntt/ccs/issues/25 (2026-11-28). */
const GEMINI_CALL_NAME: Form = {
  ...CALL_NAME,
  first: /^[a-zA-Z_]/,
  says: "letters, digits, `_` and `-`, a letter or `_` first, 64 at most",
}

/** platform.openai.com/docs/guides/images-vision (2026-11-28). */
const IMAGES: Images = { types: ["image/png", "image/jpeg", "image/webp", "image/gif"] }

/** OpenAI takes messages of any role behind those of any role but calls, which are followed by their results. */
const ANY_ORDER: Order = { begins: "any", ends: "any", joined: [] }

/**
 * The user and the assistant take turns, and the user is the first and the last. Templates of Mistral's models, github.com/charmbracelet/crush/issues/279,
 * and of Gemma; Perplexity: "user or tool message(s) should alternate with assistant message(s)" (2026-11-28).
 */
const TURNS: Order = { begins: "user", ends: "user", joined: ["user", "assistant"] }

/**
 * What providers are known to give, and to take from the one to which they gave it. Not `reasoning`, which nobody needs back without a dialect, and Groq
 * refuses for some models: github.com/vercel/ai/pull/8057, github.com/karthink/gptel/issues/774 (2026-11-28).
 */
const KNOWN_FIELDS = [
  "reasoning_content",
  "reasoning_details",
  "reasoning_opaque",
  "thinking_blocks",
  "extra_content",
] as const

/** Any provider with this API: OpenAI's limits, and fields go back to the provider that gave them. */
const ANY: ChatRules = {
  receiver: "The Chat Completions API",
  callId: CALL_ID,
  callName: CALL_NAME,
  order: ANY_ORDER,
  images: IMAGES,
  fields: KNOWN_FIELDS,
  callFields: ["extra_content"],
  // "Invalid 'messages[2].tool_calls': array too long": github.com/github/copilot-cli/issues/669 (2026-11-28).
  maxCalls: 128,
  thinkingParts: false,
  otherParts: true,
  isOpenAI: true,
  systemFirst: false,
  joinsTexts: false,
  namesResults: false,
  imageAddresses: true,
}

/** What most compatible providers have in common: no custom tools, refusals and audio, and texts instead of parts. */
const COMPATIBLE: ChatRules = {
  ...ANY,
  callId: LONG_CALL_ID,
  otherParts: false,
  isOpenAI: false,
  joinsTexts: true,
}

/** The providers of which the differences are known. */
export type ChatDialect = "openai" | "mistral" | "deepseek" | "kimi" | "openrouter" | "gemini" | "alternating"

/** The rules of each. A server with differences of its own is an object of rules: `{ ...CHAT_DIALECTS.alternating, provider: "my-server" }`. */
export const CHAT_DIALECTS: Readonly<Record<ChatDialect, ChatRules>> = {
  /** OpenAI itself: no fields of other providers. */
  openai: { ...ANY, receiver: "OpenAI", provider: "openai", fields: [], callFields: [], otherParts: false },

  /**
   * Its answers may have their thinking in parts of the content. Other fields are refused with 422, "Extra inputs are not permitted":
   * github.com/charmbracelet/crush/issues/1590. Order of roles, last role: github.com/mistralai/mistral-common, validator.py; "Unexpected role 'user'
   * after role 'tool'": github.com/BerriAI/litellm/issues/17761 (2026-11-28).
   */
  mistral: {
    ...COMPATIBLE,
    receiver: "Mistral",
    provider: "mistral",
    callId: MISTRAL_CALL_ID,
    order: { ...TURNS, answersResults: true },
    fields: [],
    callFields: [],
    thinkingParts: true,
    otherParts: true,
    systemFirst: true,
  },

  /**
   * `reasoning_content` of answers with calls comes back in all later requests, that of other answers is ignored:
   * api-docs.deepseek.com/guides/thinking_mode. Answers without the field are refused while the model thinks, "" is taken:
   * github.com/Hmbown/Codewhale v0.5.0, github.com/theopenco/llmgateway/pull/2093. Only deepseek-reasoner refused the field; it ended in July 2026. No
   * images: "unknown variant `image_url`, expected `text`", github.com/rikkahub/rikkahub/issues/1433 (2026-11-28).
   */
  deepseek: {
    ...COMPATIBLE,
    receiver: "DeepSeek",
    provider: "deepseek",
    order: { ...ANY_ORDER, ends: "user" },
    images: { types: [] },
    fields: ["reasoning_content"],
    callFields: [],
    reasoning: { of: "all", empty: "" },
  },

  /**
   * "thinking is enabled but reasoning_content is missing in assistant tool call message", also for "", not for " ":
   * github.com/theopenco/llmgateway/pull/2093, github.com/earendil-works/pi/issues/4179. Newer models want that of all answers:
   * platform.kimi.ai/docs/guide/use-kimi-k2-thinking-model (2026-11-28).
   */
  kimi: {
    ...COMPATIBLE,
    receiver: "Kimi",
    provider: "kimi",
    callName: KIMI_CALL_NAME,
    fields: ["reasoning_content"],
    callFields: [],
    reasoning: { of: "calls", empty: " " },
  },

  /**
   * `reasoning_details` come back as they were, in their order, or else `reasoning`:
   * openrouter.ai/docs/guides/best-practices/reasoning-tokens (2026-11-28). The provider behind it may be OpenAI, which takes ids of 40 characters.
   */
  openrouter: {
    ...COMPATIBLE,
    receiver: "OpenRouter",
    provider: "openrouter",
    callId: CALL_ID,
    fields: ["reasoning_details", "reasoning"],
    callFields: [],
  },

  /**
   * Google's endpoint of this API: the signature of a thought is in `extra_content.google.thought_signature` of the first call of an answer, and current
   * models refuse calls without one; the text stands for it in calls of other providers: ai.google.dev/gemini-api/docs/thought-signatures. Results
   * have a name, "function_response.name: Name cannot be empty": github.com/inference-gateway/inference-gateway/issues/181, which other servers refuse.
   * Images: no GIF, github.com/su-kaka/gcli2api/issues/297, and no addresses, github.com/BoundaryML/baml/issues/1548 (2026-11-28).
   */
  gemini: {
    ...COMPATIBLE,
    receiver: "Gemini",
    provider: "google",
    callName: GEMINI_CALL_NAME,
    order: TURNS,
    images: { types: ["image/png", "image/jpeg", "image/webp", "image/heic", "image/heif"] },
    imageAddresses: false,
    namesResults: true,
    fields: ["extra_content"],
    callFields: ["extra_content"],
    foreignCall: { extra_content: { google: { thought_signature: "skip_thought_signature_validator" } } },
    systemFirst: true,
  },

  /** Servers with a strict template: Gemma and others by llama.cpp, vLLM or LM Studio, and Perplexity. */
  alternating: {
    ...COMPATIBLE,
    receiver: "The server",
    order: { ...TURNS, answersResults: true },
    systemFirst: true,
  },
}

export function chatRules(
  dialect: ChatDialect | Partial<ChatRules> | undefined,
  provider: string | undefined,
): ChatRules {
  if (typeof dialect === "string") return CHAT_DIALECTS[dialect]
  // Who says that OpenAI receives the request has no fields of others for it.
  if (dialect === undefined && provider === "openai") return CHAT_DIALECTS.openai
  return dialect === undefined ? ANY : { ...ANY, ...dialect }
}
