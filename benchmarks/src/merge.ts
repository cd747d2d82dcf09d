/** What `--json` writes, and how a later run of a part goes into it. */
import type { Result } from "./report.ts"

export interface Report {
  readonly machine: Readonly<Record<string, unknown>>
  readonly results: readonly Result[]
}

/**
 * The older report with the results of the newer one in the place of those that measured the same, in the same runtime of whatever
 * version. Nothing of the older one stays if it is of another machine: such figures mean nothing beside each other.
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

/** Measured numbers as far as they say something. */
export function toJson(report: Report): string {
  const short = (_: string, value: unknown): unknown =>
    typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(6)) : value
  return `${JSON.stringify(report, short, 2)}\n`
}

function keyOf({ id, runtime }: Result): string {
  return `${id} ${runtime.split(" ")[0] ?? ""}`
}
