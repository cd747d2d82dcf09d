import { expect, test } from "vitest"
import { isTooLong, refusalOf } from "./refusals.ts"

/** What providers say; the sources are with the patterns. */
const REFUSALS: Readonly<Record<string, string>> = {
  OpenAI: "Your input exceeds the context window of this model. Please adjust your input and try again.",
  "OpenAI Chat":
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 173172 tokens.",
  "OpenAI GPT-5": "Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 289650 tokens.",
  "OpenAI, above a minute's tokens":
    "Request too large for gpt-4o in organization org-1 on tokens per min (TPM): Limit 30000, Requested 40000.",
  Anthropic: "prompt is too long: 213462 tokens > 200000 maximum",
  "Anthropic with max_tokens":
    "input length and `max_tokens` exceed context limit: 195000 + 8192 > 200000, decrease input length or `max_tokens`",
  "Anthropic by bytes": "request_too_large: Request exceeds the maximum size",
  Gemini: "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
  Bedrock: "Input is too long for requested model.",
  "Bedrock Llama": "This model's maximum context length is 8192 tokens. Please reduce the length of the prompt",
  xAI: "This model's maximum prompt length is 131072 but the request contains 136973 tokens.",
  "GitHub Copilot": "prompt token count of 146270 exceeds the limit of 128000",
  "Z.ai": "Prompt exceeds max length",
  "Z.ai 1210": "tokens in request more than max tokens allowed",
  Ark: "Input length 203743 exceeds the maximum length 202752",
  Alibaba: "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]",
  Groq: "Please reduce the length of the messages or completion.",
  "Groq above a minute's tokens":
    "Request too large for model `llama-3.3-70b-versatile` on tokens per minute (TPM): Limit 6000, Requested 14810, please reduce your message size and try again.",
  Cerebras: "Please reduce the length of the messages or completion. Current length is 42328 while limit is 40000",
  Kimi: "Invalid request: Your request exceeded model token limit: 262144 (requested: 265359)",
  "Kimi, older": "Input token length too long",
  Mistral: "Prompt contains 150000 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
  MiniMax: "invalid params, context window exceeds limit (2013)",
  Together: "Input length 131393 exceeds the maximum allowed input length of 131040 tokens.",
  "Together, older": "Input validation error: inputs must have less than 4097 tokens. Given: 5000",
  "Text Generation Inference":
    "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 512 `max_new_tokens`",
  OpenRouter: "This endpoint's maximum context length is 204800 tokens. However, you requested about 309977 tokens.",
  Cloudflare:
    "The estimated number of input and maximum output tokens (35012) exceeded this model context window limit (32768).",
  vLLM: "Input length (265330) exceeds model's maximum context length (262144).",
  "llama.cpp": "the request exceeds the available context size, try increasing it",
  "LM Studio":
    "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 4096).",
  "LM Studio, older":
    "Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens, which is not enough.",
  Ollama: "prompt too long; exceeded max context length by 4 tokens",
}

/** Too many images: what is said, and the numbers in it. */
const IMAGES: Readonly<Record<string, { readonly count?: number; readonly limit?: number }>> = {
  "Too much media: 0 document pages + 107 images > 100": { count: 107, limit: 100 },
  "too many images and documents: 104 + 1 > 100": { count: 105, limit: 100 },
  "Too many images in request. Max is 10.": { limit: 10 },
  "Too many images in request: 11 images provided, but the model supports a maximum of 10 images.": {
    count: 11,
    limit: 10,
  },
  "too many URL images in request (max 20)": { limit: 20 },
  "request contains 52 images, exceeding the maximum of 50 allowed per request": { count: 52, limit: 50 },
  "At most 5 image(s) may be provided in one request.": { limit: 5 },
}

