/** Formats times, sizes and counts for display. */

const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" })
const MINUTE = 60_000
const DAY = 24 * 60 * MINUTE

export function ago(iso: string, now = Date.now()): string {
  const past = now - Date.parse(iso)
  if (past < MINUTE) return "now"
  if (past < 60 * MINUTE) return RELATIVE.format(-Math.floor(past / MINUTE), "minute")
  if (past < DAY) return RELATIVE.format(-Math.floor(past / (60 * MINUTE)), "hour")
  if (past < 7 * DAY) return RELATIVE.format(-Math.floor(past / DAY), "day")
  const year = new Date(iso).getFullYear() === new Date(now).getFullYear() ? {} : { year: "numeric" as const }
  return new Date(iso).toLocaleDateString(undefined, { day: "numeric", month: "short", ...year })
}

export function exactly(iso: string): string {
  return new Date(iso).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })
}

/** The time of day, with the date if it is not today. */
export function clock(iso: string, now = Date.now()): string {
  const date = new Date(iso)
  const today = date.toDateString() === new Date(now).toDateString()
  return date.toLocaleString(undefined, {
    hour: "numeric",
    minute: "2-digit",
    ...(today ? {} : { day: "numeric", month: "short" }),
  })
}

export function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  const units = ["kB", "MB", "GB", "TB"]
  const power = Math.min(Math.floor(Math.log10(bytes) / 3), units.length)
  const value = bytes / 1_000 ** power
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[power - 1]}`
}

export function count(number: number, thing: string): string {
  return `${number.toLocaleString()} ${thing}${number === 1 ? "" : "s"}`
}
