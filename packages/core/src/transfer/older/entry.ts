/** One entry of version 3, of either dialect, as one of version 4. What depends on other entries is left to `references.ts`. */
import { type LogRecord, withoutTransients } from "../../format/line.ts"
import { textBlocks } from "../../format/normalize.ts"
import type { Entry } from "../../format/records.ts"
import { type Fields, isObject } from "../../format/shape.ts"
import { isoOf } from "./header.ts"

/** What an entry takes from its surroundings where it does not say it itself. */
export interface EntrySurroundings {
  readonly seq: number
  /** Id of the entry before it. */
  readonly parentId: string | null
  /** Timestamp of the entry before it. */
  readonly timestamp: string
}

export function entryToV4(older: LogRecord, around: EntrySurroundings): Entry {
  const payload = payloadToV4(older)
  const { type, id, parentId = around.parentId, seq: _, timestamp, ...rest } = withoutTransients(payload)
  return {
    type,
    id: id as string,
    parentId: parentId as string | null,
    seq: around.seq,
    timestamp: timestampOf(timestamp) ?? around.timestamp,
    ...rest,
  }
}

/** The title of a record that has one: an empty one clears. */
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
      return isObject(entry["message"]) ? { ...entry, message: withUsage(withBlocks(entry["message"])) } : entry
    case "context_edit":
      return isObject(entry["replacement"]) ? { ...entry, replacement: withBlocks(entry["replacement"]) } : entry
    case "custom_message":
      return withBlocks(entry)
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
      return withFiles(fromExtension(withUsage(entry)))
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

function withBlocks<T extends Fields>(holder: T): T {
  const content = holder["content"]
  return typeof content === "string" ? { ...holder, content: textBlocks(content) } : holder
}

function withUsage<T extends Fields>(holder: T): T {
  const usage = holder["usage"]
  if (!isObject(usage)) return holder
  const renamed = rename(rename(usage, "inputTokens", "input"), "outputTokens", "output")
  return renamed === usage ? holder : { ...holder, usage: renamed }
}

/** pi: `{provider, modelId}`. oh-my-pi: `{model: "provider/id"}`, where the id may have further slashes. */
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

/** The files that a compaction's summary was told of. An extension's `details` are its own and may mean anything. */
function withFiles(entry: LogRecord): LogRecord {
  const details = entry["fromExtension"] !== true && isObject(entry["details"]) ? entry["details"] : {}
  return {
    ...entry,
    readFiles: texts(entry["readFiles"] ?? details["readFiles"]),
    modifiedFiles: texts(entry["modifiedFiles"] ?? details["modifiedFiles"]),
  }
}

/** pi's `leaf` hangs under the leaf it leaves and names the target; ours hangs under the target. */
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
