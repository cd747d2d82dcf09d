/**
 * The state of a conversation: what its path says besides messages. Folded forwards, entry by entry; tombstones and edits never
 * change it, so that a fold that starts at a compaction's stored state gives what a fold from the root gives.
 */
import type { ContextState, Entry, MessageEntry, ModelRef } from "../format/records.ts"

export const THINKING_DEFAULT = "off"
export const MODE_DEFAULT = "none"

/** The state before the first entry. Headers of older logs may name a model and a thinking level; they hold until an entry does. */
export function initialState(header?: Readonly<Record<string, unknown>>): ContextState {
  const { provider, modelId, thinkingLevel, systemPromptOverride } = header ?? {}
  const named = typeof provider === "string" && typeof modelId === "string"
  return {
    thinkingLevel: typeof thinkingLevel === "string" ? thinkingLevel : THINKING_DEFAULT,
    models: named ? { default: { provider, model: modelId } } : {},
    modelIsExplicit: false,
    mode: MODE_DEFAULT,
    injectedTtsrRules: [],
    ...(typeof systemPromptOverride === "string" ? { systemPromptOverride } : {}),
  }
}

/** Folds entries, in path order, onto a state. Entries whose payload is not of their type's shape change nothing. */
export function foldState(path: Iterable<Entry>, start: ContextState = initialState()): ContextState {
  let state = start
  for (const entry of path) state = foldEntry(state, entry)
  return state
}

/** The stored state of a compaction, where it has one that can be used. */
export function storedState(entry: Entry): ContextState | undefined {
  if (entry.type !== "compaction") return undefined
  const state = entry["state"] as Partial<ContextState> | undefined
  const usable =
    isObject(state) &&
    typeof state.thinkingLevel === "string" &&
    typeof state.mode === "string" &&
    typeof state.modelIsExplicit === "boolean" &&
    isObject(state.models) &&
    Object.values(state.models).every(isModelRef) &&
    Array.isArray(state.injectedTtsrRules) &&
    (state.systemPromptOverride === undefined || typeof state.systemPromptOverride === "string")
  return usable ? (state as ContextState) : undefined
}

function foldEntry(state: ContextState, entry: Entry): ContextState {
  switch (entry.type) {
    case "message":
      return foldMessage(state, entry as MessageEntry)
    case "thinking_level_change": {
      const { thinkingLevel } = entry as Record<string, unknown>
      return typeof thinkingLevel === "string" ? { ...state, thinkingLevel } : state
    }
    case "model_change": {
      const { provider, model, role = "default" } = entry as Record<string, unknown>
      if (typeof provider !== "string" || typeof model !== "string" || typeof role !== "string") return state
      const models = withModel(state.models, role, { provider, model })
      return { ...state, models, modelIsExplicit: state.modelIsExplicit || role === "default" }
    }
    case "mode_change": {
      const { mode, data } = entry as Record<string, unknown>
      if (typeof mode !== "string") return state
      const { modeData: _, ...rest } = state
      return data === undefined ? { ...rest, mode } : { ...rest, mode, modeData: data }
    }
    case "ttsr_injection": {
      const { injectedRules } = entry as Record<string, unknown>
      if (!Array.isArray(injectedRules)) return state
      const rules = new Set([...state.injectedTtsrRules, ...injectedRules.filter((rule) => typeof rule === "string")])
      return { ...state, injectedTtsrRules: [...rules] }
    }
    default:
      return state
  }
}

function foldMessage(state: ContextState, entry: MessageEntry): ContextState {
  if (state.modelIsExplicit) return state
  const message = entry.message as Readonly<Record<string, unknown>> | undefined
  if (!isObject(message) || message["role"] !== "assistant") return state
  const { provider, model } = message
  if (typeof provider !== "string" || typeof model !== "string") return state
  const now = state.models["default"]
  if (now?.provider === provider && now.model === model) return state
  return { ...state, models: withModel(state.models, "default", { provider, model }) }
}

/** A role may have any name, `__proto__` among them, so entries are defined, never assigned. */
function withModel(models: ContextState["models"], role: string, model: ModelRef): ContextState["models"] {
  return Object.fromEntries([...Object.entries(models).filter(([name]) => name !== role), [role, model]])
}

function isModelRef(value: unknown): value is ModelRef {
  return isObject(value) && typeof value["provider"] === "string" && typeof value["model"] === "string"
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
