/**
 * Open tips: ends of the conversation that are off the current path and that no writer has left knowingly.
 *
 * - Content is a message, a custom message, a branch summary, or an entry of an unknown type without a namespace.
 * - The anchor of an entry is the entry itself if it is content, else the anchor of its parent.
 * - A tip is content that is the anchor of the parent of no later content. The current tip is the anchor of the log's last entry.
 * - A tip is settled for good when a later `leaf` or `branch_summary` names it in `settles`, or when it is not the current one at the end
 *   of the lines that came from another system. Content that continues it is a new tip.
 * - Tips that are neither settled nor current are open.
 *
 * `projectTips` follows a log line by line in constant memory, so that the session information can carry the tips. Pure.
 */
import { type Entry, ENTRY_CHECKS, type EntryType, isNamespaced } from "../format/entry.ts"
import { FORMAT } from "../format/header.ts"
import { isCount } from "../format/shape.ts"
import { fits } from "../storage/utf8.ts"
import type { Seq } from "../storage/contract.ts"

export interface Tip {
  readonly seq: Seq
  readonly id: string
  /** Ids of the newest entries that are anchored at this tip and are not content. An entry with one of them as its parent is too. */
  readonly near: readonly string[]
  /** An id of {@link near} was dropped. */
  readonly lossy?: true
  /** A later entry has the same id, and references to it mean that one. */
  readonly repeated?: true
}

/** What is kept of a log to continue finding its tips. JSON. */
export interface Tips {
  /** Tips that are not settled, the current one included, oldest first. */
  readonly tips: readonly Tip[]
  /** Seq of the tip that the log's last entry is anchored at; null if that tip is settled, or there is none. */
  readonly current: Seq | null
  /** The number of tips that were dropped. Exact, unless an id is repeated: then an upper bound. */
  readonly more?: number
  /** The last line that is not an entry. An entry after it whose parent is not found may be its child. */
  readonly damaged?: Seq
}

export interface TipLimits {
  readonly tips: number
  /** Of the JSON text of the tips. */
  readonly bytes: number
  readonly near: number
  /** How many lines after a damaged line a parent that is not found puts all tips in doubt. */
  readonly bridge: number
}

/** Session information has 8 KB beside the head, and appends write it each time. */
export const TIP_LIMITS: TipLimits = { tips: 24, bytes: 2_000, near: 8, bridge: 100 }

export const NO_TIPS: Tips = { tips: [], current: null }

export interface OpenTip {
  readonly seq: Seq
  readonly id: string
}

/** Tips for a person to choose from, as diagnostics and session information report them. */
export interface OpenTips {
  /** Newest first. */
  readonly tips: readonly OpenTip[]
  /** Up to so many more are not named. */
  readonly more?: number
}

const CONTENT_TYPES: ReadonlySet<string> = new Set<EntryType>(["message", "custom_message", "branch_summary"])

/** Whether entries of this type are content: messages, and whatever a later version may add to a conversation. */
export function isContent(type: string): boolean {
  return CONTENT_TYPES.has(type) || !(ENTRY_CHECKS.has(type) || isNamespaced(type))
}

/**
 * The number of lines, header included, that came from a system whose branches leave no `leaf` entry: at the end of these lines all tips
 * but the current one are settled. Headers are not validated, so the fields may have any type.
 */
export function settledLines({ origin }: { readonly origin?: unknown }): number {
  const { settled, lines, format } = (origin ?? {}) as Readonly<Record<string, unknown>>
  if (isCount(settled) === undefined) return settled as number
  return format !== undefined && format !== FORMAT && isCount(lines) === undefined ? (lines as number) : 0
}

/** The ids that an entry settles; undefined if it settles none, or is an older line that does not say which. */
export function settledIds(entry: object): readonly string[] | undefined {
  const { settles } = entry as Fields
  return Array.isArray(settles) ? settles.filter((id) => typeof id === "string") : undefined
}

/** Whether an entry can settle tips. */
export function isLeaving({ type }: Pick<Entry, "type">): boolean {
  return type === "leaf" || type === "branch_summary"
}

/**
 * The tips after one more line; `undefined` is a line that is not an entry. Returns undefined if the kept tips are not enough to know
 * them: the whole log must be read. `settled`: see {@link settledLines}.
 */
export function projectTips(
  tips: Tips | undefined,
  entry: Entry | undefined,
  seq: Seq,
  settled: number,
  limits: TipLimits = TIP_LIMITS,
): Tips | undefined {
  if (tips === undefined) return undefined
  const next = entry === undefined ? { ...tips, damaged: seq } : withEntry(tips, entry, seq, limits)
  if (seq !== settled - 1 || next === undefined) return next
  const { current, damaged } = next
  const left = next.tips.filter((tip) => tip.seq === current)
  return capped(left, current, { damaged }, limits)
}

/** The open tips: all kept ones but the one at `at`, which is the current one unless a session's leaf is elsewhere. */
export function openTips({ tips, current, more }: Tips, at: Seq | null = current): OpenTips {
  const open = tips.filter(({ seq }) => seq !== at).map(({ seq, id }) => ({ seq, id }))
  return { tips: open.reverse(), ...(more === undefined ? {} : { more }) }
}

/** The kept tip that the entry with this id is anchored at. */
export function tipNear(tips: readonly Tip[], id: string): Tip | undefined {
  return tips[indexNear(tips, id)]
}

