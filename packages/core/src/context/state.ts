/**
 * The state of a conversation: model, thinking level, mode and other settings that the entries of its path change. Folded forwards,
 * entry by entry. Tombstones and edits never change it, so a fold from a stored state gives the same as a fold from the root.
 */
import { type ContextState, type Entry, type MessageEntry, type ModelRef, storesState } from "../format/entry.ts"
import { type Fields, isObject } from "../format/shape.ts"

export const THINKING_DEFAULT = "off"
export const MODE_DEFAULT = "none"

/** The state before the first entry. Headers of older logs may set a model and a thinking level. */
export function initialState(header?: Fields): ContextState {
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

/** Folds entries, in path order, onto a state. Entries with an invalid payload are ignored. */
export function foldState(path: Iterable<Entry>, start: ContextState = initialState()): ContextState {
  const { models, injectedTtsrRules, ...rest } = start
  const draft: Draft = { ...rest, models: new Map(Object.entries(models)), rules: new Set(injectedTtsrRules) }
  for (const entry of path) foldEntry(draft, entry)
  const { models: byRole, rules, ...folded } = draft
  // A role may have any name, `__proto__` among them, so roles are defined, never assigned.
  return { ...folded, models: Object.fromEntries(byRole), injectedTtsrRules: [...rules] }
}

/** The usable state that an entry stores. */
export function storedState(entry: Entry): ContextState | undefined {
  return storesState(entry.type) ? usableState(entry["state"]) : undefined
}

/** Checks a parsed state and drops unknown fields; undefined if it is invalid. */
export function usableState(value: unknown): ContextState | undefined {
  if (!isObject(value)) return undefined
  const { thinkingLevel, models, modelIsExplicit, mode, modeData, injectedTtsrRules, systemPromptOverride } =
    value as Partial<ContextState>
  const usable =
    typeof thinkingLevel === "string" &&
    typeof mode === "string" &&
    typeof modelIsExplicit === "boolean" &&
    isObject(models) &&
    Object.values(models).every(isModelRef) &&
    Array.isArray(injectedTtsrRules) &&
    injectedTtsrRules.every((rule) => typeof rule === "string") &&
    (systemPromptOverride === undefined || typeof systemPromptOverride === "string")
  if (!usable) return undefined
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

/** A state during a fold. Maps and sets keep the fold linear in the length of the path. */
interface Draft extends Mutable<Omit<ContextState, "models" | "injectedTtsrRules">> {
  readonly models: Map<string, ModelRef>
  readonly rules: Set<string>
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] }

function foldEntry(draft: Draft, entry: Entry): void {
  switch (entry.type) {
    case "message":
      return foldMessage(draft, entry)
    case "thinking_level_change": {
      const { thinkingLevel } = entry as Fields
      if (typeof thinkingLevel === "string") draft.thinkingLevel = thinkingLevel
      return
    }
    case "model_change": {
      const { provider, model, role = "default" } = entry as Fields
      if (typeof provider !== "string" || typeof model !== "string" || typeof role !== "string") return
      draft.models.set(role, { provider, model })
      if (role === "default") draft.modelIsExplicit = true
      return
    }
    case "mode_change": {
      const { mode, data } = entry as Fields
      if (typeof mode !== "string") return
      draft.mode = mode
      if (data === undefined) delete draft.modeData
      else draft.modeData = data
      return
    }
    case "ttsr_injection": {
      const { injectedRules } = entry as Fields
      if (!Array.isArray(injectedRules)) return
      for (const rule of injectedRules as readonly unknown[]) if (typeof rule === "string") draft.rules.add(rule)
      return
    }
    default:
  }
}

function foldMessage(draft: Draft, entry: MessageEntry): void {
  const model = draft.modelIsExplicit ? undefined : modelOf(entry)
  if (model !== undefined) draft.models.set("default", model)
}

/** The model that a message sets, unless an entry has set one explicitly. */
export function modelOf(entry: Entry): ModelRef | undefined {
  const message = entry["message"]
  if (!isObject(message) || message["role"] !== "assistant") return undefined
  const { provider, model } = message
  return typeof provider === "string" && typeof model === "string" ? { provider, model } : undefined
}

function isModelRef(value: unknown): value is ModelRef {
  return isObject(value) && typeof value["provider"] === "string" && typeof value["model"] === "string"
}
