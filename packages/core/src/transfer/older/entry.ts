/** Converts one entry of version 3, of either dialect, to version 4. `v3-to-v4.ts` resolves references to other entries. */
import { type LogRecord, withoutTransients } from "../../format/line.ts"
import { withTextBlock } from "../../format/new-entry.ts"
import type { Entry } from "../../format/entry.ts"
import { type Fields, isObject } from "../../format/shape.ts"
import { isoOf } from "./records.ts"
import { withSections } from "./system-prompt.ts"

/** Position of an entry, and the defaults for its missing fields. */
export interface EntryPosition {
  readonly seq: number
  /** Id of the entry before it. */
  readonly parentId: string | null
  /** Timestamp of the entry before it. */
  readonly timestamp: string
}

export function entryToV4(older: LogRecord, position: EntryPosition): Entry {
  const payload = payloadToV4(older)
  const { type, id, parentId = position.parentId, seq: _, timestamp, ...rest } = withoutTransients(payload)
  return {
    type,
    id: id as string,
    parentId: parentId as string | null,
    seq: position.seq,
    timestamp: timestampOf(timestamp) ?? position.timestamp,
    ...rest,
  } as Entry
}

/** Null, which clears the title, for an empty or missing one. */
export function titleOf(name: unknown): string | null {
  return typeof name === "string" && name.trim() !== "" ? name : null
}

function timestampOf(timestamp: unknown): string | undefined {
  if (typeof timestamp === "number") return isoOf(timestamp)
  return typeof timestamp === "string" ? timestamp : undefined
}

function payloadToV4(entry: LogRecord): LogRecord {
  switch (entry.type) {
    case "message":
      return isObject(entry["message"]) ? { ...entry, message: withUsage(withTextBlock(entry["message"])) } : entry
    case "context_edit":
      return isObject(entry["replacement"]) ? { ...entry, replacement: withTextBlock(entry["replacement"]) } : entry
    case "custom_message":
      return withTextBlock(entry)
    case "model_change":
      return modelChange(entry)
    case "thinking_level_change":
      return { ...entry, thinkingLevel: entry["thinkingLevel"] ?? "off" }
    case "session_info": {
      const { name, ...rest } = entry
      return { source: "user", ...rest, type: "title_change", title: titleOf(name) }
    }
    case "title_change":
      return { source: "user", ...entry, title: titleOf(entry["title"]) }
    case "compaction":
      return withSystem(withFiles(fromExtension(withUsage(entry))))
    case "branch_summary":
      return fromExtension(withUsage(entry))
    case "usage":
      return withUsage(entry)
    case "leaf":
      return leaf(entry)
    default:
      return entry
  }
}

function withUsage<T extends Fields>(holder: T): T {
  const usage = holder["usage"]
  if (!isObject(usage)) return holder
  const renamed = rename(rename(usage, "inputTokens", "input"), "outputTokens", "output")
  return renamed === usage ? holder : { ...holder, usage: renamed }
}

/** pi: `{provider, modelId}`. oh-my-pi: `{model: "provider/id"}`; the id may contain further slashes. */
function modelChange(entry: LogRecord): LogRecord {
  const { provider, model, modelId, ...rest } = entry
  if (typeof provider === "string") {
    return typeof modelId === "string" && typeof model !== "string"
      ? { ...rest, type: entry.type, provider, model: modelId }
      : entry
  }
  if (typeof model !== "string" || provider !== undefined) return entry
  const slash = model.indexOf("/")
  return slash < 0 ? entry : { ...entry, provider: model.slice(0, slash), model: model.slice(slash + 1) }
}

function fromExtension(entry: LogRecord): LogRecord {
  return rename(entry, "fromHook", "fromExtension")
}

/** File lists of a compaction, which older logs have in `details`. The `details` of an extension have no known meaning. */
function withFiles(entry: LogRecord): LogRecord {
  const details = entry["fromExtension"] !== true && isObject(entry["details"]) ? entry["details"] : {}
  return {
    ...entry,
    readFiles: texts(entry["readFiles"] ?? details["readFiles"]),
    modifiedFiles: texts(entry["modifiedFiles"] ?? details["modifiedFiles"]),
  }
}

/** pi from 0.87 on puts the system message in force into each compaction. */
function withSystem(entry: LogRecord): LogRecord {
  const { systemMessage, ...rest } = entry
  if (!isObject(systemMessage) || systemMessage["role"] !== "system" || entry["system"] !== undefined) return entry
  const message = withSections(withTextBlock(systemMessage), true)
  return { ...rest, type: entry.type, system: [{ id: entry["id"], message }] }
}

/** The parent of a `leaf` entry is the abandoned leaf in pi, with the new one as its target; in version 4 it is the new one. */
function leaf(entry: LogRecord): LogRecord {
  const { targetId, parentId } = entry
  if (targetId !== null && typeof targetId !== "string") return entry
  return { ...(parentId === undefined ? {} : { fromId: parentId }), ...entry, parentId: targetId }
}

function rename<T extends Fields>(fields: T, from: string, to: string): T {
  if (fields[from] === undefined || fields[to] !== undefined) return fields
  const { [from]: value, ...rest } = fields
  return { ...rest, [to]: value } as unknown as T
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : []
}
