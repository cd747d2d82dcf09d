/**
 * What the lines of a rollout are. Lines are told by `type`, and `response_item` and `event_msg` lines by the `type` of their payload. The
 * versions are approximate to the month: 0.1 is of 2025, 0.171 is the newest one whose program was looked at.
 */
import { type KindOf, kindsBy, kindOf, type RecordTypes } from "../base/record-types.ts"
import { fieldsOf, stringOf } from "../base/values.ts"
import { ITEM } from "./codec.ts"
import { isOlderHeader, lineOfToday } from "./older.ts"

const of = (kind: "content" | "state" | "annotation", since: string, prefix: string, names: string): RecordTypes =>
  Object.fromEntries(names.split(" ").map((name) => [`${prefix}${name}`, [kind, since]]))

export const RECORD_TYPES: RecordTypes = {
  ...of("state", "0.1", "", "session_meta turn_context"),
  ...of("content", "0.1", "", "compacted"),
  ...of("annotation", "0.169", "", "token_usage_record"),
  ...of("state", "0.169", "", "world_state"),

  ...of("content", "0.1", "response_item/", "message reasoning function_call function_call_output local_shell_call"),
  ...of("content", "0.1", "response_item/", "custom_tool_call custom_tool_call_output web_search_call"),
  ...of("content", "0.169", "response_item/", "agent_message compaction context_compaction tool_search_call"),
  ...of("content", "0.169", "response_item/", "tool_search_output image_generation_call compaction_summary"),
  ...of(
    "state",
    "0.169",
    "response_item/",
    "configuration_update compaction_trigger ghost_snapshot additional_tools other",
  ),

  // Events are for people: what the model gets of them is in items.
  ...of("annotation", "0.1", "event_msg/", "user_message agent_message agent_reasoning agent_reasoning_raw_content"),
  ...of("annotation", "0.1", "event_msg/", "agent_reasoning_section_break token_count error warning stream_error"),
  ...of(
    "annotation",
    "0.1",
    "event_msg/",
    "task_started task_complete turn_aborted turn_diff plan_update background_event",
  ),
  ...of("annotation", "0.1", "event_msg/", "mcp_tool_call_begin mcp_tool_call_end web_search_begin web_search_end"),
  ...of("annotation", "0.1", "event_msg/", "exec_command_begin exec_command_end exec_command_output_delta"),
  ...of(
    "annotation",
    "0.1",
    "event_msg/",
    "patch_apply_begin patch_apply_end view_image_tool_call entered_review_mode",
  ),
  ...of("annotation", "0.1", "event_msg/", "exited_review_mode exec_approval_request apply_patch_approval_request"),
  ...of("state", "0.1", "event_msg/", "thread_rolled_back context_compacted session_configured"),
  ...of("annotation", "0.169", "event_msg/", "thread_name_updated item_started item_completed terminal_interaction"),
  ...of("annotation", "0.169", "event_msg/", "image_generation_begin image_generation_end guardian_warning"),
  ...of("annotation", "0.169", "event_msg/", "auth_recovery_started auth_recovery_completed model_reroute"),
  ...of("annotation", "0.169", "event_msg/", "model_verification turn_moderation_metadata safety_buffering"),
  ...of("annotation", "0.169", "event_msg/", "mcp_startup_update mcp_startup_complete sub_agent_activity"),
  ...of("annotation", "0.169", "event_msg/", "collab_agent_spawn_begin collab_agent_spawn_end collab_waiting_begin"),
  ...of("annotation", "0.169", "event_msg/", "collab_waiting_end collab_agent_interaction_begin collab_close_begin"),
  ...of("annotation", "0.169", "event_msg/", "collab_agent_interaction_end collab_close_end dynamic_tool_call_request"),
  ...of("annotation", "0.169", "event_msg/", "dynamic_tool_call_response hook_started hook_completed"),
  ...of("annotation", "0.169", "event_msg/", "realtime_conversation_started realtime_conversation_realtime"),
  ...of("annotation", "0.169", "event_msg/", "realtime_conversation_closed realtime_conversation_sdp"),
  ...of("state", "0.169", "event_msg/", "thread_settings_applied thread_goal_updated thread_queue_changed"),
  ...of("state", "0.169", "event_msg/", "environment_connected environment_disconnected"),
}

const kinds = kindsBy(RECORD_TYPES, ({ type, payload }) =>
  type === "response_item" || type === "event_msg" ? (fieldsOf(payload)["type"] ?? "") : undefined,
)

const isState = (data: unknown): boolean => fieldsOf(data)["record_type"] === "state" || isOlderHeader(fieldsOf(data))

/** Content that has no place in a message, such as a web search, is shown as what is not known: no model gets it from us. */
export const kindOfLine: KindOf = (customType, stored) => {
  if (isState(stored)) return "state"
  const data = customType === ITEM ? stored : lineOfToday(fieldsOf(stored))
  const kind = customType === ITEM ? kindOfItem(data) : kinds(customType, data)
  return kind === "content" ? "unknown" : kind
}

/** The kind of an item of the Responses API. */
export function kindOfItem(item: unknown): ReturnType<KindOf> {
  return kindOf(RECORD_TYPES, "response_item", stringOf(fieldsOf(item)["type"]) ?? "")
}
