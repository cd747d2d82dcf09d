/** Agent Trajectory Interchange Format, which Harbor and tools for evaluation read: one JSON document with the steps of an agent. Written as 1.8. */
import type { Format } from "../base/format.ts"
import type { RecordMessages } from "../base/list-format.ts"
import { defineListFormat } from "../base/list.ts"
import { type Fields, isObject, numberOf, stringOf, timestampOf } from "../base/values.ts"
import { messagesOf, replacesContext } from "./read.ts"
import { recordsOf } from "./write.ts"

export const atif: Format = defineListFormat({
  format: "atif",
  title: "ATIF trajectories",
  versions: "1.0 to 1.8",
  field: "steps",
  contents: "history-and-context",
  rejects: (_, document) =>
    VERSION.test(stringOf(document?.["schema_version"]) ?? "")
      ? undefined
      : "has no `schema_version` that begins with `ATIF-v1.`",
  factsOf({ session_id: session, trajectory_id: trajectory, steps }) {
    const times = Array.isArray(steps) ? (steps as readonly unknown[]).filter(isObject) : []
    const timestamp = times.map((step) => timestampOf(step["timestamp"])).find((time) => time !== undefined)
    // Trajectories of subagents may have the session of their parent.
    const ids = [stringOf(session), stringOf(trajectory)].filter((id) => id !== undefined)
    return { timestamp, ...(ids.length === 0 ? {} : { id: ids.join("/") }) }
  },
  *read(records): Iterable<RecordMessages> {
    const toolNames = new Map<string, string>()
    for (const record of records) {
      const messages = isObject(record) ? messagesOf(record, toolNames) : undefined
      if (messages !== undefined) yield stepOf(record as Fields, messages)
      else yield { records: [record], messages: [], problem: "is no step with a known `source`" }
    }
  },
  write: recordsOf,
  writeDocument(records, { id, old, restored, model }) {
    const steps = numbered(records, restored)
    if (old !== undefined) return { ...old, ...versionOf(old, records, restored), steps }
    const agent = { name: "sessions", version: "4", ...(model === undefined ? {} : { model_name: model }) }
    return { schema_version: NEWEST, session_id: id, agent, steps }
  },
  // The results of an agent's calls are in the observation of its step.
  joins: ([first], message) =>
    message.role === "toolResult" &&
    first?.role === "assistant" &&
    first.content.some(({ type, id }) => type === "toolCall" && id === message.toolCallId),
})

const VERSION = /^ATIF-v1\.(\d+)$/

/** Every version is a part of the next one. */
const NEWEST = "ATIF-v1.8"

/** A document with new steps is of the version that they are of. */
function versionOf(old: Fields, records: readonly unknown[], restored: ReadonlySet<unknown>): Fields {
  const minor = (version: unknown): number => Number(VERSION.exec(stringOf(version) ?? "")?.[1] ?? 0)
  const isOlder = minor(old["schema_version"]) < minor(NEWEST)
  return isOlder && records.some((record) => !restored.has(record)) ? { schema_version: NEWEST } : {}
}

/** A model gets the observation of a step that replaces the context, and nothing before it. */
function stepOf(record: Fields, messages: readonly Fields[]): RecordMessages {
  const part = { records: [record], messages, timestamp: timestampOf(record["timestamp"]) }
  if (!replacesContext(record)) return part
  return { ...part, resetAt: 1 }
}

/** New steps get the number after that of the step before. */
function numbered(records: readonly unknown[], restored: ReadonlySet<unknown>): readonly unknown[] {
  let last = 0
  return records.map((record) => {
    if (!isObject(record)) return record
    const id = numberOf(record["step_id"])
    last = id ?? last + 1
    return id === undefined && !restored.has(record) ? { step_id: last, ...record } : record
  })
}
