/**
 * Applies a caller's redaction to records. It gets every text of a record but the fields that hold the log together: ids, types, roles,
 * times, and the names of the fields of entries, messages and blocks. Free data, such as the arguments of a tool, is redacted with its keys.
 */
import { MAX_DEPTH, toJsonText } from "@sessions/core/format"
import { isObject } from "./model/fields.ts"
import { COUNTS } from "./model/types.ts"

/** Returns the text to show in place of one of the log. */
export type Redact = (text: string) => string

export function redactRecord<T>(record: T, redact: Redact): T {
  return redactFields(record, redact, "entry") as T
}

/** Every text, and every key. What is nested deeper than a record may be is a text. */
export function redactData<T>(value: T, redact: Redact, depth: number = 0): T {
  if (typeof value === "string") return redact(value) as T
  if (depth === MAX_DEPTH) return redact(toJsonText(value)) as T
  if (Array.isArray(value)) return value.map((item: unknown) => redactData(item, redact, depth + 1)) as T
  if (!isObject(value)) return value
  const fields = Object.entries(value).map(([key, item]) => [redact(key), redactData(item, redact, depth + 1)])
  return Object.fromEntries(fields) as T
}

type Level = "entry" | "message" | "block"

/** Fields that other records refer to, or that say how to read the others. */
const KEPT: Readonly<Record<Level, ReadonlySet<string>>> = {
  entry: new Set(["type", "id", "parentId", "timestamp"]),
  message: new Set(["role", "toolCallId", "stopReason"]),
  block: new Set(["type", "id", "mimeType"]),
}

/** Of single types of entries: a field of the same name in an extension is a text like any other. */
const KEPT_OF_TYPE: Readonly<Record<string, ReadonlySet<string>>> = {
  session: new Set(["format"]),
  compaction: new Set(["firstKeptEntryId"]),
  branch_summary: new Set(["fromId", "settles"]),
  context_edit: new Set(["targetId"]),
  tombstone: new Set(["targetId"]),
  label: new Set(["targetId"]),
  file_snapshot: new Set(["messageId"]),
  tool_start: new Set(["targetId", "callId"]),
  leaf: new Set(["settles"]),
}

function redactFields(record: unknown, redact: Redact, level: Level): unknown {
  if (!isObject(record)) return redactData(record, redact)
  const { type } = record
  const ofType = level === "entry" && typeof type === "string" && Object.hasOwn(KEPT_OF_TYPE, type)
  const isKept = (key: string): boolean => KEPT[level].has(key) || (ofType && KEPT_OF_TYPE[type]?.has(key) === true)
  return Object.fromEntries(
    Object.entries(record)
      // The places of blobs name the fields of free data, and hold only in the stored line.
      .filter(([key]) => level !== "entry" || key !== "blobs")
      .map(([key, value]) => [key, isKept(key) ? value : redactField(key, value, redact, level)]),
  )
}

function redactField(key: string, value: unknown, redact: Redact, level: Level): unknown {
  if (key === "message" && level === "entry") return redactFields(value, redact, "message")
  if (key === "content" && level !== "block" && Array.isArray(value))
    return value.map((block: unknown) => redactFields(block, redact, "block"))
  if (key === "usage" && level !== "block") return redactUsage(value, redact)
  return redactData(value, redact)
}

/** The numbers that the usage is read from stay under their names: without them it would be unknown. */
const USAGE_NAMES: ReadonlySet<string> = new Set([...COUNTS, "inputTokens", "outputTokens", "total"])

function redactUsage(usage: unknown, redact: Redact): unknown {
  if (!isObject(usage)) return redactData(usage, redact)
  return Object.fromEntries(
    Object.entries(usage).map(([key, value]) =>
      USAGE_NAMES.has(key) ? [key, redactUsage(value, redact)] : [redact(key), redactData(value, redact)],
    ),
  )
}
