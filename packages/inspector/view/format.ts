/** Numbers, times and sizes as people read them. */

const NUMBER = new Intl.NumberFormat("en")

export function formatNumber(value: number): string {
  return NUMBER.format(value)
}

export function formatCount(count: number, noun: string, plural: string = `${noun}s`): string {
  return `${formatNumber(count)} ${count === 1 ? noun : plural}`
}

/** Cost has no currency in the log. */
export function formatCost(value: number): string {
  return value.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 6 })
}

const UNITS = ["B", "kB", "MB", "GB", "TB"] as const

/** In powers of 1,000, as the command shows them. */
export function formatBytes(bytes: number): string {
  let [value, unit] = [bytes, 0]
  for (; value >= 999.5 && unit < UNITS.length - 1; unit++) value /= 1_000
  return `${value.toFixed(unit > 0 && value < 9.95 ? 1 : 0)} ${UNITS[unit]}`
}

/** In the reader's time zone; a text that is no time stays as it is. A log without any date has the beginning of 1970: `?`. */
export function formatTime(timestamp: string): string {
  const date = new Date(timestamp)
  if (date.getTime() === 0) return "?"
  if (Number.isNaN(date.getTime())) return timestamp
  const two = (value: number): string => String(value).padStart(2, "0")
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}

/** A JSON value over several lines. */
export function formatJson(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? ""
}
