/** The tables of the report: each figure with its raw loop and its target. */
import type { Result } from "../report.ts"
import { outcomesOf, type Target, targets } from "../targets.ts"
import { escaped, show } from "./text.ts"

export function tables(results: readonly Result[]): string {
  const known = new Set(targets.map(({ id }) => id))
  const others = [...new Set(results.map(({ id }) => id))].filter((id) => !known.has(id))
  const all: readonly Target[] = [...targets, ...others.map((id) => ({ id, what: "", options: "", checks: [] }))]
  const articles = all.flatMap((target) => {
    const own = results.filter(({ id }) => id === target.id)
    return own.length === 0 ? [] : [article(target, own)]
  })
  return `<section><h2>Every figure</h2>
${articles.join("\n")}
</section>`
}

function article({ id, what, raw, options, bound }: Target, results: readonly Result[]): string {
  const short = results.some((result) => outcomesOf(result).some(({ holds }) => !holds))
  const how = [capitalized(what), options === "" ? "" : `With ${options}.`, raw === undefined ? "" : `Raw: ${raw}.`]
  return `<article><h3>${escaped(id)}</h3>
<p class="how">${how
    .filter((text) => text !== "")
    .map((text) => escaped(text.endsWith(".") ? text : `${text}.`))
    .join(" ")}</p>
<table><thead><tr><th>runtime</th><th>median</th><th>raw</th><th>ratio</th><th>target</th></tr></thead>
<tbody>${results.map(row).join("\n")}</tbody></table>
${short && bound !== undefined ? `<p class="how">${escaped(bound)}</p>` : ""}</article>`
}

function capitalized(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
}

function row(result: Result): string {
  const { runtime, value, unit, spread, raw, ratio, quick, work = {}, peers = {} } = result
  const counted = [...Object.entries(peers), ...Object.entries(work)].map(([name, count]) => `${name} ${show(count)}`)
  const checks = outcomesOf(result).map(({ label, holds }) =>
    holds ? `${escaped(label)}\u00a0✓` : `<span class="short">${escaped(label)}: short</span>`,
  )
  const cells: readonly (readonly [string, string])[] = [
    ["runtime", escaped(quick ? `${runtime}, quick` : runtime)],
    ["median", `<span class="value">${show(value)} ${escaped(unit)}</span> (${show(spread[0])} to ${show(spread[1])})`],
    ["raw", raw === undefined ? "" : show(raw)],
    ["ratio", ratio === undefined ? "" : ratio.toFixed(2)],
    ["target", checks.join("<br>")],
  ]
  const beside = counted.length === 0 ? "" : `<tr><td colspan="5" class="how">${escaped(counted.join(" · "))}</td></tr>`
  return `<tr>${cells.map(([name, cell]) => `<td data-name="${name}">${cell}</td>`).join("")}</tr>${beside}`
}