/** What is said of other things; a shorter request would not help. */
const OTHERS: Readonly<Record<string, string>> = {
  "Bedrock's throttling": "Too many tokens, please wait before trying again.",
  "Bedrock's day": "ThrottlingException: Too many tokens per day, please wait before trying again.",
  "OpenAI's rate limit":
    "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Used 29000, Requested 2000. Please try again in 2s.",
  "OpenAI's quota": "You exceeded your current quota, please check your plan and billing details.",
  "Anthropic's rate limit":
    "This request would exceed your organization's rate limit of 40,000 input tokens per minute. For details, refer to the documentation.",
  "Copilot's usage": "rate_limited: Sorry, you have exceeded your Copilot token usage.",
  "an answer that may not be so long":
    "max_tokens is too large: 100000. This model supports at most 16384 completion tokens.",
  "a long id":
    "Invalid 'input[3].id': string too long. Expected a string with maximum length 64, but got a string with length 70.",
  "an image that is too large": "Could not process image: image dimensions exceed max allowed size",
  overloaded: "Overloaded",
  "a wrong key": "invalid token",
}

/** The forms in which clients throw a provider's sentence. */
const FORMS: Readonly<Record<string, (text: string, status: number) => unknown>> = {
  "an error": (text) => new Error(text),
  "a text": (text) => text,
  "an API error": (text, status) => Object.assign(new Error(`${status} ${text}`), { status }),
  "the AI SDK": (text, statusCode) =>
    Object.assign(new Error("Bad Request"), { statusCode, responseBody: JSON.stringify({ error: { message: text } }) }),
  "a gateway": (text) => Object.assign(new Error("Provider returned error"), { error: { metadata: { raw: text } } }),
  "an error in an error": (text) => ({ message: "failed", error: new Error(text) }),
  "a cause": (text) => new Error("not compacted", { cause: new Error("no answer", { cause: new Error(text) }) }),
}

test("the refusal of each provider is recognized, however its client throws it", () => {
  for (const form of Object.values(FORMS))
    for (const [provider, text] of Object.entries(REFUSALS))
      expect([provider, isTooLong(form(text, 400))]).toEqual([provider, true])
})

test("throttling and errors of other kinds are not a refusal for the length, though they speak of tokens too", () => {
  for (const form of Object.values(FORMS))
    for (const [what, text] of Object.entries(OTHERS)) expect([what, isTooLong(form(text, 400))]).toEqual([what, false])
})

test("a refusal of too many images is known, with its numbers; it says nothing of the tokens", () => {
  for (const form of Object.values(FORMS))
    for (const [text, numbers] of Object.entries(IMAGES)) {
      expect([text, isTooLong(form(text, 400))]).toEqual([text, true])
      expect(refusalOf(form(text, 400))).toEqual({ kind: "images", ...numbers })
    }
})

test("the status decides: a payload too large is refused for its length, too many requests and a wrong key are not", () => {
  expect(isTooLong(Object.assign(new Error("failed"), { status: 413 }))).toBe(true)
  expect(isTooLong({ statusCode: 413 })).toBe(true)
  expect(isTooLong(Object.assign(new Error("Too many tokens"), { status: 429 }))).toBe(false)
  expect(isTooLong(Object.assign(new Error("The token has exceeded its lifetime"), { status: 401 }))).toBe(false)
  expect(isTooLong(Object.assign(new Error("400"), { code: "context_length_exceeded" }))).toBe(true)
})

test("a request that alone is above the tokens of a minute is too long, though it is refused as a rate limit", () => {
  const text = REFUSALS["OpenAI, above a minute's tokens"]
  expect(isTooLong(Object.assign(new Error(text), { status: 429, code: "rate_limit_exceeded" }))).toBe(true)
})

test("values without a message, and cyclic ones, are not recognized", () => {
  const circle = new Error("busy")
  circle.cause = circle
  const inside: Record<string, unknown> = {}
  inside["error"] = inside
  for (const error of [undefined, null, 5, circle, inside, {}, { status: 429 }]) expect(isTooLong(error)).toBe(false)
})

test("a proxy that names only the status 413 has refused the bytes; one that counts tokens has not", () => {
  const page = "413 <html><head><title>413 Request Entity Too Large</title></head></html>"
  expect(refusalOf(Object.assign(new Error(page), { status: 413 }))).toEqual({ kind: "bytes" })
  const minute = "Request too large for model `m` on tokens per minute (TPM): Limit 6000, Requested 7000"
  expect(refusalOf(Object.assign(new Error(minute), { status: 413 }))).toEqual({ kind: "tokens" })
})
