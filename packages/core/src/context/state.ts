/**
 * The state of a conversation: model, thinking level, mode and other settings that the entries of its path change. Folded forwards,
 * entry by entry. Tombstones and edits never change it, so a fold from a stored state gives the same as a fold from the root.
 */
import type { ContextState, Entry, ModelRef } from "../format/entry.ts"
import { stateShape, storesState } from "../format/entry-types.ts"
import { type Fields, isObject } from "../format/shape.ts"

/** The state before the first entry. Headers of older logs may set a model and a thinking level. */
export function initialState(header?: Fields): ContextState {
  const { provider, modelId, thinkingLevel, systemPromptOverride } = header ?? {}
  const named = typeof provider === "string" && typeof modelId === "string"
  return {
    thinkingLevel: typeof thinkingLevel === "string" ? thinkingLevel : "off",
    models: named ? { default: { provider, model: modelId } } : {},
    modelIsExplicit: false,
    mode: "none",
    injectedTtsrRules: [],
    ...(typeof systemPromptOverride === "string" ? { systemPromptOverride } : {}),
  }
}

/** Folds entries, in path order, onto a state. Entries with an invalid payload are ignored. */
export function foldState(path: Iterable<Entry>, start: ContextState = initialState()): ContextState {
  const { models, injectedTtsrRules, ...rest } = start
  const state: Mutable<typeof rest> = rest
  // A role may have any name, `__proto__` among them, so roles are in a map, and defined at the end, never assigned.
  const byRole = new Map(Object.entries(models))
  const rules = new Set(injectedTtsrRules)
  for (const entry of path) {
    if (entry.type === "message") {
      const named = state.modelIsExplicit ? undefined : modelOf(entry)
      if (named !== undefined) byRole.set("default", named)
      continue
    }
    const { thinkingLevel, provider, model, role = "default", mode, data, injectedRules } = entry as Fields
    switch (entry.type) {
      case "thinking_level_change":
        if (typeof thinkingLevel === "string") state.thinkingLevel = thinkingLevel
        break
      case "model_change":
        if (typeof provider !== "string" || typeof model !== "string" || typeof role !== "string") break
        byRole.set(role, { provider, model })
        if (role === "default") state.modelIsExplicit = true
        break
      case "mode_change":
        if (typeof mode !== "string") break
        state.mode = mode
        if (data === undefined) delete state.modeData
        else state.modeData = data
        break
      case "ttsr_injection":
        if (!Array.isArray(injectedRules)) break
        for (const rule of injectedRules as readonly unknown[]) if (typeof rule === "string") rules.add(rule)
        break
      default:
    }
  }
  return { ...state, models: Object.fromEntries(byRole), injectedTtsrRules: [...rules] }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

/** The usable state that an entry stores. */
export function storedState(entry: Entry): ContextState | undefined {
  return storesState(entry.type) ? usableState(entry["state"]) : undefined
}

/** Checks a parsed state and drops unknown fields; undefined if it is invalid. */
export function usableState(value: unknown): ContextState | undefined {
  if (stateShape(value) !== undefined) return undefined
  const { thinkingLevel, models, modelIsExplicit, mode, modeData, injectedTtsrRules, systemPromptOverride } =
    value as ContextState
  return {
    thinkingLevel,
    models,
    modelIsExplicit,
    mode,
    ...(modeData === undefined ? {} : { modeData }),
    injectedTtsrRules,
    ...(systemPromptOverride === undefined ? {} : { systemPromptOverride }),
  }
}

/** The model that a message sets, unless an entry has set one explicitly. */
export function modelOf(entry: Entry): ModelRef | undefined {
  const message = entry["message"]
  if (!isObject(message) || message["role"] !== "assistant") return undefined
  const { provider, model } = message
  return typeof provider === "string" && typeof model === "string" ? { provider, model } : undefined
}
