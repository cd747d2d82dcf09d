/** Draws line plots and bar plots as SVG. The colours are CSS variables of the page. */
import * as Plot from "@observablehq/plot"
import { parseHTML } from "linkedom"

export interface Row {
  readonly x: number
  readonly y: number
  readonly what: string
}

export interface Bar {
  /** Bars of one group are adjacent and share a scale. */
  readonly group: string
  readonly who: string
  readonly value: number
  readonly label: string
  readonly ours: boolean
}

/** Axes with a label. */
export interface Scales {
  readonly x: Plot.ScaleOptions & { readonly ticks?: readonly number[] }
  readonly y: Plot.ScaleOptions & { readonly ticks?: readonly number[] }
}

type Options = Parameters<typeof Plot.plot>[0]

/** They differ in lightness, so that colour-blind readers can distinguish them. */
const SERIES = ["var(--ours)", "var(--other)", "var(--third)"]
const FONT = 12
/** An estimate: the reader's font is unknown. */
const LETTER = 6.6

export function lines(rows: readonly Row[], width: number, { x, y }: Scales): string {
  const names = [...new Set(rows.map(({ what }) => what))]
  let at = 0
  const legend = names.map((what) => {
    const entry = { what, dx: at }
    at += (what.length + 4) * LETTER
    return entry
  })
  return draw({
    x,
    y,
    width,
    height: Math.round(width < 500 ? width * 0.75 : width * 0.45),
    marginLeft: 52,
    marginRight: 24,
    marginTop: 64,
    marginBottom: 44,
    color: { domain: names, range: SERIES },
    marks: [
      Plot.gridY({ ...ticksOf(y), stroke: "var(--grid)", strokeOpacity: 1 }),
      Plot.axisX({ ...axis(x), tickSize: 0 }),
      Plot.axisY({ ...axis(y), tickSize: 0, label: null }),
      Plot.text([labelOf(y)], { frameAnchor: "top-left", dx: -44, dy: -30, text: String, fill: "var(--soft)" }),
      Plot.line(rows, { x: "x", y: "y", stroke: "what", strokeWidth: 2 }),
      Plot.dot(rows, { x: "x", y: "y", fill: "what", r: 2.5 }),
      ...legend.flatMap(({ what, dx }) => [
        Plot.dot([what], { frameAnchor: "top-left", dx: dx - 44, dy: -52, r: 5, fill: () => what }),
        Plot.text([what], { frameAnchor: "top-left", dx: dx - 34, dy: -52, lineAnchor: "middle", text: [what] }),
      ]),
    ],
  })
}

export function bars(rows: readonly Bar[], width: number): string {
  const groups = [...new Set(rows.map(({ group }) => group))]
  const longest = new Map(
    groups.map((group) => [group, Math.max(...rows.filter((r) => r.group === group).map(({ value }) => value))]),
  )
  const most = Math.max(...rows.map(({ who }) => who.length))
  const left = Math.min(width * 0.48, most * LETTER + 12)
  // Each bar has its own position, since the programs differ between groups.
  const placed = groups.flatMap((group) => [
    { group, heading: true as const },
    ...rows.filter((row) => row.group === group).map((row) => ({ ...row, heading: false as const })),
  ])
  const places = placed.map((place, index) => ({ ...place, at: String(index) }))
  const headings = places.filter((place) => place.heading)
  const values = places.flatMap((place) => (place.heading ? [] : [place]))
  return draw({
    width,
    height: 24 * places.length + 8,
    marginLeft: left,
    marginRight: 76,
    marginTop: 0,
    marginBottom: 8,
    x: { axis: null, domain: [0, 1] },
    y: { axis: null, domain: places.map(({ at }) => at), padding: 0.25 },
    marks: [
      Plot.barX(values, {
        x: ({ value, group }: Bar) => value / (longest.get(group) ?? 1),
        y: "at",
        fill: ({ ours }: Bar) => (ours ? "var(--ours)" : "var(--rest)"),
        rx2: 3,
      }),
      Plot.text(values, { x: 0, y: "at", text: "who", textAnchor: "end", dx: -8, fill: "var(--ink)" }),
      Plot.text(values, {
        x: ({ value, group }: Bar) => value / (longest.get(group) ?? 1),
        y: "at",
        text: "label",
        textAnchor: "start",
        dx: 6,
        fill: "var(--ink)",
      }),
      Plot.text(headings, {
        y: "at",
        text: "group",
        frameAnchor: "left",
        textAnchor: "start",
        dx: -left,
        dy: 3,
        fontWeight: 600,
        fill: "var(--ink)",
      }),
    ],
  })
}

/** The SVG as a separate file: it follows the reader's light or dark colour scheme. */
export function standing(svg: string): string {
  const style = `<style>svg{${COLOURS.light}background:var(--ground)}@media(prefers-color-scheme:dark){svg{${COLOURS.dark}}}</style>`
  return svg.replace(/>/, `>${style}`)
}

/** Grey for the others, blue for ours; contrast on the background is at least 7:1 for text and 3:1 for marks. */
export const COLOURS = {
  light:
    "--ground:#ffffff;--ink:#1f2328;--soft:#59636e;--grid:#e4e8ec;--ours:#1f5fd6;--other:#c2570c;--third:#137a4a;--rest:#a5adb6;",
  dark: "--ground:#0d1117;--ink:#e6edf3;--soft:#9198a1;--grid:#262c36;--ours:#6ea8fe;--other:#f0a04b;--third:#4cc38a;--rest:#57606a;",
}

type Axis = Plot.AxisXOptions & Plot.AxisYOptions

function axis(scale: unknown): Axis {
  const { tickFormat } = scale as Axis
  return {
    ...ticksOf(scale),
    ...(tickFormat !== undefined && { tickFormat }),
    label: labelOf(scale),
    color: "var(--soft)",
  }
}

function ticksOf(scale: unknown): Axis {
  const { ticks } = scale as Axis
  return ticks === undefined ? {} : { ticks }
}

function labelOf(scale: unknown): string {
  return (scale as Axis).label ?? ""
}

function draw(options: Options): string {
  const { document } = parseHTML("<!doctype html><html><body></body></html>")
  const style = { fontSize: `${FONT}px`, fontFamily: "system-ui, sans-serif", color: "var(--ink)", background: "none" }
  const plot = Plot.plot({ ...options, document, style })
  return plot.outerHTML.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" role="img" ')
}
