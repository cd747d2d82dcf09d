/**
 * What the events of Copilot CLI are, by their `type`: those of 1.0.14 to 1.0.102, as in `schemas/session-events.schema.json` of the program, and the
 * `model.*` that a compaction leaves. Not here are a hand-off from another session, and what the phases of a "fusion" say to each other: they have
 * words for a model that are in no message, so that people are shown them.
 */
import { type KindOf, kindsBy, type RecordTypes } from "../base/record-types.ts"

const of = (kind: "content" | "state" | "annotation", names: string): RecordTypes =>
  Object.fromEntries(names.split(" ").map((name) => [name, [kind, "1.0"]]))

export const RECORD_TYPES: RecordTypes = {
  ...of("content", "user.message assistant.message tool.execution_complete session.compaction_complete"),
  ...of("content", "session.context_cleared skill.context_delivered skill.context_delivered_ref"),
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
  ...of("state", "skill.invoked skill.invoked_ref subagent.configured tool_search.activated human_response.recorded"),
  ...of(
    "state",
    "session.mode_notice_delivered session.permissions_changed session.permission_recovery session.session_limits_changed " +
      "session.schedule_created session.schedule_cancelled session.schedule_rearmed session.model_deselected " +
      "session.auto_mode_resolved session.autopilot_objective_changed session.canvas.recorded session.canvas.removed " +
      "session.request_body_compression_disabled session.fusion_change_checkpoint session.fusion_commit_started " +
      "session.fusion_completed session.fusion_resolved session.fusion_route_failed assistant.fusion_phase_failed " +
      "permission.assentDetected permission.carriedForward permission.contextualAuthorization " +
      "permission.messageAuthorization permission.messageAuthorizationDegraded permission.messageAuthorizationRead",
  ),
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
  ...of("annotation", "session.usage_record session.usage_checkpoint session.completion_receipt"),
  ...of("annotation", "mcp.oauth_recovery_completed tool.user_requested"),
  // They repeat the conversation, and instructions.
  ...of(
    "annotation",
    "model.binary_attachments_removed model.captured_assignment_context model.compaction_completed model.compaction_started " +
      "model.compaction_static_context_blocked model.embedding_retrieval_injection model.error model.history_truncated " +
      "model.image_processing model.log model.message model.messages_snapshot model.model_call_failure " +
      "model.model_call_started model.model_call_success model.response model.response_limits_status model.telemetry " +
      "model.tool_execution model.turn_ended model.turn_failed model.turn_retry model.turn_started model.usage_info",
  ),
  ...of("annotation", "sampling.completed pending_messages.modified capabilities.changed"),
}

export const kindOfEvent: KindOf = kindsBy(RECORD_TYPES)
