/** The most that APIs take in one request, in bytes and images; `limitsOf` also has the tokens of each model. */

/** Limits of one request to an API. A limit that is not known is missing. */
export interface RequestLimits {
  /** Size of the body, with texts in UTF-8 and images in base64. */
  readonly bytes?: number
  /** Images of all messages. */
  readonly images?: number
}

/** MB are 1,000,000 bytes, the smaller reading. Read in November 2026, if no other date is given. */
export const REQUEST_LIMITS: Readonly<Record<"anthropic" | "openai" | "gemini", Required<RequestLimits>>> &
  Readonly<Record<"anthropicLarge" | "bedrock" | "mistral" | "alibaba", RequestLimits>> = {
  // platform.claude.com/docs/en/api/overview ("Request size limits"), platform.claude.com/docs/en/build-with-claude/vision
  anthropic: { bytes: 32_000_000, images: 100 },
  /** With a window of more than 200,000 tokens. */
  anthropicLarge: { images: 600 },
  // docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-request-response.html
  bedrock: { bytes: 20_000_000 },
  // platform.openai.com/docs/guides/images-vision, "Image input requirements"
  openai: { bytes: 50_000_000, images: 500 },
  // ai.google.dev/gemini-api/docs/file-input-methods; 413 above 20 MB, firebase.google.com/docs/vertex-ai/input-file-requirements; images:
  // docs.cloud.google.com/vertex-ai/generative-ai/docs/multimodal/image-understanding
  gemini: { bytes: 20_000_000, images: 3_000 },
  // github.com/earendil-works/pi/pull/120 (2025-12-16)
  mistral: { images: 8 },
  // "Exceeded limit on max bytes to request body : 6291456", github.com/anomalyco/opencode/issues/35112 (2026-07-03)
  alibaba: { bytes: 6_291_456 },
}
