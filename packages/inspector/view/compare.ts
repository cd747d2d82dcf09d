/** What two branches have in common, and what each has alone. Pure. */
import type { Row } from "../src/model/types.ts"
import { type ModelUsage, usageByModel } from "../src/model/usage.ts"
import { pathTo, type Rows } from "./paths.ts"

export interface Compared {
  /** The seqs from the root to where the branches part. */
  readonly common: readonly number[]
  readonly left: readonly number[]
  readonly right: readonly number[]
  /** The common entries that an edit, a deletion or a label of one of the sides is about, with those. */
  readonly changed: readonly Changed[]
}

export interface Changed {
  readonly row: Row
  readonly left: readonly Row[]
  readonly right: readonly Row[]
}

/** `left`, `right`: the last entries of two branches. */
export function compare(rows: Rows, left: number, right: number): Compared {
  const [one, other] = [pathTo(rows, left), pathTo(rows, right)]
  let length = 0
  while (length < one.length && one[length] === other[length]) length++
  const common = one.slice(0, length)
  const sides = { left: one.slice(length), right: other.slice(length) }
  return { common, ...sides, changed: changedOf(rows, common, sides) }
}

function changedOf(
  rows: Rows,
  common: readonly number[],
  { left, right }: Pick<Compared, "left" | "right">,
): readonly Changed[] {
  const about = (side: readonly number[]): ReadonlyMap<number, readonly Row[]> => {
    const byTarget = new Map<number, Row[]>()
    for (const seq of side) {
      const row = rows.get(seq)
      if (row?.target !== undefined) byTarget.set(row.target, [...(byTarget.get(row.target) ?? []), row])
    }
    return byTarget
  }
  const [one, other] = [about(left), about(right)]
  return common.flatMap((seq) => {
    const row = rows.get(seq)
    const changes = { left: one.get(seq) ?? [], right: other.get(seq) ?? [] }
    return row === undefined || changes.left.length + changes.right.length === 0 ? [] : [{ row, ...changes }]
  })
}

/** How many entries of each kind a side has, in the order of their first ones, by what `kindOf` calls them. */
export function countKinds(
  rows: Rows,
  side: readonly number[],
  kindOf: (row: Row) => string,
): readonly [string, number][] {
  const counts = new Map<string, number>()
  for (const seq of side) {
    const row = rows.get(seq)
    if (row === undefined) continue
    const kind = kindOf(row)
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  return [...counts]
}

/** The model calls of a side as one sum; undefined without calls. */
export function usageOf(rows: Rows, side: readonly number[]): ModelUsage | undefined {
  const calls = side.flatMap((seq) => {
    const row = rows.get(seq)
    return row?.call === true ? [{ ...row, model: "" }] : []
  })
  return usageByModel(calls)[0]
}
