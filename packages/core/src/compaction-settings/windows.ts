/** The table of models: the most input that a request may have, in tokens, bytes and images, by prefix of the model's name. */
import type { Selection } from "../context/select.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import { REQUEST_LIMITS, type RequestLimits } from "../format/request-limits.ts"

/**
 * Keys are prefixes of model names; the longest matching prefix wins. Case is ignored, and a dot between two digits is the same as a
 * hyphen.
 */
export type WindowTable = Readonly<Record<string, number>>

/** The most input of a request. A limit that is not known is missing. */
export interface InputLimits extends RequestLimits {
  readonly tokens?: number
}

/**
 * From the providers' pages, or from tables that repeat them (models.dev, Vercel, OpenRouter), looked up in November 2026. If they differ,
 * the smaller number: the session is then compacted earlier than necessary, never too late. A window that input and output share counts
 * without the largest output where the provider refuses a request with more input. Bytes and images are those of the API, with their sources
 * in `format/request-limits.ts`; a longer row without them has those of a shorter one.
 */
export const LIMITS: Readonly<Record<string, InputLimits>> = {
  // platform.claude.com/docs/en/models/overview, and the page of each model
  claude: { tokens: 200_000, ...REQUEST_LIMITS.anthropic },
  "claude-fable": { tokens: 1_000_000, ...REQUEST_LIMITS.anthropicLarge },
  "claude-haiku-5": { tokens: 1_000_000, ...REQUEST_LIMITS.anthropicLarge },
  "claude-mythos": { tokens: 1_000_000, ...REQUEST_LIMITS.anthropicLarge },
  "claude-opus-4.6": { tokens: 1_000_000, ...REQUEST_LIMITS.anthropicLarge },
  "claude-opus-4.7": { tokens: 1_000_000, ...REQUEST_LIMITS.anthropicLarge },
  "claude-opus-4.8": { tokens: 1_000_000, ...REQUEST_LIMITS.anthropicLarge },
  "claude-opus-5": { tokens: 1_000_000, ...REQUEST_LIMITS.anthropicLarge },
  "claude-sonnet-4.6": { tokens: 1_000_000, ...REQUEST_LIMITS.anthropicLarge },
  "claude-sonnet-5": { tokens: 1_000_000, ...REQUEST_LIMITS.anthropicLarge },
  // as Bedrock names them
  "anthropic.claude": REQUEST_LIMITS.bedrock,
  // developers.openai.com/api/docs/models; github.com/anomalyco/models.dev, models/openai. From GPT-5 on the page shows input and output
  // together (400,000 and 1,050,000), of which 128,000 are output: the API refuses more input than the rest,
  // github.com/cline/cline/issues/5474 (2025-08-09)
  "chatgpt-4o": { tokens: 128_000, ...REQUEST_LIMITS.openai },
  "gpt-3.5-turbo": { tokens: 16_385, ...REQUEST_LIMITS.openai },
  "gpt-4": { tokens: 8_192, ...REQUEST_LIMITS.openai },
  "gpt-4-0125": { tokens: 128_000 },
  "gpt-4-1106": { tokens: 128_000 },
  "gpt-4-32k": { tokens: 32_768 },
  "gpt-4-turbo": { tokens: 128_000 },
  "gpt-4.1": { tokens: 1_047_576 },
  "gpt-4.5": { tokens: 128_000 },
  "gpt-4o": { tokens: 128_000 },
  "gpt-5": { tokens: 272_000, ...REQUEST_LIMITS.openai },
  "gpt-5-chat": { tokens: 128_000 },
  "gpt-5.1-chat": { tokens: 128_000 },
  "gpt-5.2-chat": { tokens: 128_000 },
  "gpt-5.3-chat": { tokens: 128_000 },
  "gpt-5.3-codex-spark": { tokens: 100_000 },
  "gpt-5.4": { tokens: 922_000 },
  "gpt-5.4-mini": { tokens: 272_000 },
  "gpt-5.4-nano": { tokens: 272_000 },
  "gpt-5.5": { tokens: 922_000 },
  "gpt-5.6": { tokens: 922_000 },
  "gpt-6": { tokens: 922_000, ...REQUEST_LIMITS.openai },
  "gpt-oss": { tokens: 131_072 },
  o1: { tokens: 200_000, ...REQUEST_LIMITS.openai },
  "o1-mini": { tokens: 128_000 },
  "o1-preview": { tokens: 128_000 },
  o3: { tokens: 200_000, ...REQUEST_LIMITS.openai },
  "o4-mini": { tokens: 200_000, ...REQUEST_LIMITS.openai },
  // ai.google.dev/gemini-api/docs/models: input alone, 1,048,576 for some, 1,000,000 for others
  gemini: { tokens: 1_000_000, ...REQUEST_LIMITS.gemini },
  "gemini-2.5-flash-image": { tokens: 32_768 },
  "gemini-3-pro-image": { tokens: 65_536, images: 14 },
  "gemini-3.1-flash-image": { tokens: 131_072 },
  // docs.x.ai/developers/models; the prompt alone, github.com/chenyme/grok2api/issues/693 (2026-07-18)
  "grok-3": { tokens: 131_072 },
  "grok-4": { tokens: 256_000 },
  "grok-4-fast": { tokens: 2_000_000 },
  "grok-4.1-fast": { tokens: 2_000_000 },
  "grok-4.20": { tokens: 1_000_000 },
  "grok-4.3": { tokens: 1_000_000 },
  "grok-4.5": { tokens: 500_000 },
  "grok-build": { tokens: 256_000 },
  "grok-code-fast": { tokens: 256_000 },
  // api-docs.deepseek.com/quick_start/pricing
  deepseek: { tokens: 128_000 },
  "deepseek-flash": { tokens: 1_000_000 },
  "deepseek-v4": { tokens: 1_000_000 },
  // docs.mistral.ai/getting-started/models
  codestral: { tokens: 256_000, ...REQUEST_LIMITS.mistral },
  magistral: { tokens: 128_000, ...REQUEST_LIMITS.mistral },
  "mistral-large": { tokens: 128_000, ...REQUEST_LIMITS.mistral },
  "mistral-large-2512": { tokens: 256_000 },
  "mistral-large-3": { tokens: 256_000 },
  // platform.moonshot.ai/docs
  "kimi-k2": { tokens: 131_072 },
  "kimi-k2.5": { tokens: 256_000 },
  "kimi-k3": { tokens: 1_000_000 },
  // github.com/MiniMax-AI/MiniMax-M2/issues/119 (2026-05-29); of M3 not all hosts serve the documented 1,000,000,
  // github.com/anomalyco/models.dev/pull/2058 (2026-06-08)
  "minimax-m2": { tokens: 200_000 },
  "minimax-m3": { tokens: 512_000 },
  // docs.z.ai/guides/llm; 202,752 in a refusal, github.com/langgenius/dify/issues/32221 (2026-02-11)
  "glm-4.5": { tokens: 128_000 },
  "glm-4.6": { tokens: 200_000 },
  "glm-4.7": { tokens: 200_000 },
  "glm-5": { tokens: 200_000 },
  // www.alibabacloud.com/help/en/model-studio/models
  "qwen3.6-plus": { tokens: 1_000_000, ...REQUEST_LIMITS.alibaba },
}

