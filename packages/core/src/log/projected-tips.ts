/**
 * The tips of a log as the session information carries them: in constant memory, continued line by line with the rules of `tips.ts`. The
 * anchor of an entry is found by the ids that are kept of each tip. Pure.
 */
import type { Entry } from "../format/entry.ts"
import { fits } from "../storage/utf8.ts"
import type { Seq } from "../storage/contract.ts"
import {
  follow,
  followedOf,
  type FollowedTips,
  isContent,
  isLeaving,
  leftBy,
  NOWHERE,
  settleNamed,
  settleOthers,
} from "./tips.ts"

export interface Tip {
  readonly seq: Seq
  readonly id: string
  /** The ids that mean the tip or an entry anchored at it: its own, unless that is repeated, and the newest others. */
  readonly near: readonly string[]
}

/** The state with which the tips of a log are found further. JSON. */
export interface Tips {
  /** Tips that are not settled, the current one included, oldest first. */
  readonly tips: readonly Tip[]
  /** Seq of the tip that the log's last entry is anchored at; null if that tip is settled or not kept, or there is none. */
  readonly current: Seq | null
  /** The number of tips that were dropped. They may be settled or continued since. */
  readonly more?: number
  /**
   * An entry before this seq, or any while a tip before it is kept, may be anchored at a kept tip though its parent is not found: ids were
   * dropped, or a damaged line may have had the id.
   */
  readonly doubt?: Seq
}

export interface TipLimits {
  readonly tips: number
  /** Length of the JSON text of the tips. */
  readonly bytes: number
  /** Ids of a tip, besides the first one. */
  readonly near: number
  /** How many lines after a damaged line a parent that is not found puts all tips in doubt. */
  readonly bridge: number
}

/** Session information has 8 KB beside the head, and appends write it each time. */
export const TIP_LIMITS: TipLimits = { tips: 24, bytes: 2_500, near: 8, bridge: 100 }

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
  const only = entry && onlyTip(tips, entry)
  if (entry !== undefined && only !== undefined) {
    const { id, type } = entry
    if (isContent(type)) return { tips: [{ seq, id, near: [id] }], current: seq }
    if (only.near.length <= limits.near && !only.near.includes(id))
      return { tips: [{ ...only, near: [...only.near, id] }], current: only.seq }
  }
  const all = followedOf(
    tips.tips.map((tip) => ({ ...tip, near: [...tip.near], settled: false })),
    tips.current ?? NOWHERE,
  )
  let { doubt = 0 } = tips
  if (entry === undefined) doubt = doubtAfter(seq, limits)
  else {
    let isFound = true
    const anchorOf = (id: string): Seq => {
      const tip = tipNear(tips.tips, id)
      isFound &&= tip !== undefined
      return tip?.seq ?? NOWHERE
    }
    const parent = entry.parentId === null ? NOWHERE : anchorOf(entry.parentId)
    const left = leftBy(entry, all.current, anchorOf)
    settleNamed(all, entry)
    const isInDoubt = seq < doubt || [...all.tips.values()].some((tip) => !tip.settled && tip.seq < doubt)
    if (!isFound && isInDoubt) return undefined
    // References to the id of a new entry no longer mean an older one.
    for (const tip of all.tips.values()) tip.near = tip.near.filter((id) => id !== entry.id)
    follow(all, entry, seq, parent, left)
  }
  if (seq === settled - 1) settleOthers(all)
  return toKept(all, { more: tips.more, doubt, end: seq + 1 }, limits)
}

/** The doubt that a damaged line causes. */
export function doubtAfter(damaged: Seq, { bridge }: TipLimits): Seq {
  return damaged + bridge + 1
}

/**
 * The only tip, if the entry is anchored at it and settles none. Most entries are, and appends project each, so they allocate no more than
 * the result.
 */
function onlyTip({ tips, more, doubt }: Tips, entry: Entry): Tip | undefined {
  const isAlone = tips.length === 1 && more === undefined && doubt === undefined
  return isAlone && entry.parentId !== null && !isLeaving(entry) ? tipNear(tips, entry.parentId) : undefined
}

/** The open tips: all kept ones but the one at `at`, which is the current one unless a session's leaf is elsewhere. */
export function openTips({ tips, current, more }: Tips, at: Seq | null = current): OpenTips {
  const open = tips.filter(({ seq }) => seq !== at).map(({ seq, id }) => ({ seq, id }))
  return { tips: open.reverse(), ...(more === undefined ? {} : { more }) }
}

/** The kept tip that the entry with this id is anchored at. At most one has an id. */
export function tipNear(tips: readonly Tip[], id: string): Tip | undefined {
  return tips.find(({ near }) => near.includes(id))
}

/**
 * Keeps what the limits allow of the tips that are not settled: the newest ids of each, and the newest tips, always with the current one.
 * `end`: seq of the next line.
 */
export function toKept(
  { tips, current }: FollowedTips,
  { more = 0, doubt = 0, end }: { readonly more?: number | undefined; readonly doubt?: Seq; readonly end: Seq },
  limits: TipLimits,
): Tips {
  const open: Tip[] = []
  for (const { seq, id, near, settled } of tips.values()) {
    if (settled) continue
    const isLong = near.length > limits.near + 1
    // The first one is the tip's own, which is the target of most branches.
    open.push({ seq, id, near: isLong ? [near[0] as string, ...near.slice(-limits.near)] : near })
    if (isLong) doubt = Math.max(doubt, seq + 1)
  }
  // A log may have as many tips as lines, so the oldest are left out at once.
  let surplus = open.length - limits.tips
  const kept = open.filter(({ seq }) => seq === current || surplus-- <= 0)
  while (kept.length > 1 && !isShort(kept, limits.bytes)) kept.splice(kept[0]?.seq === current ? 1 : 0, 1)
  more += open.length - kept.length
  return {
    tips: kept,
    current: kept.find(({ seq }) => seq === current)?.seq ?? null,
    ...(more > 0 && { more }),
    ...((end < doubt || kept.some(({ seq }) => seq < doubt)) && { doubt }),
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
