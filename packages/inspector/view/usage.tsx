/** Tokens and cost by model, as the providers reported them. A number that was not reported is unknown, and a sum says how many calls lack it. */
import type { VNode } from "preact"
import { useState } from "preact/hooks"
import { type Count, COUNTS, type Row } from "../src/model/types.ts"
import { type ModelUsage, usageByModel } from "../src/model/usage.ts"
import { formatCost, formatCount, formatNumber } from "./format.ts"
import { pathTo } from "./paths.ts"
import type { SessionData } from "./source.ts"

const NAMES: Readonly<Record<Count, string>> = {
  input: "Input",
  output: "Output",
  cacheRead: "Cache read",
  cacheWrite: "Cache written",
  totalTokens: "Total",
  cost: "Cost",
}

export function Usage({ data: { rows, summary } }: { readonly data: SessionData }): VNode {
  const [all, setAll] = useState(true)
  const shown = all ? [...rows.values()] : pathTo(rows, summary.leaf).map((seq) => rows.get(seq) as Row)
  const models = usageByModel(shown)
  return (
    <>
      <h2>Usage</h2>
      <label class="choice">
        <input type="checkbox" checked={all} onChange={() => setAll(!all)} /> All branches, not only the current one
      </label>
      {models.length === 0 ? (
        <p class="note">The log has no model calls: tokens and cost are unknown.</p>
      ) : (
        <div class="models">
          {models.map((usage) => (
            <Model key={usage.model} usage={usage} />
          ))}
        </div>
      )}
      <p class="note">As the providers reported it. Cost is in the currency that they reported.</p>
    </>
  )
}

function Model({ usage }: { readonly usage: ModelUsage }): VNode {
  const { model, calls } = usage
  return (
    <section>
      <h3>{model === "" ? "Unknown model" : model}</h3>
      <dl class="facts-list">
        <div>
          <dt>Calls</dt>
          <dd>{formatNumber(calls)}</dd>
        </div>
        {COUNTS.map((count) => (
          <div key={count}>
            <dt>{NAMES[count]}</dt>
            <dd>{sumText(usage, count)}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

export function sumText({ numbers, unknown }: ModelUsage, count: Count): string {
  const sum = numbers[count]
  if (sum === undefined) return "unknown"
  const text = count === "cost" ? formatCost(sum) : formatNumber(sum)
  return unknown[count] === 0 ? text : `at least ${text}; ${formatCount(unknown[count], "call")} unknown`
}
