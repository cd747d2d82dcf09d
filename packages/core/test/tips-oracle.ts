/** The open tips of a log by their definition, in the simplest code: each question is answered by looking at all lines. */
import type { EntrySlot } from "../src/log/entry-log.ts"
import type { Seq } from "../src/storage/contract.ts"

export interface TrueTips {
  /** Of each line; null above a root, and for lines that are not entries. */
  readonly anchors: readonly (Seq | null)[]
  readonly parents: readonly (Seq | null)[]
  readonly tips: readonly Seq[]
  readonly current: Seq | null
  readonly settled: ReadonlySet<Seq>
  /** Oldest first. */
  readonly open: readonly Seq[]
}

const TRANSPARENT = [
  "compaction context_edit tombstone reset_boundary session_init leaf ttsr_injection",
  "model_change thinking_level_change mode_change",
  "label title_change metadata usage file_snapshot custom",
].flatMap((types) => types.split(" "))

function isTrueContent(type: string): boolean {
  const [prefix = "", name = "", ...rest] = type.split(":")
  const namespaced = rest.length === 0 && /^[a-z][a-z0-9-]*$/.test(prefix) && /^\S+$/.test(name)
  return !namespaced && !TRANSPARENT.includes(type)
}

/** `settlesOf`: the ids that the `leaf` or `branch_summary` at a seq settles; undefined for an older line. */
export function trueTips(
  slots: readonly EntrySlot[],
  horizon: number,
  settlesOf: (seq: Seq) => readonly string[] | undefined = (seq) => slots[seq]?.["settles"] as readonly string[],
): TrueTips {
  const before = (seq: Seq): Seq | null => {
    const at = slots.slice(0, seq).findLastIndex((slot) => slot !== undefined)
    return at < 0 ? null : at
  }
  const find = (id: string, seq: Seq): Seq | null => {
    const at = slots.slice(0, seq).findLastIndex((slot) => slot?.id === id)
    return at < 0 ? null : at
  }
  const parents: (Seq | null)[] = []
  const anchors: (Seq | null)[] = []
  const anchor = (seq: Seq | null): Seq | null => (seq === null ? null : (anchors[seq] as Seq | null))
  /** The content that continued each. */
  const continued = new Map<Seq, Seq>()
  const settled = new Set<Seq>()
  for (const [seq, entry] of slots.entries()) {
    const parent = entry === undefined || entry.parentId === null ? null : (find(entry.parentId, seq) ?? before(seq))
    const above = anchor(parent)
    parents.push(parent)
    anchors.push(entry === undefined ? null : isTrueContent(entry.type) ? seq : above)
    if (entry?.type === "leaf" || entry?.type === "branch_summary") {
      const ids = settlesOf(seq)
      if (ids !== undefined) {
        for (const [at, slot] of slots.entries()) {
          if (at < seq && slot !== undefined && ids.includes(slot.id) && !continued.has(at)) settled.add(at)
        }
      } else {
        const fromId = entry["fromId"] as string
        const from = entry.type === "leaf" ? before(seq) : fromId === "root" ? null : find(fromId, seq)
        const left = anchor(from)
        if (left !== null && left !== above && !continued.has(left)) settled.add(left)
      }
    }
    if (entry !== undefined && isTrueContent(entry.type) && above !== null) continued.set(above, seq)
    if (seq === horizon - 1) {
      const last = entry === undefined ? before(seq) : seq
      for (let at = 0; at <= seq; at++) if (at !== anchor(last) && !continued.has(at)) settled.add(at)
    }
  }
  const current = anchor(before(slots.length))
  const tips = slots.flatMap((slot, seq) =>
    slot !== undefined && isTrueContent(slot.type) && !continued.has(seq) ? [seq] : [],
  )
  return { anchors, parents, tips, current, settled, open: tips.filter((seq) => seq !== current && !settled.has(seq)) }
}

/** The entries on the paths to these. */
export function ancestorsOf({ parents }: TrueTips, seqs: readonly (Seq | null)[]): ReadonlySet<Seq> {
  const on = new Set<Seq>()
  for (let at of seqs) {
    for (; at !== null && !on.has(at); at = parents[at] ?? null) on.add(at)
  }
  return on
}
