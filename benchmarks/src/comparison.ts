/** Compares the runs of a row on two builds: medians, spreads, and whether the medians differ by more than noise. */
import { aligned, median, type Result, show } from "./report.ts"

/** Smaller differences do not count, however narrow the spread. */
const SHARE = 0.05

export interface Side {
  readonly value: number
  readonly spread: readonly [number, number]
}

export interface Comparison {
  readonly id: string
  readonly unit: string
  readonly before: Side
  readonly after: Side
  readonly verdict: "same" | "slower" | "faster"
}

/** `before` and `after` are the runs of one row. */
export function compared(before: readonly Result[], after: readonly Result[]): Comparison {
  const { id, unit } = after[0] as Result
  const sides = { before: sideOf(before), after: sideOf(after) }
  return { id, unit, ...sides, verdict: verdictOf(unit, sides.before, sides.after) }
}

/** Medians differ if the difference exceeds 5 % and the wider of the two spreads. */
function verdictOf(unit: string, before: Side, after: Side): Comparison["verdict"] {
  const difference = after.value - before.value
  const noise = Math.max(SHARE * before.value, widthOf(before), widthOf(after))
  if (Math.abs(difference) <= noise) return "same"
  // A smaller time is better, a larger rate is.
  return difference > 0 === unit.endsWith("/s") ? "faster" : "slower"
}

function sideOf(results: readonly Result[]): Side {
  const values = results.map(({ value }) => value)
  return { value: median(values), spread: [Math.min(...values), Math.max(...values)] }
}

function widthOf({ spread: [least, most] }: Side): number {
  return most - least
}

export function comparisonTable(rows: readonly Comparison[]): string {
  const side = ({ value, spread }: Side, unit: string): readonly string[] => [
    `${show(value)} ${unit}`,
    `${show(spread[0])} to ${show(spread[1])}`,
  ]
  return aligned([
    ["id", "before", "spread", "after", "spread", "change", ""],
    ...rows.map(({ id, unit, before, after, verdict }) => [
      id,
      ...side(before, unit),
      ...side(after, unit),
      `${(100 * (after.value / before.value - 1)).toFixed(1)} %`,
      verdict === "same" ? "" : verdict,
    ]),
  ])
}
