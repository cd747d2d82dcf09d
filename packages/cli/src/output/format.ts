/** Formats numbers, sizes, times and tables for the text output. */
import { type Line, type Span, spansOf } from "./lines.ts"
import { sanitizeLine } from "./sanitize.ts"

const UNITS = ["B", "kB", "MB", "GB", "TB"] as const

/** In powers of 1,000, like the limits of the log format: 112 MB is 112,000,000 bytes. */
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

/** The time since `iso`, `?` if it is not known. A time in the future is "now": its cause is a wrong clock. */
export function formatAge(iso: string, now: number): string {
  if (!isKnownTime(iso)) return "?"
  const age = now - Date.parse(iso)
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

/** The size of a session, for example `3 parts, 112 MB`. */
export function formatSize(parts: number, bytes: number): string {
  return `${formatCount(parts, "part")}, ${formatBytes(bytes)}`
}

/** A log without any date, as other programs write them, has the beginning of 1970. */
export function isKnownTime(iso: string): boolean {
  const time = Date.parse(iso)
  return !Number.isNaN(time) && time !== 0
}

/** `2026-02-16 10:20`, in UTC, so the output is the same on every machine; `?` if it is not known. Text that is not a time stays unchanged. */
export function formatTime(iso: string): string {
  if (Date.parse(iso) === 0) return "?"
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d/.test(iso) ? `${iso.slice(0, 10)} ${iso.slice(11, 16)}` : iso
}

export type Align = "left" | "right"

/** Columns are as wide as their widest cell, two spaces apart; the last one is not padded. */
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

/** Cuts the line at the width of the terminal. */
export function fit(line: Line, columns: number | undefined): Line {
  if (columns === undefined) return line
  let left = columns
  const kept: Span[] = []
  for (const span of spansOf(line)) {
    const text = cut(textOf(span), left)
    kept.push(typeof span === "string" ? text : { ...span, text })
    left -= text.length
    if (left <= 0) break
  }
  return kept
}

/** Cuts text to `units` UTF-16 units, ellipsis included, without splitting a surrogate pair. */
export function cut(text: string, units: number): string {
  if (text.length <= units) return text
  return `${text.slice(0, Math.max(0, units - 1)).replace(/[\ud800-\udbff]$/, "")}…`
}

function textOf(span: Span): string {
  return sanitizeLine(typeof span === "string" ? span : span.text)
}

function widthOf(span: Span): number {
  return textOf(span).length
}
