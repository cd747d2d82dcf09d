import type { Result } from "../report.ts"
import type { Figure } from "./plots.ts"

/** The report as one page that needs nothing beside it. */
export function page(
  { machine, results }: { readonly machine: Record<string, unknown>; readonly results: readonly Result[] },
  figures: readonly Figure[],
): string {
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>@sessions: measured</title>
<style>
  :root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; }
  body { max-width: 46rem; margin: 2rem auto; padding: 0 1rem; }
  figure { margin: 2.5rem 0; overflow-x: auto; }
  figcaption { font-size: 0.875rem; opacity: 0.75; }
  svg { max-width: 100%; height: auto; }
  .table { overflow-x: auto; }
  table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
  th, td { padding: 0.25rem 0.75rem 0.25rem 0; text-align: right; vertical-align: top; border-bottom: 1px solid color-mix(in srgb, currentColor 15%, transparent); }
  th:first-child, td:first-child, td:last-child, th:last-child { text-align: left; }
</style>
<h1>Measured</h1>
<p>${escaped(
    Object.entries(machine)
      .map(([name, value]) => `${name} ${String(value)}`)
      .join(", "),
  )}. Ours and the raw loop took turns in one run; a ratio is ours over raw as rates, so 1 is the limit.</p>
${figures.map(figure).join("\n")}
<h2>Every figure</h2>
<div class="table"><table>
<thead><tr><th>id</th><th>runtime</th><th>median</th><th>spread</th><th>raw</th><th>ratio</th><th>counted, peers</th></tr></thead>
<tbody>
${results.map(row).join("\n")}
</tbody></table></div>
</html>
`
}

function figure({ title, caption, svg }: Figure): string {
  return `<figure><h2>${escaped(title)}</h2>${svg}<figcaption>${escaped(caption)}</figcaption></figure>`
}

function row({ id, runtime, value, unit, spread, raw, ratio, work = {}, peers = {} }: Result): string {
  const more = [...Object.entries(work), ...Object.entries(peers)].map(([name, count]) => `${name} ${show(count)}`)
  const cells = [
    id,
    runtime,
    `${show(value)} ${unit}`,
    `${show(spread[0])} to ${show(spread[1])}`,
    raw === undefined ? "" : show(raw),
    ratio === undefined ? "" : ratio.toFixed(2),
    more.join(", "),
  ]
  return `<tr>${cells.map((cell) => `<td>${escaped(cell)}</td>`).join("")}</tr>`
}

function show(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)))
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;")
}
