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
 * These rules are here, entry by entry. `tips-of-log.ts` applies them to a log that is loaded, and `projected-tips.ts` to the tips alone. Pure.
 */
import type { Entry } from "../format/entry.ts"
import { ENTRY_TYPES, hasMessage, isNamespaced } from "../format/entry-types.ts"
import { FORMAT } from "../format/header.ts"
import { isCount } from "../format/shape.ts"
import type { Seq } from "../storage/contract.ts"

/** Whether entries of this type are content: messages, and whatever a later version may add to a conversation. */
export function isContent(type: string): boolean {
  return hasMessage(type) || !(ENTRY_TYPES.has(type) || isNamespaced(type))
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
  return ENTRY_TYPES.get(type)?.leaves === true
}

export interface FollowedTip {
  readonly seq: Seq
  readonly id: string
  /** The ids of the tip and of the entries that are anchored at it and are not content. */
  near: string[]
  settled: boolean
}

/** The tips of the lines so far. */
export interface FollowedTips {
  /** Settled ones too, oldest first. */
  readonly tips: Map<Seq, FollowedTip>
  /** Those that are not settled by name, by their ids. */
  readonly named: Map<string, FollowedTip[]>
  /** The anchor of the last entry. */
  current: Seq
}

/** The anchor of an entry that has none, or none that is known. */
export const NOWHERE: Seq = -1

export function followedOf(tips: Iterable<FollowedTip>, current: Seq): FollowedTips {
  const all: FollowedTips = { tips: new Map(), named: new Map(), current }
  for (const tip of tips) add(all, tip)
  return all
}

function add({ tips, named }: FollowedTips, tip: FollowedTip): void {
  tips.set(tip.seq, tip)
  const same = named.get(tip.id)
  if (same === undefined) named.set(tip.id, [tip])
  else same.push(tip)
}

/** The first half of an entry: what it settles by name. */
export function settleNamed({ named }: FollowedTips, entry: Entry): void {
  if (!isLeaving(entry)) return
  for (const id of settledIds(entry) ?? []) {
    for (const tip of named.get(id) ?? []) tip.settled = true
    named.delete(id)
  }
}

/** The second half of an entry: its place. `parent`: the anchor of its parent; `left`: see {@link leftBy}. */
export function follow(all: FollowedTips, entry: Entry, seq: Seq, parent: Seq, left: Seq): void {
  const leftTip = left === parent ? undefined : all.tips.get(left)
  if (leftTip !== undefined) leftTip.settled = true
  if (isContent(entry.type)) {
    all.tips.delete(parent)
    add(all, { seq, id: entry.id, near: [entry.id], settled: false })
    all.current = seq
  } else {
    all.tips.get(parent)?.near.push(entry.id)
    all.current = parent
  }
}

/** The anchor of the leaf that an older line left, which does not say what it settles. */
export function leftBy(entry: Entry, current: Seq, anchorOf: (id: string) => Seq): Seq {
  if (!isLeaving(entry) || settledIds(entry) !== undefined) return NOWHERE
  if (entry.type === "leaf") return current
  const { fromId } = entry as Fields
  return typeof fromId !== "string" || fromId === "root" ? NOWHERE : anchorOf(fromId)
}

/** At the end of the lines that came from another system. */
export function settleOthers({ tips, current }: FollowedTips): void {
  for (const tip of tips.values()) tip.settled ||= tip.seq !== current
}

type Fields = Readonly<Record<string, unknown>>
