/** The usage of a session, which each shutdown has in total since the session began, over all resumes. */
import { type Fields, fieldsOf, numberOf } from "../base/values.ts"

/** Our names of the counts. */
const COUNTS = [
  ["input", "inputTokens"],
  ["output", "outputTokens"],
  ["cacheRead", "cacheReadTokens"],
  ["cacheWrite", "cacheWriteTokens"],
] as const

export class UsageDifferences {
  readonly #before = new Map<string, Fields>()

  /** For each model, what was used since the shutdown before this one. A total that is smaller than before started anew. */
  since(modelMetrics: Fields): readonly { readonly model: string; readonly usage: Fields }[] {
    return Object.entries(modelMetrics).flatMap(([model, metrics]) => {
      const total = fieldsOf(fieldsOf(metrics)["usage"])
      const before = this.#before.get(model) ?? {}
      this.#before.set(model, total)
      const usage: Record<string, number> = {}
      for (const [ours, name] of COUNTS) {
        const now = numberOf(total[name]) ?? 0
        const then = numberOf(before[name]) ?? 0
        usage[ours] = now < then ? now : now - then
      }
      return Object.values(usage).some((count) => count > 0) ? [{ model, usage }] : []
    })
  }
}
