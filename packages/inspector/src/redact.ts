/**
 * Applies a caller's redaction to records. It gets every text of a record but the fields that hold the log together: ids, types, roles,
 * times, and the names of the fields of entries, messages and blocks. Free data, such as the arguments of a tool, is redacted with its keys.
 */
import { isObject } from "./model/fields.ts"

/** Returns the text to show in place of one of the log. */
export type Redact = (text: string) => string

export function redactRecord<T>(record: T, redact: Redact): T {
  return redactFields(record, redact, "entry") as T
}

/** Every text, and every key. */
export function redactData<T>(value: T, redact: Redact): T {
  if (typeof value === "string") return redact(value) as T
  if (Array.isArray(value)) return value.map((item: unknown) => redactData(item, redact)) as T
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [redact(key), redactData(item, redact)])) as T
}

type Level = "entry" | "message" | "block"

/** Fields that other records refer to, or that say how to read the others. */
const KEPT: Readonly<Record<Level, ReadonlySet<string>>> = {
  entry: new Set([
    "type",
    "id",
    "parentId",
    "timestamp",
    "targetId",
    "fromId",
    "firstKeptEntryId",
    "messageId",
    "settles",
    "blobs",
    "format",
  ]),
  message: new Set(["role", "toolCallId", "stopReason"]),
  block: new Set(["type", "id", "mimeType"]),
}

function redactFields(record: unknown, redact: Redact, level: Level): unknown {
  if (!isObject(record)) return redactData(record, redact)
  const kept = KEPT[level]
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [key, kept.has(key) ? value : redactField(key, value, redact, level)]),
  )
}

function redactField(key: string, value: unknown, redact: Redact, level: Level): unknown {
  if (key === "message" && level === "entry") return redactFields(value, redact, "message")
  if (key === "content" && level !== "block" && Array.isArray(value))
    return value.map((block: unknown) => redactFields(block, redact, "block"))
  // Numbers under fixed names: without them the usage would be unknown.
  if (key === "usage" && level !== "block") return value
  return redactData(value, redact)
}
