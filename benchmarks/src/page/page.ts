import type { Report } from "../merge.ts"
import { COLOURS } from "./draw.ts"
import type { Figure } from "./plots.ts"
import { tables } from "./tables.ts"
import { escaped } from "./text.ts"

/** Widths of a plot: full width, and narrow enough for a phone to show it unscaled. */
const WIDE = 720
const NARROW = 344

/** The report as one HTML page without other files. */
export function page({ machine, results }: Report, figures: readonly Figure[]): string {
  const { cpu, cores, memoryGB, system } = machine
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>@sessions, measured</title>
<style>${STYLE}</style>
<h1>@sessions, measured</h1>
<p>On ${escaped(`${String(cpu)}, ${String(cores)} cores, ${String(memoryGB)} GB, ${String(system)}`)}. Ours and the raw loop ran alternately in
one run. Figures are medians, in parentheses the least and the most of all rounds; a ratio is ours over raw as rates, so 1 is the limit.</p>
${figures.map(figure).join("\n")}
${tables(results)}
</html>
`
}

function figure({ title, caption, draw }: Figure): string {
  const label = `aria-label="${escaped(title)}" `
  const drawn = (width: number, name: string): string =>
    draw(width)
      .replace("<svg ", `<svg ${label}`)
      .replace(/class="/, `class="${name} `)
  return `<figure><h2>${escaped(title)}</h2>
${drawn(WIDE, "wide")}
${drawn(NARROW, "narrow")}
<figcaption>${escaped(caption)}</figcaption></figure>`
}

const STYLE = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif; ${COLOURS.light} }
@media (prefers-color-scheme: dark) { :root { ${COLOURS.dark} } }
body { max-width: 48rem; margin: 2rem auto 4rem; padding: 0 1rem; background: var(--ground); color: var(--ink); }
h1 { font-size: 1.75rem; line-height: 1.2; }
h2 { font-size: 1.125rem; margin: 0 0 0.75rem; }
figure { margin: 3rem 0; }
figcaption, .how { font-size: 0.875rem; color: var(--soft); }
svg { display: block; max-width: 100%; height: auto; overflow: visible; }
figcaption { margin-top: 0.75rem; }
.narrow { display: none; }
section { margin: 3rem 0; }
article { border-top: 1px solid var(--grid); padding: 0.75rem 0; }
article h3 { font: 600 0.9375rem/1.4 ui-monospace, monospace; margin: 0; overflow-wrap: anywhere; }
article p { margin: 0.125rem 0; }
table { border-collapse: collapse; table-layout: fixed; width: 100%; margin: 0.375rem 0; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
th { text-align: left; font-weight: normal; color: var(--soft); }
th, td { padding: 0 1rem 0 0; vertical-align: top; }
th:nth-child(1) { width: 15%; } th:nth-child(2) { width: 34%; } th:nth-child(3) { width: 9%; } th:nth-child(4) { width: 7%; }
.value { font-weight: 600; }
.short { color: var(--other); font-weight: 600; }
@media (max-width: 50rem) {
  .wide { display: none; }
  .narrow { display: block; width: 100%; }
  thead { display: none; }
  tbody, tr, td { display: block; }
  tr { margin: 0.5rem 0; }
  td { padding: 0; }
  td[data-name]:not(:empty)::before { content: attr(data-name) ": "; color: var(--soft); }
}
`
