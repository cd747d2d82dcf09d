/** What the lines of Qwen Code are: by `type`, and those of `system` by `subtype`. Versions are approximate; 0.24 is the newest that was looked at. */
import { type KindOf, kindsBy, type RecordTypes } from "../base/record-types.ts"
import { fieldsOf } from "../base/values.ts"

const of = (kind: "content" | "state" | "annotation", since: string, names: string): RecordTypes =>
  Object.fromEntries(names.split(" ").map((name) => [name, [kind, since]]))

const system = (kind: "state" | "annotation", since: string, names: string): RecordTypes =>
  Object.fromEntries(names.split(" ").map((name) => [`system/${name}`, [kind, since]]))

export const RECORD_TYPES: RecordTypes = {
  ...of("content", "0.4", "user assistant tool_result system/chat_compression"),
  // What a program that the model wrote has called: the model gets none of these results.
  ...of("annotation", "0.24", "tool_result/code_mode_tool_result"),
  ...system("annotation", "0.4", "ui_telemetry slash_command at_command custom_title attribution_snapshot"),
  ...system(
    "annotation",
    "0.20",
    "session_source session_sources_snapshot turn_result turn_attempt user_text_elements",
  ),
  ...system("annotation", "0.20", "session_artifact_event session_artifact_snapshot"),
  ...system("state", "0.4", "file_history_snapshot rewind parent_session"),
  ...system("state", "0.20", "session_model session_approval_mode session_execution_engine agent_bootstrap"),
  ...system("state", "0.20", "agent_retry agent_session_ready branch_checkpoint goal_state goal_turn_end"),
  ...system("state", "0.24", "managed_session_header_v1 managed_session_event_v1 managed_session_commit_v1"),
}

const kinds = kindsBy(RECORD_TYPES, ({ type, subtype }) =>
  type === "system" ? (subtype ?? "") : subtype === "code_mode_tool_result" ? subtype : undefined,
)

/** Words that the agent keeps and does not send, as those of a call by voice, are shown, as unknown ones are. */
export const kindOfLine: KindOf = (customType, data) => {
  const kind = kinds(customType, data)
  return kind === "content" ? "unknown" : kind
}

/** Whether the model gets the message of a line that has one. */
export function isSent(record: unknown): boolean {
  const { subtype } = fieldsOf(record)
  return subtype !== "realtime_message" && subtype !== "code_mode_tool_result"
}
