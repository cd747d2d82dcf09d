/** The table of models: the most that a request may have, in tokens of input, bytes and images, by prefix of the model's name. */
import type { Diagnostic } from "../../format/diagnostics.ts"
import { REQUEST_LIMITS, type RequestLimits } from "../../format/request-limits.ts"

/**
 * Keys are prefixes of model names; the longest matching prefix wins. Case is ignored, and a dot between two digits is the same as a
 * hyphen.
 */
export type WindowTable = Readonly<Record<string, number>>

const CLAUDE: WindowTable = {
  // platform.claude.com/docs/en/models/overview, and the page of each model
  claude: 200_000,
}

const CLAUDE_LARGE: WindowTable = {
  "claude-fable": 1_000_000,
  "claude-haiku-5": 1_000_000,
  "claude-mythos": 1_000_000,
  "claude-opus-4.6": 1_000_000,
  "claude-opus-4.7": 1_000_000,
  "claude-opus-4.8": 1_000_000,
  "claude-opus-5": 1_000_000,
  "claude-sonnet-4.6": 1_000_000,
  "claude-sonnet-5": 1_000_000,
}

const OPENAI: WindowTable = {
  // developers.openai.com/api/docs/models; github.com/anomalyco/models.dev, models/openai. From GPT-5 on the page shows input and output
  // together (400,000 and 1,050,000), of which 128,000 are output: the API refuses more input than the rest,
  // github.com/cline/cline/issues/5474 (2025-08-09)
  "chatgpt-4o": 128_000,
  "gpt-3.5-turbo": 16_385,
  "gpt-4": 8_192,
  "gpt-4-0125": 128_000,
  "gpt-4-1106": 128_000,
  "gpt-4-32k": 32_768,
  "gpt-4-turbo": 128_000,
  "gpt-4.1": 1_047_576,
  "gpt-4.5": 128_000,
  "gpt-4o": 128_000,
  "gpt-5": 272_000,
  "gpt-5-chat": 128_000,
  "gpt-5.1-chat": 128_000,
  "gpt-5.2-chat": 128_000,
  "gpt-5.3-chat": 128_000,
  "gpt-5.3-codex-spark": 100_000,
  "gpt-5.4": 922_000,
  "gpt-5.4-mini": 272_000,
  "gpt-5.4-nano": 272_000,
  "gpt-5.5": 922_000,
  "gpt-5.6": 922_000,
  "gpt-6": 922_000,
  o1: 200_000,
  "o1-mini": 128_000,
  "o1-preview": 128_000,
  o3: 200_000,
  "o4-mini": 200_000,
}

const GEMINI: WindowTable = {
  // ai.google.dev/gemini-api/docs/models: input alone, 1,048,576 for some, 1,000,000 for others
  gemini: 1_000_000,
  "gemini-2.5-flash-image": 32_768,
  "gemini-3-pro-image": 65_536,
  "gemini-3.1-flash-image": 131_072,
}

const OTHERS: WindowTable = {
  // Served by others than OpenAI: huggingface.co/openai/gpt-oss-120b
  "gpt-oss": 131_072,
  // docs.x.ai/developers/models; the prompt alone, github.com/chenyme/grok2api/issues/693 (2026-07-18)
  "grok-3": 131_072,
  "grok-4": 256_000,
  "grok-4-fast": 2_000_000,
  "grok-4.1-fast": 2_000_000,
  "grok-4.20": 1_000_000,
  "grok-4.3": 1_000_000,
  "grok-4.5": 500_000,
  "grok-build": 256_000,
  "grok-code-fast": 256_000,
  // api-docs.deepseek.com/quick_start/pricing
  deepseek: 128_000,
  "deepseek-flash": 1_000_000,
  "deepseek-v4": 1_000_000,
  // docs.mistral.ai/getting-started/models
  codestral: 256_000,
  magistral: 128_000,
  "mistral-large": 128_000,
  "mistral-large-2512": 256_000,
  "mistral-large-3": 256_000,
  // platform.moonshot.ai/docs
  "kimi-k2": 131_072,
  "kimi-k2.5": 256_000,
  "kimi-k3": 1_000_000,
  // github.com/MiniMax-AI/MiniMax-M2/issues/119 (2026-05-29); of M3 not all hosts serve the documented 1,000,000,
  // github.com/anomalyco/models.dev/pull/2058 (2026-06-08)
  "minimax-m2": 200_000,
  "minimax-m3": 512_000,
  // docs.z.ai/guides/llm; 202,752 in a refusal, github.com/langgenius/dify/issues/32221 (2026-02-11)
  "glm-4.5": 128_000,
  "glm-4.6": 200_000,
  "glm-4.7": 200_000,
  "glm-5": 200_000,
  // www.alibabacloud.com/help/en/model-studio/models
  "qwen3.6-plus": 1_000_000,
}

