/** Values and errors as short texts for failure messages. */
import { TimeoutError } from "./timeout.ts"

const LONGEST = 160

/** Shortened; characters that are easy to overlook are written as escapes. */
export function show(value: unknown): string {
  if (typeof value === "string") return shortened(escaped(JSON.stringify(value)))
  if (value instanceof Error) return showError(value)
  if (value instanceof Uint8Array)
    return `${value.length} bytes [${[...value.subarray(0, 16)].join(" ")}${value.length > 16 ? " …" : ""}]`
  if (typeof value !== "object" || value === null) return String(value)
  return shortened(escaped(json(value)))
}

/** A thrown value, which need not be an Error. */
export function showError(error: unknown): string {
  if (error instanceof TimeoutError) return `it ${error.message}`
  if (!(error instanceof Error)) return `a thrown ${typeof error}, not an Error: ${show(error)}`
  const code = (error as { code?: unknown }).code
  return `${code === undefined ? error.name : `code "${String(code)}"`}: ${shortened(error.message)}`
}

function json(value: object): string {
  try {
    return (
      JSON.stringify(value, (_, inner: unknown) => (inner instanceof AbortSignal ? "AbortSignal" : inner)) ??
      String(value)
    )
  } catch {
    return Object.prototype.toString.call(value)
  }
}

function escaped(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
}

function shortened(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}… (${text.length} characters)`
}
