/**
 * Reference implementation of the context: no window of a log, no index, no early end. It is slow, and the tests compare every
 * other implementation with it.
 */
import type { ContextState, Entry } from "../src/format/entry.ts"
import type { EntrySlot } from "../src/log/entry-log.ts"

type Fields = Readonly<Record<string, unknown>>

export interface Expected {
  /** Seqs of the context's entries, the compaction first; entries that are never shown are not included. */
  readonly selected: readonly number[]
  /** By seq of the edited entry: seq of its latest edit. */
  readonly edits: ReadonlyMap<number, number>
  readonly state: ContextState
}

/** The context of a leaf: the whole path from the root, then every rule in turn. */
export function expectContext(slots: readonly EntrySlot[], leaf: number | null, header: Fields = {}): Expected {
  const path = leaf === null ? [] : pathOf(slots, leaf)
  const deleted = deletedOf(slots)
  const live = path.filter((seq) => !deleted.has(seq))
  const last = (type: string): number => live.findLast((seq) => slots[seq]?.type === type) ?? -1
  const compaction = live.findLast((seq) => isWhole(slots[seq])) ?? -1
  const reset = last("reset_boundary")
  const start = Math.max(compaction, reset)
  const talk = live.filter((seq) => TALK.has(slots[seq]?.type))
  const members = talk.filter((seq) => seq > start)
  const selected = compaction > reset ? [compaction, ...keptOf(slots, path, talk, compaction), ...members] : members
  return { selected, edits: editsOf(slots, live, selected), state: expectState(slots, path, header) }
}

/** Seqs from the root to an entry. */
export function pathOf(slots: readonly EntrySlot[], leaf: number): number[] {
  const path: number[] = []
  for (let seq = leaf; seq >= 0; seq = parentSeq(slots, seq)) path.unshift(seq)
  return path
}

/** The state of the path, projected from its root or from the latest compaction or reset that stores a state. */
export function expectState(slots: readonly EntrySlot[], path: readonly number[], header: Fields): ContextState {
  const entries = path.map((seq) => slots[seq] as Entry)
  const stores = ["compaction", "reset_boundary"]
  const from = entries.findLastIndex((entry) => stores.includes(entry.type) && isState(entry["state"]))
  const stored = from < 0 ? undefined : (entries[from]?.["state"] as ContextState)
  return foldPlainly(entries.slice(from + 1), header, stored)
}

/** The state after the entries, one after the other. */
export function foldPlainly(entries: readonly Entry[], header: Fields, stored?: ContextState): ContextState {
  const models = new Map(Object.entries(stored?.models ?? {}))
  let thinkingLevel = stored?.thinkingLevel ?? "off"
  let modelIsExplicit = stored?.modelIsExplicit ?? false
  let mode = stored?.mode ?? "none"
  let modeData = stored?.modeData
  const rules = new Set(stored?.injectedTtsrRules)
  for (const entry of entries as readonly Fields[]) {
    const message = entry["message"] as Fields | undefined
    const named = typeof message?.["provider"] === "string" && typeof message["model"] === "string"
    if (entry["type"] === "message" && message?.["role"] === "assistant" && named && !modelIsExplicit) {
      models.set("default", { provider: message["provider"] as string, model: message["model"] as string })
    }
    if (entry["type"] === "model_change") {
      const role = (entry["role"] as string | undefined) ?? "default"
      models.set(role, { provider: entry["provider"] as string, model: entry["model"] as string })
      if (role === "default") modelIsExplicit = true
    }
    if (entry["type"] === "thinking_level_change") thinkingLevel = entry["thinkingLevel"] as string
    if (entry["type"] === "mode_change") {
      mode = entry["mode"] as string
      modeData = entry["data"]
    }
    if (entry["type"] === "ttsr_injection") for (const rule of entry["injectedRules"] as string[]) rules.add(rule)
  }
  const prompt = header["systemPromptOverride"] ?? stored?.systemPromptOverride
  return {
    thinkingLevel,
    models: Object.fromEntries(models),
    modelIsExplicit,
    mode,
    ...(modeData === undefined ? {} : { modeData }),
    injectedTtsrRules: [...rules],
    ...(prompt === undefined ? {} : { systemPromptOverride: prompt as string }),
  }
}

/** Messages of the whole path, deleted ones left out. */
export function expectMessages(slots: readonly EntrySlot[], leaf: number | null): number[] {
  return expectPath(slots, leaf).filter((seq) => slots[seq]?.type === "message")
}

/** Entries of the whole path, deleted ones left out. */
export function expectPath(slots: readonly EntrySlot[], leaf: number | null): number[] {
  const deleted = deletedOf(slots)
  return leaf === null ? [] : pathOf(slots, leaf).filter((seq) => !deleted.has(seq))
}

/** The nearest entry before a position that has this id. */
export function nearestBefore(slots: readonly EntrySlot[], id: unknown, before: number): number | undefined {
  for (let seq = before - 1; seq >= 0; seq--) if (id !== undefined && slots[seq]?.id === id) return seq
  return undefined
}

function parentSeq(slots: readonly EntrySlot[], seq: number): number {
  const parentId = slots[seq]?.parentId
  if (parentId === null) return -1
  const bridge = slots.findLastIndex((slot, at) => at < seq && slot !== undefined)
  return nearestBefore(slots, parentId, seq) ?? bridge
}

export function deletedOf(slots: readonly EntrySlot[]): ReadonlySet<number | undefined> {
  return new Set(
    slots.flatMap((entry, seq) => (entry?.type === "tombstone" ? [nearestBefore(slots, entry["targetId"], seq)] : [])),
  )
}

function keptOf(
  slots: readonly EntrySlot[],
  path: readonly number[],
  talk: readonly number[],
  compaction: number,
): number[] {
  const { id, firstKeptEntryId } = slots[compaction] as Entry & { firstKeptEntryId?: unknown }
  const firstKept = firstKeptEntryId === id ? undefined : nearestBefore(slots, firstKeptEntryId, compaction)
  if (firstKept === undefined || !path.includes(firstKept)) return []
  return talk.filter((seq) => seq >= firstKept && seq < compaction)
}

function editsOf(
  slots: readonly EntrySlot[],
  live: readonly number[],
  selected: readonly number[],
): Map<number, number> {
  const edits = new Map<number, number>()
  for (const seq of live) {
    const entry = slots[seq]
    if (entry?.type !== "context_edit" || !isReplacement(entry["replacement"])) continue
    const target = nearestBefore(slots, entry["targetId"], seq)
    if (target !== undefined && selected.includes(target)) edits.set(target, seq)
  }
  return edits
}

/** The entries that can be in the context, except compactions. */
const TALK: ReadonlySet<string | undefined> = new Set(["message", "custom_message", "branch_summary"])

/** A compaction without a summary cuts nothing. */
function isWhole(entry: EntrySlot): boolean {
  return entry?.type === "compaction" && typeof entry["summary"] === "string"
}

function isReplacement(value: unknown): boolean {
  if (value === null) return true
  const { content } = (value ?? {}) as { content?: unknown }
  return typeof content === "string" || Array.isArray(content)
}

function isState(value: unknown): boolean {
  const { mode, thinkingLevel } = (value ?? {}) as Fields
  return typeof mode === "string" && typeof thinkingLevel === "string"
}
