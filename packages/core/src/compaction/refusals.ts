/**
 * Detects that a model rejected a request as too long. Providers have no common code for it, so the error text is matched. A provider
 * that asks to wait is busy: a shorter request would not help.
 */
import type { Fields } from "../format/shape.ts"

/** The sentences of refusals, with the page of the provider or a report that quotes them. All were looked up in November 2026. */
const REFUSALS: readonly RegExp[] = [
  // OpenAI and servers with its API, such as vLLM, OpenRouter and Bedrock's Llama: "This model's maximum context length is 8192 tokens";
  // "Your input exceeds the context window of this model"; context_length_exceeded. developers.openai.com/api/docs/guides/error-codes
  /context[_ -]?(?:length|window)|(?:maximum|max|available|configured) context/,
  // OpenAI, GPT-5: "Input tokens exceed the configured limit of 272000 tokens." github.com/cline/cline/issues/5474 (2025-08-09)
  // Cloudflare: "The estimated number of input and maximum output tokens (35012) exceeded this model context window limit"
  // Kimi: "Your request exceeded model token limit: 262144". platform.moonshot.ai/docs/api/errors
  // Gemini: "The input token count (1196265) exceeds the maximum number of tokens allowed". ai.google.dev/gemini-api/docs/troubleshooting
  // GitHub Copilot: "prompt token count of 146270 exceeds the limit of 128000". github.com/microsoft/vscode/issues/289514 (2026-01-21)
  /tokens?(?: \w+){0,6}? (?:\(\d+\) )?(?:exceed|surpass)|(?:exceed|surpass)\w* .{0,60}token/,
  // Anthropic: "prompt is too long: 213462 tokens > 200000 maximum"; "input length and `max_tokens` exceed context limit"; code
  // request_too_large. platform.claude.com/docs/en/api/errors
  // Bedrock: "Input is too long for requested model." docs.aws.amazon.com/bedrock/latest/userguide/troubleshooting-api-error-codes.html
  // Ollama: "prompt too long; exceeded max context length by 4 tokens"
  /(?:prompt|input|request|conversation|messages?)(?: token length)?(?: is| are)? (?:\w+ )?too (?:long|large)|too (?:long|large) for (?:the |this |requested )?model|request_too_large/,
  /exceed context limit|request exceeds the maximum size/,
  // xAI: "This model's maximum prompt length is 131072 but the request contains 136973 tokens." github.com/cline/cline/issues/3120 (2025-04-25)
  // Z.ai: "Prompt exceeds max length". github.com/zeroclaw-labs/zeroclaw/issues/4124 (2026-03-21)
  // Ark: "Input length 203743 exceeds the maximum length 202752". github.com/langgenius/dify/issues/32221 (2026-02-11)
  // Together: "Input length 131393 exceeds the maximum allowed input length of 131040 tokens."
  /maximum (?:prompt|input) length|(?:prompt|input)(?: length \d+)? exceeds (?:the )?max/,
  // Z.ai: "tokens in request more than max tokens allowed". github.com/anomalyco/opencode/issues/27629 (2026)
  /tokens in request more than max/,
  // Alibaba: "Range of input length should be [1, 129024]". alibabacloud.com/help/model-studio/error-code (2026-09-28)
  /range of input length/,
  // Groq: "Please reduce the length of the messages or completion." github.com/OpenHands/OpenHands/issues/1902 (2024-05-19)
  // Cerebras adds "Current length is 42328 while limit is 40000". github.com/cline/cline/issues/5140 (2025-07-24)
  /reduce the length of (?:the|your) (?:messages|prompt|input)/,
  // LM Studio: "The number of tokens to keep from the initial prompt is greater than the context length"; "the model is loaded with
  // context length of only 32768 tokens, which is not enough". github.com/lmstudio-ai/lmstudio-bug-tracker/issues/546 (2025-03-24)
  // llama.cpp: "the request exceeds the available context size"; exceed_context_size_error. Its tools/server
  /context[_ ]size/,
  // Mistral: "Prompt contains 150000 tokens and 0 draft tokens, too large for model with 131072 maximum context length"
  /tokens.{0,40}too large for model/,
  // MiniMax: "invalid params, context window exceeds limit (2013)". github.com/MiniMax-AI/MiniMax-M2/issues/119 (2026-05-04)
  // Text Generation Inference: "`inputs` tokens + `max_new_tokens` must be <= 8193"; "`inputs` must have less than 4097 tokens. Given:
  // 5000" (Together too). github.com/huggingface/text-generation-inference, router/src/validation.rs
  /inputs?`? must have (?:less|fewer) than \d+ tokens|inputs?`? tokens \+ `?max_new_tokens/,
  // Other gateways.
  /too many (?:input |prompt |total )?tokens|token (?:limit|count) exceed|max_prompt_tokens_exceeded/,
]

/**
 * OpenAI and Groq refuse a request that alone is above the tokens of a minute, as a rate limit: no wait helps. "Request too large for
 * gpt-4o … on tokens per min (TPM): Limit 30000, Requested 40000." developers.openai.com/api/docs/guides/rate-limits;
 * github.com/ITSpecialist111/ai_automation_suggester/issues/61 (2025-03-31)
 */
const ALONE_TOO_LARGE = /request too large for/

/**
 * Bedrock's throttling: "Too many tokens, please wait before trying again." github.com/anthropics/claude-code/issues/236 (2025-02-28).
 * OpenAI's: "Rate limit reached for gpt-4o … on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000."
 */
const THROTTLED =
  /throttl|please wait|rate[_ -]?limit|too many (?:requests|tokens per)|quota|try again (?:in|later)|slow down/

/**
 * Too many images in one request. Anthropic: "Too much media: 0 document pages + 107 images > 100"; "too many images and documents: 120 + 0
 * > 100". github.com/anthropics/claude-code/issues/24541 (2026-02-09)
 * Azure: "Too many images in request. Max is 10." github.com/the-open-agent/openagent/issues/874 (2024-06-27)
 * GitHub Copilot: "Too many images in request: 11 images provided, but the model supports a maximum of 10 images."
 * github.com/microsoft/vscode/issues/306919 (2026-03-31); "too many URL images in request (max 20)", issues/310937 (2026-04-17)
 * opencode's provider: "request contains 52 images, exceeding the maximum of 50 allowed per request".
 * github.com/anomalyco/opencode/issues/47721 (2026-09-07)
 * vLLM: "At most 5 image(s) may be provided in one request." github.com/vllm-project/vllm/issues/17092 (2025-04-24)
 */
const IMAGES = /too much media|too many (?:url )?images|request contains \d+ images|at most \d+ image/

/** "Payload too large". */
const TOO_LARGE = 413
/** A wrong key, or too many requests. The length does not matter. */
const OTHERS: ReadonlySet<unknown> = new Set([401, 403, 429])
/** Errors wrap their causes; a longer chain is taken for a loop. */
const LAYERS = 8

/**
 * Whether a provider has refused a request because it is too long for the model, or has too many images, by the message, the code and the
 * status of an error and of its causes. False for throttling, which says "too many tokens" as well, unless the request alone is above the limit.
 */
export function isTooLong(error: unknown): boolean {
  let current = error
  for (let layer = 0; layer < LAYERS && current !== undefined && current !== null; layer++) {
    const verdict = verdictOf(current)
    if (verdict !== undefined) return verdict
    current = (current as Fields)["cause"]
  }
  return false
}

/** The limit that a request was refused for. */
export interface Refusal {
  readonly kind: "tokens" | "bytes" | "images"
  /** Tokens or images of the request, if the provider names them. */
  readonly count?: number
  /** The most images of a request, if the provider names it. */
  readonly limit?: number
}

/** Anthropic above 32 MB: request_too_large, status 413. Others: "Request payload size exceeds the limit: 20971520 bytes." (Gemini) */
const BYTES = /request_too_large|request exceeds the maximum size|payload|\bbytes\b/

const TOKENS = /token|context|prompt/

/** The tokens of the input, from the sentences above. */
const COUNTS: readonly RegExp[] = [
  /prompt is too long: (\d+) tokens/,
  /token count (?:of )?\(?(\d+)/,
  /\((\d+) in the messages/,
  /messages resulted in (\d+) tokens/,
  /(?:request|prompt) contains (\d+) tokens/,
  /input length (\d+)/,
  /current length is (\d+)/,
]

/** The refusal that an error tells of; undefined if it is no such refusal, see {@link isTooLong}. */
export function refusalOf(error: unknown): Refusal | undefined {
  if (!isTooLong(error)) return undefined
  const said: string[] = []
  const statuses: unknown[] = []
  let current = error
  for (let layer = 0; layer < LAYERS && current !== undefined && current !== null; layer++) {
    const { text: words, status } = textOfLayer(current)
    said.push(words)
    statuses.push(...status)
    current = (current as Fields)["cause"]
  }
  const text = said.join("\n")
  if (IMAGES.test(text)) return { kind: "images", ...imagesIn(text) }
  const count = COUNTS.map((words) => Number(words.exec(text)?.[1])).find((number) => number > 0)
  if (count !== undefined) return { kind: "tokens", count }
  // A proxy says no more than the status, and counts no tokens.
  const isBody = BYTES.test(text) || (statuses.includes(TOO_LARGE) && !TOKENS.test(text))
  return { kind: isBody ? "bytes" : "tokens" }
}

/** Anthropic counts the pages of documents as well. */
function imagesIn(text: string): Omit<Refusal, "kind"> {
  const [, pages, images, most] = /(\d+)(?: document pages)? \+ (\d+)(?: images)? > (\d+)/.exec(text) ?? []
  const count = images === undefined ? /(\d+) images(?: provided)?,/.exec(text)?.[1] : Number(pages) + Number(images)
  const limit = most ?? /(?:max(?:imum)?(?: is| of)?|at most) (\d+)/.exec(text)?.[1]
  return {
    ...(count === undefined ? {} : { count: Number(count) }),
    ...(limit === undefined ? {} : { limit: Number(limit) }),
  }
}

function textOfLayer(error: unknown): { readonly text: string; readonly status: readonly unknown[] } {
  const fields: Fields = typeof error === "string" ? { message: error } : (error as Fields)
  const { message, code, type, name, status, statusCode } = fields
  const words = [message, code, type, name, nestedOf(fields)].filter((text) => typeof text === "string").join("\n")
  return { text: words.slice(0, LONGEST_TEXT).toLowerCase(), status: [status, statusCode] }
}

/** Undefined: this layer says nothing of the length. */
function verdictOf(error: unknown): boolean | undefined {
  const { text, status } = textOfLayer(error)
  if (ALONE_TOO_LARGE.test(text)) return true
  if (status.some((one) => OTHERS.has(one)) || THROTTLED.test(text)) return false
  if (status.includes(TOO_LARGE)) return true
  return IMAGES.test(text) || REFUSALS.some((words) => words.test(text)) ? true : undefined
}

/** Clients keep the answer of the provider as `{ error: { message, code } }`, as its text, or as its fields. */
function nestedOf({ error, body, responseBody }: Fields): string | undefined {
  const inner = typeof error === "object" ? error : (body ?? responseBody)
  if (typeof inner !== "object" || inner === null) return typeof inner === "string" ? inner : undefined
  try {
    // The message of an error is not in its JSON.
    return `${String((inner as Fields)["message"])}\n${JSON.stringify(inner)}`
  } catch {
    return undefined
  }
}

/** UTF-16 units. A gateway may answer with a page, or with the request itself. */
const LONGEST_TEXT = 10_000
