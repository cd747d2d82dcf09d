/** Numbers, times and tables for people. */
import type { Line, Span } from "./lines.ts"
import { spansOf } from "./lines.ts"
import { cleanLine } from "./sanitize.ts"

const UNITS = ["B", "kB", "MB", "GB", "TB"] as const

/** In powers of 1,000, as the limits of the format are: 112 MB is 112,000,000 bytes. */
export function formatBytes(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000
    unit++
  }
  const digits = unit > 0 && value < 9.95 ? 1 : 0
  return `${value.toFixed(digits)} ${UNITS[unit]}`
}

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How long ago; a time that lies ahead is "now", a clock being wrong more often than a session being of tomorrow. */
export function formatAge(iso: string, now: number): string {
  const age = now - Date.parse(iso)
  if (Number.isNaN(age)) return "?"
  if (age < MINUTE) return "now"
  if (age < HOUR) return `${Math.floor(age / MINUTE)} min`
  if (age < DAY) return `${Math.floor(age / HOUR)} h`
  if (age < 60 * DAY) return `${Math.floor(age / DAY)} d`
  return iso.slice(0, 10)
}

export function formatCount(count: number, one: string, many = `${one}s`): string {
  return `${formatNumber(count)} ${count === 1 ? one : many}`
}

export function formatNumber(value: number): string {
  return Math.round(value).toLocaleString("en-US")
}

/** `3 parts, 112 MB`, as `rm`, `list` and `show` say it. */
export function formatSize(parts: number, bytes: number): string {
  return `${formatCount(parts, "part")}, ${formatBytes(bytes)}`
}

/** `2026-02-16 10:20`, in UTC, so that it reads the same on every machine; anything else as it stands. */
export function formatTime(iso: string): string {
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(iso) ? `${iso.slice(0, 10)} ${iso.slice(11, 16)}` : iso
}

export type Align = "left" | "right"

/** Columns as wide as their widest cell, two spaces apart; the last one is not padded. */
export function table(rows: readonly (readonly Span[])[], align: readonly Align[]): Line[] {
  const widths = align.map((_, column) => Math.max(0, ...rows.map((row) => widthOf(row[column] ?? ""))))
  return rows.map((row) =>
    row.flatMap((cell, column) => {
      const padding = " ".repeat((widths[column] ?? 0) - widthOf(cell))
      const gap = column === 0 ? "" : "  "
      if (align[column] === "right") return [gap + padding, cell]
      return column === row.length - 1 ? [gap, cell] : [gap, cell, padding]
    }),
  )
}

/** The line as far as the columns of a terminal reach. */
export function fit(line: Line, columns: number | undefined): Line {
  if (columns === undefined) return line
  let room = columns
  const kept: Span[] = []
  for (const span of spansOf(line)) {
    const text = cut(textOf(span), room)
    kept.push(typeof span === "string" ? text : { ...span, text })
    room -= text.length
    if (room <= 0) break
  }
  return kept
}

/** At most `units` UTF-16 units, with an ellipsis where something is missing, never half of a surrogate pair. */
export function cut(text: string, units: number): string {
  if (text.length <= units) return text
  return `${text.slice(0, Math.max(0, units - 1)).replace(/[\ud800-\udbff]$/, "")}…`
}

function textOf(span: Span): string {
  return cleanLine(typeof span === "string" ? span : span.text)
}

function widthOf(span: Span): number {
  return textOf(span).length
}
