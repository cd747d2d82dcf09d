/** The record of a file in a snapshot: its state at one moment, as JSON in a document. */
import type { SkipReason } from "./types.ts"

export type FileRecord =
  | {
      /** `sha256:` and the hash of the blob; null: there was no file. */
      readonly blob: string | null
      readonly bytes: number
      readonly mode?: number
    }
  | { readonly skipped: SkipReason }

export const ABSENT: FileRecord = { blob: null, bytes: 0 }

export function toRef(hash: string): string {
  return `sha256:${hash}`
}

export function hashIn(ref: string): string {
  return ref.slice("sha256:".length)
}

/** Whether two records are of the same state. A mode counts only if both have one: not every system has modes. */
export function isSame(a: FileRecord, b: FileRecord | undefined): boolean {
  if (b === undefined) return false
  if ("skipped" in a || "skipped" in b) return "skipped" in a && "skipped" in b && a.skipped === b.skipped
  return a.blob === b.blob && (a.mode === undefined || b.mode === undefined || a.mode === b.mode)
}

/** Whether a value, read from a document or a log, is a record. */
export function isRecord(value: unknown): value is FileRecord {
  if (typeof value !== "object" || value === null) return false
  const { blob, bytes, mode, skipped } = value as Readonly<Record<string, unknown>>
  if (skipped !== undefined) return REASONS.has(skipped)
  if (mode !== undefined && !Number.isSafeInteger(mode)) return false
  return isRef(blob) && Number.isSafeInteger(bytes)
}

export function isRef(blob: unknown): blob is string | null {
  return blob === null || (typeof blob === "string" && /^sha256:[0-9a-f]{64}$/.test(blob))
}

const REASONS: ReadonlySet<unknown> = new Set<SkipReason>(["too_large", "not_a_file", "unreadable", "outside"])
