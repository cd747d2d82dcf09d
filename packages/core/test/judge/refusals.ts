/** The words in which 21 providers refuse a request that is too long. `too-long.ts` has the pages and reports that quote them. */
type Words = (tokens: number, limit: number) => unknown

const api = (status: number, message: string, more: object = {}): unknown =>
  Object.assign(new Error(message), { status, ...more })

export const TOO_LONG: Readonly<Record<string, Words>> = {
  OpenAI: () =>
    api(400, "Your input exceeds the context window of this model. Please adjust your input and try again.", {
      code: "context_length_exceeded",
    }),
  "OpenAI Chat": (tokens, limit) =>
    api(
      400,
      `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${tokens} tokens.`,
    ),
  "OpenAI GPT-5": (tokens, limit) =>
    api(
      400,
      `Input tokens exceed the configured limit of ${limit} tokens. Your messages resulted in ${tokens} tokens.`,
    ),
  Anthropic: (tokens, limit) => api(400, `prompt is too long: ${tokens} tokens > ${limit} maximum`),
  Gemini: (tokens, limit) =>
    api(400, `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${limit}).`),
  Bedrock: () => api(400, "Input is too long for requested model.", { name: "ValidationException" }),
  xAI: (tokens, limit) =>
    api(400, `This model's maximum prompt length is ${limit} but the request contains ${tokens} tokens.`),
  "GitHub Copilot": (tokens, limit) => api(400, `prompt token count of ${tokens} exceeds the limit of ${limit}`),
  "Z.ai": () => api(400, "Prompt exceeds max length"),
  Ark: (tokens, limit) => api(400, `Input length ${tokens} exceeds the maximum length ${limit}`),
  Alibaba: (_, limit) =>
    api(400, `<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, ${limit}]`),
  Groq: () => api(400, "Please reduce the length of the messages or completion."),
  Cerebras: (tokens, limit) =>
    api(
      400,
      `Please reduce the length of the messages or completion. Current length is ${tokens} while limit is ${limit}`,
    ),
  Kimi: (tokens, limit) =>
    api(400, `Invalid request: Your request exceeded model token limit: ${limit} (requested: ${tokens})`),
  Mistral: (tokens, limit) =>
    api(
      400,
      `Prompt contains ${tokens} tokens and 0 draft tokens, too large for model with ${limit} maximum context length`,
    ),
  MiniMax: () => api(400, "invalid params, context window exceeds limit (2013)"),
  Together: (tokens, limit) =>
    api(400, `Input length ${tokens} exceeds the maximum allowed input length of ${limit} tokens.`),
  vLLM: (tokens, limit) => api(400, `Input length (${tokens}) exceeds model's maximum context length (${limit}).`),
  "llama.cpp": () => api(400, "the request exceeds the available context size, try increasing it"),
  "LM Studio": (tokens, limit) =>
    api(
      400,
      `The number of tokens to keep from the initial prompt is greater than the context length (n_keep: ${tokens}>= n_ctx: ${limit}).`,
    ),
  Ollama: (tokens, limit) => api(400, `prompt too long; exceeded max context length by ${tokens - limit} tokens`),
}

/** The request has too many bytes: Anthropic's word, and that of gateways in front of a provider. */
export const TOO_MANY_BYTES: readonly (() => unknown)[] = [
  () => api(413, "Request exceeds the maximum size", { type: "request_too_large" }),
  () => api(413, "Request Entity Too Large"),
]

/** Anthropic's words for too many images. github.com/anthropics/claude-code/issues/24541 (2026-02-09) */
export const TOO_MANY_IMAGES: readonly Words[] = [
  (images, limit) => api(400, `Too much media: 0 document pages + ${images} images > ${limit}`),
  (images, limit) => api(400, `too many images and documents: ${images} + 0 > ${limit}`),
]

/** A provider that is busy: no shorter request would help. */
export const BUSY: readonly (() => unknown)[] = [
  () => api(429, "Too many tokens, please wait before trying again."),
  () => api(529, "Overloaded"),
]
