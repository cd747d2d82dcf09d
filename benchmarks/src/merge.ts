/** The JSON report of `--json`, and how the results of a later run are merged into it. */
import type { Result } from "./report.ts"

export interface Report {
  readonly machine: Readonly<Record<string, unknown>>
  readonly results: readonly Result[]
}

/**
 * Replaces results of the older report by newer ones of the same row and runtime, whatever its version. The older report is dropped if
 * it is from another machine, since such figures are not comparable.
 */
export function merge(older: Report | undefined, newer: Report): Report {
  if (older === undefined || !isOfSameMachine(older, newer)) return newer
  const rest = new Map(newer.results.map((result) => [keyOf(result), result]))
  const results: Result[] = []
  for (const result of older.results) {
    const key = keyOf(result)
    results.push(rest.get(key) ?? result)
    rest.delete(key)
  }
  return { machine: newer.machine, results: [...results, ...rest.values()] }
}

export function isOfSameMachine(one: Report, other: Report): boolean {
  return JSON.stringify(one.machine) === JSON.stringify(other.machine)
}

/** The report as JSON, with measurements rounded to six digits. */
export function toJson(report: Report): string {
  const short = (_: string, value: unknown): unknown =>
    typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value
  return `${JSON.stringify(report, short, 2)}\n`
}

function keyOf({ id, runtime }: Result): string {
  return `${id} ${runtime.split(" ")[0] ?? ""}`
}