/**
 * From the providers' pages, or from tables that repeat them (models.dev, Vercel, OpenRouter), looked up in November 2026. If they differ,
 * the smaller number: the session is then compacted earlier than necessary, never too late. A window that input and output share counts
 * without the largest output where the provider refuses a request with more input.
 */
export const WINDOWS: WindowTable = { ...CLAUDE, ...CLAUDE_LARGE, ...OPENAI, ...GEMINI, ...OTHERS }

/** The window that is assumed for a model without a row. */
export const DEFAULT_WINDOW = 200_000

/**
 * The window of a model in tokens; undefined if no row matches. The name may have the prefix of a router or a cloud, as in
 * `openai/gpt-4o`, `us.anthropic.claude-sonnet-4-5` and `xai:grok-4`. For equal prefixes the caller's row wins.
 */
export function windowOf(model: string | undefined, rows: WindowTable = {}): number | undefined {
  return longestMatch(model, [...Object.entries(rows), ...Object.entries(WINDOWS)])
}

/** The most bytes and images of a request to a model, which is found as {@link windowOf} finds it; undefined if they are not known. */
export function limitsOf(model: string | undefined): RequestLimits | undefined {
  const { anthropic, anthropicLarge, openai, gemini } = REQUEST_LIMITS
  const rows = (models: WindowTable, limits: RequestLimits | undefined): [string, RequestLimits | undefined][] =>
    Object.keys(models).map((prefix) => [prefix, limits])
  return longestMatch(model, [
    ...rows(CLAUDE, anthropic),
    ...rows(CLAUDE_LARGE, anthropicLarge),
    ...rows(OPENAI, openai),
    ...rows(GEMINI, gemini),
    // A longer prefix without limits wins over a shorter one.
    ...rows(OTHERS, undefined),
  ])
}

/** The value of the longest prefix of the name; of the first one, if several are equally long. */
function longestMatch<T>(model: string | undefined, rows: readonly (readonly [string, T])[]): T | undefined {
  const names = model === undefined ? [] : namesOf(spelling(model))
  let longest = -1
  let found: T | undefined
  for (const [prefix, value] of rows) {
    if (prefix.length <= longest || !names.some((name) => name.startsWith(spelling(prefix)))) continue
    longest = prefix.length
    found = value
  }
  return found
}

/** Says that the window of this model is assumed. */
export function unknownWindow(model: string): Diagnostic {
  const message = `The context window of the model ${JSON.stringify(model)} is not known; ${DEFAULT_WINDOW} tokens are assumed. Set contextWindow, or add the model to windows.`
  return { code: "unknown_window", message }
}

function spelling(name: string): string {
  return name.toLowerCase().replace(/(\d)\.(?=\d)/g, "$1-")
}

/** The name itself, and what follows each of its separators. */
function namesOf(name: string): readonly string[] {
  const starts = [...name.matchAll(/[/:.]/g)].map(({ index }) => index + 1)
  return [name, ...starts.map((start) => name.slice(start))]
}