function withEntry(tips: Tips, entry: Entry, seq: Seq, limits: TipLimits): Tips | undefined {
  const { id, type, parentId } = entry
  const p = parentId === null ? undefined : tipNear(tips.tips, parentId)
  const content = isContent(type)
  // Most entries continue the only tip. Appends project each entry, so this case allocates no more than the result.
  if (content && p !== undefined && isAlone(tips) && !isLeaving(entry))
    return { tips: [{ seq, id, near: NONE }], current: seq }
  const left = isLeaving(entry) ? withoutSettled(tips, entry, p, seq, limits) : tips.tips
  // The parent is an inner entry or a settled tip, or was kept once and is not any more.
  if (left === undefined || (p === undefined && parentId !== null && isInDoubt(tips, left, seq, limits)))
    return undefined
  const changed: Tip[] = []
  let current: Seq | null = content ? seq : null
  for (const tip of withRepeated(left, id)) {
    if (tip.seq !== p?.seq) changed.push(tip)
    else if (!content) {
      changed.push(withNear(tip, id, limits.near))
      current = tip.seq
    }
  }
  if (content) changed.push({ seq, id, near: NONE })
  const { more, damaged } = tips
  const recent = damaged !== undefined && seq - damaged < limits.bridge ? damaged : undefined
  return capped(changed, current, { more, damaged: recent }, limits)
}

/** Whether one tip is all that is kept. */
function isAlone({ tips, more, damaged }: Tips): boolean {
  return tips.length === 1 && more === undefined && damaged === undefined
}

/** Without the tips that a `leaf` or `branch_summary` settles; undefined if that cannot be known. `p`: the tip it is anchored at. */
function withoutSettled(
  tips: Tips,
  entry: Entry,
  p: Tip | undefined,
  seq: Seq,
  limits: TipLimits,
): readonly Tip[] | undefined {
  const kept = tips.tips
  const ids = settledIds(entry)
  if (ids !== undefined) {
    // One of them may be a tip that was not kept.
    if (tips.more !== undefined && ids.some((id) => kept.every((tip) => tip.id !== id))) return undefined
    return ids.length === 0 ? kept : kept.filter((tip) => !ids.includes(tip.id))
  }
  // An older line settles the tip that was left. It is not settled if it is the target too, which must be known.
  const inDoubt = isInDoubt(tips, kept, seq, limits)
  if (p === undefined && entry.parentId !== null && inDoubt) return undefined
  if (entry.type === "leaf") return kept.filter((tip) => tip.seq !== tips.current || tip === p)
  const { fromId } = entry as Fields
  if (typeof fromId !== "string" || fromId === "root") return kept
  const from = tipNear(kept, fromId)
  if (from === undefined) return inDoubt ? undefined : kept
  return kept.filter((tip) => tip !== from || tip === p)
}

/** Whether an id that is not kept may still be one of an open tip: such ids were dropped, or a damaged line may have had it. */
function isInDoubt({ more, damaged }: Tips, kept: readonly Tip[], seq: Seq, { bridge }: TipLimits): boolean {
  const isNear = damaged !== undefined && seq - damaged <= bridge
  return isNear || more !== undefined || kept.some(({ lossy }) => lossy)
}

/** The index of the tip that the entry with this id is anchored at, or -1. Ids are kept so that at most one tip has an id. */
function indexNear(tips: readonly Tip[], id: string): number {
  for (let index = tips.length - 1; index >= 0; index--) {
    const tip = tips[index] as Tip
    if ((tip.id === id && tip.repeated === undefined) || tip.near.includes(id)) return index
  }
  return -1
}

/** References to the id of a new entry no longer mean an older one. */
function withRepeated(tips: readonly Tip[], id: string): readonly Tip[] {
  const index = indexNear(tips, id)
  if (index < 0) return tips
  const tip = tips[index] as Tip
  const near = tip.near.filter((other) => other !== id)
  return tips.with(index, tip.id === id ? { ...tip, near, repeated: true } : { ...tip, near })
}

function withNear(tip: Tip, id: string, most: number): Tip {
  const near = [...tip.near, id]
  return near.length <= most ? { ...tip, near } : { ...tip, near: near.slice(-most), lossy: true }
}

/** Drops the oldest tips, never the current one, until the others keep the limits. */
export function capped(
  tips: readonly Tip[],
  current: Seq | null,
  { more = 0, damaged }: { readonly more?: number | undefined; readonly damaged?: Seq | undefined },
  limits: TipLimits,
): Tips {
  const kept = tips.slice()
  while (kept.length > 1 && (kept.length > limits.tips || !isShort(kept, limits.bytes)))
    kept.splice(kept[0]?.seq === current ? 1 : 0, 1)
  const dropped = more + tips.length - kept.length
  return {
    tips: kept,
    current,
    ...(dropped === 0 ? {} : { more: dropped }),
    ...(damaged === undefined ? {} : { damaged }),
  }
}

/** Whether the JSON text of the tips is so short. */
function isShort(tips: readonly Tip[], bytes: number): boolean {
  // Most logs have one tip, and appends need not encode it: a UTF-16 unit has at most 6 bytes of JSON, the rest of a tip at most 90.
  let most = 2
  for (const { id, near } of tips) {
    most += 90 + 6 * id.length
    for (const other of near) most += 3 + 6 * other.length
  }
  return most <= bytes || fits(JSON.stringify(tips), bytes)
}

const NONE: readonly string[] = []

type Fields = Readonly<Record<string, unknown>>