/** The window that is assumed for a model without a row. */
export const DEFAULT_WINDOW = 200_000

/**
 * The limits of a model, each by the longest row that has it; without those that no row has. The name may have the prefix of a router or a
 * cloud, as in `openai/gpt-4o`, `us.anthropic.claude-sonnet-4-5` and `xai:grok-4`. For equal prefixes the caller's row wins.
 */
export function limitsOf(model: string | undefined, windows: WindowTable = {}): InputLimits {
  const names = model === undefined ? [] : namesOf(spelling(model))
  const own = Object.entries(windows).map(([prefix, tokens]): [string, InputLimits] => [prefix, { tokens }])
  const rows = [...Object.entries(LIMITS), ...own].filter(([prefix]) =>
    names.some((name) => name.startsWith(spelling(prefix))),
  )
  return Object.assign({}, ...rows.sort(([a], [b]) => a.length - b.length).map(([, limits]) => limits)) as InputLimits
}

/** The window of a model in tokens, as {@link limitsOf} finds it; undefined if no row matches. */
export function windowOf(model: string | undefined, windows: WindowTable = {}): number | undefined {
  return limitsOf(model, windows).tokens
}

/** The settings that say which window a model has. */
interface WindowSettings {
  readonly contextWindow?: number | undefined
  readonly windows: WindowTable
}

/** Those of all layers, the weakest first. */
export function windowSettings(layers: readonly (Partial<WindowSettings> | undefined)[]): WindowSettings {
  const contextWindow = layers.findLast((layer) => layer?.contextWindow !== undefined)?.contextWindow
  const windows = Object.assign({}, ...layers.map((layer) => layer?.windows)) as WindowTable
  return { ...(contextWindow === undefined ? {} : { contextWindow }), windows }
}

/** The window of the settings, else that of the current model; undefined if neither is known. */
export function knownWindow(
  { state }: Pick<Selection, "state">,
  { contextWindow, windows }: WindowSettings,
): number | undefined {
  return contextWindow ?? windowOf(state.models["default"]?.model, windows)
}

/** That window, else an assumed one, with the current model. */
export function windowAt(
  selection: Pick<Selection, "state">,
  settings: WindowSettings,
): { readonly window: number; readonly unknownModel?: string } {
  const window = knownWindow(selection, settings)
  if (window !== undefined) return { window }
  const model = selection.state.models["default"]?.model
  return { window: DEFAULT_WINDOW, ...(model === undefined ? {} : { unknownModel: model }) }
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
