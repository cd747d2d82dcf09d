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

export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} KB`
  return `${(bytes / 1_000_000).toFixed(1)} MB`
}

/** In the reader's time zone; a text that is no time stays as it is. */
export function formatTime(timestamp: string): string {
  const date = new Date(timestamp)
  if (Number.isNaN(date.getTime())) return timestamp
  const two = (value: number): string => String(value).padStart(2, "0")
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}

/** A JSON value over several lines. */
export function formatJson(value: unknown): string {
  return JSON.stringify(value, null, 2) ?? ""
}
