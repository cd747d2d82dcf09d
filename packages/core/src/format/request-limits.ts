/** The most that providers take in one request, in bytes and images; `windowOf` has the tokens of each model. */

/** What a provider takes in one request. */
export interface RequestLimits {
  /** Of the body, with texts in UTF-8 and images in base64. */
  readonly bytes: number
  /** Images of all messages. */
  readonly images: number
}

/**
 * Of the APIs that the programs of a provider's models call; clouds may take less. MB are 1,000,000 bytes, the smaller reading. Read in
 * November 2026.
 */
export const REQUEST_LIMITS: Readonly<Record<"anthropic" | "anthropicLarge" | "openai" | "gemini", RequestLimits>> = {
  // platform.claude.com/docs/en/api/overview ("Request size limits"), platform.claude.com/docs/en/build-with-claude/vision
  anthropic: { bytes: 32_000_000, images: 100 },
  /** With a window of more than 200,000 tokens. */
  anthropicLarge: { bytes: 32_000_000, images: 600 },
  // platform.openai.com/docs/guides/images-vision, "Image input requirements"
  openai: { bytes: 50_000_000, images: 500 },
  // ai.google.dev/gemini-api/docs/file-input-methods; 413 above 20 MB, firebase.google.com/docs/vertex-ai/input-file-requirements; images:
  // docs.cloud.google.com/vertex-ai/generative-ai/docs/multimodal/image-understanding
  gemini: { bytes: 20_000_000, images: 3_000 },
}
