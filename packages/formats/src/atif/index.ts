/** Agent Trajectory Interchange Format, which Harbor and tools for evaluation read: one JSON document with the steps of an agent. Written as 1.7. */
import type { Format } from "../base/format.ts"
import type { RecordMessages } from "../base/list-format.ts"
import { defineListFormat } from "../base/list.ts"
import { type Fields, isObject, numberOf, stringOf, timestampOf } from "../base/values.ts"
import { messagesOf } from "./read.ts"
import { recordsOf } from "./write.ts"

export const atif: Format = defineListFormat({
  format: "atif",
  title: "ATIF trajectories",
  versions: "1.0 to 1.7",
  field: "steps",
  contents: "history",
  rejects: (_, document) =>
    stringOf(document?.["schema_version"])?.startsWith("ATIF-") === true
      ? undefined
      : "has no `schema_version` that begins with `ATIF-`",
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
      if (messages !== undefined)
        yield { records: [record], messages, timestamp: timestampOf((record as Fields)["timestamp"]) }
      else yield { records: [record], messages: [], problem: "is no step with a known `source`" }
    }
  },
  write: recordsOf,
  writeDocument(records, { id, old, restored, model }) {
    const steps = numbered(records, restored)
    if (old !== undefined) return { ...old, steps }
    const agent = { name: "sessions", version: "4", ...(model === undefined ? {} : { model_name: model }) }
    return { schema_version: "ATIF-v1.7", session_id: id, agent, steps }
  },
  // The results of an agent's calls are in the observation of its step.
  joins: (before, { role }) => role === "toolResult" && before[0]?.role === "assistant",
})

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
