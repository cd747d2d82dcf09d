/** What the events of Copilot CLI are, by their `type`; those of 1.0.14 to 1.0.102. */
import { type KindOf, kindsBy, type RecordTypes } from "../base/record-types.ts"

const of = (kind: "content" | "state" | "annotation", names: string): RecordTypes =>
  Object.fromEntries(names.split(" ").map((name) => [name, [kind, "1.0"]]))

export const RECORD_TYPES: RecordTypes = {
  ...of("content", "user.message assistant.message tool.execution_complete session.compaction_complete"),
  ...of("content", "session.context_cleared"),
  ...of("state", "system.message session.start session.resume session.model_change session.mode_changed"),
  ...of("state", "session.compaction_start session.truncation session.snapshot_rewind session.binary_asset"),
  ...of(
    "state",
    "session.plan_changed session.workspace_file_changed session.context_changed session.remote_steerable_changed",
  ),
  ...of(
    "state",
    "session.tools_updated session.skills_loaded session.custom_agents_updated session.mcp_servers_loaded",
  ),
  ...of("state", "session.mcp_server_status_changed session.extensions_loaded subagent.selected subagent.deselected"),
  ...of(
    "annotation",
    "session.error session.idle session.info session.warning session.title_changed session.usage_info",
  ),
  ...of(
    "annotation",
    "session.shutdown session.task_complete session.background_tasks_changed session.custom_notification",
  ),
  ...of("annotation", "assistant.turn_start assistant.turn_end assistant.intent assistant.reasoning assistant.usage"),
  ...of("annotation", "assistant.message_delta assistant.reasoning_delta assistant.streaming_delta abort"),
  ...of("annotation", "tool.execution_start tool.execution_partial_result tool.execution_progress"),
  ...of("annotation", "subagent.started subagent.completed subagent.failed hook.start hook.end system.notification"),
  ...of("annotation", "permission.requested permission.completed user_input.requested user_input.completed"),
  ...of("annotation", "elicitation.requested elicitation.completed external_tool.requested external_tool.completed"),
  ...of("annotation", "command.queued command.execute command.completed commands.changed exit_plan_mode.requested"),
  ...of("annotation", "exit_plan_mode.completed mcp.oauth_required mcp.oauth_completed sampling.requested"),
  ...of("annotation", "sampling.completed pending_messages.modified capabilities.changed"),
}

export const kindOfEvent: KindOf = kindsBy(RECORD_TYPES)
