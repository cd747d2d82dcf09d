/** Tokens and cost as providers have reported them. A number that was not reported is missing, never 0. */
import { fieldsOf } from "./fields.ts"
import { type Count, COUNTS, type Numbers, type Row } from "./types.ts"

/** Other SDKs have other names for the first two. */
const OTHER_NAMES: { readonly [C in Count]?: string } = { input: "inputTokens", output: "outputTokens" }

/** The numbers of a stored usage report; undefined if it has none. */
export function numbersOf(usage: unknown): Numbers | undefined {
  const fields = fieldsOf(usage)
  const numbers: { [C in Count]?: number } = {}
  for (const count of COUNTS) {
    const cost = fields["cost"]
    const value =
      count === "cost" ? (fieldsOf(cost)["total"] ?? cost) : (fields[count] ?? fields[OTHER_NAMES[count] ?? ""])
    if (typeof value === "number" && Number.isFinite(value)) numbers[count] = value
  }
  return Object.keys(numbers).length === 0 ? undefined : numbers
}

export interface ModelUsage {
  readonly model: string
  readonly calls: number
  /** Sums of what was reported. */
  readonly numbers: Numbers
  /** How many of the calls did not report a number. */
  readonly unknown: { readonly [C in Count]: number }
}

/** The calls of these rows by model, in the order of the first calls. */
export function usageByModel(rows: Iterable<Row>): readonly ModelUsage[] {
  const models = new Map<
    string,
    { calls: number; numbers: { [C in Count]?: number }; unknown: Record<Count, number> }
  >()
  for (const { call, model = "", usage = {} } of rows) {
    if (call === undefined) continue
    let sums = models.get(model)
    if (sums === undefined) {
      sums = {
        calls: 0,
        numbers: {},
        unknown: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0, cost: 0 },
      }
      models.set(model, sums)
    }
    sums.calls++
    for (const count of COUNTS) {
      const value = usage[count]
      if (value === undefined) sums.unknown[count]++
      else sums.numbers[count] = (sums.numbers[count] ?? 0) + value
    }
  }
  return [...models].map(([model, sums]) => ({ model, ...sums }))
}
