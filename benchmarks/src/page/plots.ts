/** The plots of a report, as SVG that needs nothing beside it. */
import * as Plot from "@observablehq/plot"
import { parseHTML } from "linkedom"
import type { Result } from "../report.ts"

export interface Figure {
  readonly name: string
  readonly title: string
  /** What the reader sees in it, and with which options it was measured. */
  readonly caption: string
  readonly svg: string
}

interface Row {
  readonly x: number
  readonly y: number
  readonly what: string
}

type Options = Parameters<typeof Plot.plot>[0]

export function figures(results: readonly Result[]): readonly Figure[] {
  const find = (id: string): Result | undefined => results.find((result) => result.id === id)
  return [
    latency(find("append.latency")),
    batches(find("append.batch")),
    history(find("resume.history")),
    replay(results.filter(({ id }) => id.startsWith("replay."))),
    peers(results.filter(({ peers: others }) => others !== undefined)),
  ].flatMap((figure) => figure ?? [])
}

function latency(result: Result | undefined): Figure | undefined {
  if (result?.series === undefined) return undefined
  return {
    name: "append-latency",
    title: "How long one append takes",
    caption: `Messages of 2 KB, each awaited, durability os, on ${result.runtime}. Half of all appends are faster than the middle of the curve.`,
    svg: lines(rowsOf(result), {
      x: { label: "share of appends that are at least as fast", tickFormat: "%" },
      y: { label: "microseconds", type: "log", grid: true },
    }),
  }
}

function batches(result: Result | undefined): Figure | undefined {
  if (result?.series === undefined) return undefined
  return {
    name: "append-batches",
    title: "Messages a second, by how many go together",
    caption: `Messages of 2 KB in one append, each append awaited, durability os, on ${result.runtime}.`,
    svg: lines(rowsOf(result), {
      x: { label: "messages in one append", type: "log", base: 2, tickFormat: "d" },
      y: { label: "messages a second", grid: true, tickFormat: "s" },
    }),
  }
}

function history(result: Result | undefined): Figure | undefined {
  if (result?.series === undefined) return undefined
  return {
    name: "resume",
    title: "Opening a session, by how long its history is",
    caption: `From open() to the context or the last 50 messages, in a new process with the files in the system's cache, on ${result.runtime}.`,
    svg: lines(rowsOf(result), {
      x: { label: "megabytes of history" },
      y: { label: "milliseconds", grid: true, zero: true },
    }),
  }
}

function replay(results: readonly Result[]): Figure | undefined {
  const rows = results.flatMap(({ id, runtime, value, raw }) => [
    { what: `${id}, ${runtime}`, who: "ours", y: value },
    ...(raw === undefined ? [] : [{ what: `${id}, ${runtime}`, who: "read, split and parse", y: raw }]),
  ])
  if (rows.length === 0) return undefined
  return {
    name: "replay",
    title: "Reading every entry of a long session",
    caption:
      "Milliseconds for the whole log, beside the loop that reads, looks for line ends and parses. Shorter is better.",
    svg: bars(rows, "milliseconds"),
  }
}

function peers(results: readonly Result[]): Figure | undefined {
  const rows = results.flatMap(({ id, unit, value, peers: others = {} }) => [
    { what: `${id} (${unit})`, who: "@sessions", y: value },
    ...Object.entries(others).map(([who, y]) => ({ what: `${id} (${unit})`, who, y })),
  ])
  if (rows.length === 0) return undefined
  return {
    name: "peers",
    title: "Beside what people use today",
    caption: "The same conversation in each. Shorter is better; the scale is logarithmic.",
    svg: bars(rows, "time", "log"),
  }
}

function rowsOf({ series = {} }: Result): Row[] {
  return Object.entries(series).flatMap(([what, points]) => points.map(([x, y]) => ({ x, y, what })))
}

function lines(rows: readonly Row[], options: Options): string {
  return draw({
    ...options,
    width: 720,
    height: 330,
    marginLeft: 60,
    marginRight: 150,
    marginBottom: 44,
    color: { domain: [...new Set(rows.map(({ what }) => what))], range: COLORS },
    marks: [
      Plot.ruleY([0], { strokeOpacity: 0 }),
      Plot.line(rows, { x: "x", y: "y", stroke: "what", strokeWidth: 2 }),
      Plot.dot(rows, { x: "x", y: "y", fill: "what", r: 3 }),
      Plot.text(
        rows,
        Plot.selectLast({ x: "x", y: "y", z: "what", text: "what", fill: "what", textAnchor: "start", dx: 8 }),
      ),
    ],
  })
}

interface Bar {
  readonly what: string
  readonly who: string
  readonly y: number
}

function bars(rows: readonly Bar[], label: string, type: "linear" | "log" = "linear"): string {
  const groups = new Set(rows.map(({ what }) => what)).size
  const start = type === "log" ? Math.min(...rows.map(({ y }) => y)) / 3 : 0
  return draw({
    width: 720,
    height: 24 * rows.length + 40 * groups + 60,
    marginLeft: 150,
    marginRight: 60,
    marginTop: 30,
    marginBottom: 44,
    x: {
      label,
      type,
      grid: true,
      ...(type === "log" && { domain: [start, Math.max(...rows.map(({ y }) => y)) * 1.2] }),
    },
    y: { label: null, domain: [...new Set(rows.map(({ who }) => who))] },
    fy: { label: null, axis: null, padding: 0.3, domain: [...new Set(rows.map(({ what }) => what))] },
    marks: [
      Plot.barX(rows, {
        x1: () => start,
        x2: "y",
        y: "who",
        fy: "what",
        fill: (row: Bar) => (row.who.includes("ours") || row.who === "@sessions" ? OURS : OTHERS),
      }),
      Plot.text(rows, {
        x: "y",
        y: "who",
        fy: "what",
        text: (row: Bar) => row.y.toPrecision(3),
        textAnchor: "start",
        dx: 4,
      }),
      Plot.text(
        [...new Set(rows.map(({ what }) => what))].map((what) => ({ what })),
        {
          fy: "what",
          text: "what",
          frameAnchor: "top-left",
          dx: -145,
          dy: -16,
          textAnchor: "start",
          fontWeight: "bold",
        },
      ),
    ],
  })
}

const OURS = "#2563eb"
const OTHERS = "#a3a3a3"
/** Told apart also by people who see few colours, and on dark ground. */
const COLORS = [OURS, "#d97706", "#059669", "#9333ea"]

function draw(options: Options): string {
  const { document } = parseHTML("<!doctype html><html><body></body></html>")
  const plot = Plot.plot({ ...options, document, style: { fontSize: "12px" } })
  const svg = plot.outerHTML
  // A file of its own has no page that gives it colours: neutral grey reads on light and on dark ground.
  return svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" color="#737373" ')
}
