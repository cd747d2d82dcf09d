/**
 * What the lines of Claude Code are. The versions are the first of 0.2.9, 1.0.0, 1.0.60, 1.0.120, 2.0.0, 2.0.60 and 2.1.332 whose program
 * has the type; `attachment` and `system` lines are told by the type of the attachment and by `subtype`.
 */
import { type KindOf, kindsBy, type RecordTypes } from "../base/record-types.ts"
import { fieldsOf } from "../base/values.ts"
import { DUPLICATE } from "./lines.ts"

const of = (kind: "content" | "state" | "annotation", since: string, names: string): RecordTypes =>
  Object.fromEntries(names.split(" ").map((name) => [name, [kind, since]]))

const attachments = (kind: "content" | "state", since: string, names: string): RecordTypes =>
  of(kind, since, names.replaceAll(/\S+/g, "attachment/$&"))

const systems = (kind: "content" | "state" | "annotation", since: string, names: string): RecordTypes =>
  of(kind, since, names.replaceAll(/\S+/g, "system/$&"))

export const RECORD_TYPES: RecordTypes = {
  ...of("content", "0.2", "user assistant"),
  // A prompt that the model got in the middle of a turn; the other operations are state.
  ...of("content", "2.0", "queue-operation"),
  ...of("annotation", "0.2", "summary progress"),
  ...of("annotation", "2.0", "custom-title"),
  ...of("annotation", "2.1", "ai-title tag agent-name agent-color last-prompt pr-link cost-state ended-by-model"),
  ...of("state", "1.0", "file-history-snapshot"),
  ...of("state", "2.0", "agent_metadata"),
  ...of(
    "state",
    "2.1",
    "file-history-delta content-replacement relocated continued-in derived-from fork-context-ref frame-link observer-ref " +
      "resume-head-vouch agent-setting mode permission-mode memory-mode repl-mode dev-mods isolation-latch atis-latch " +
      "worktree-state bridge-session session-owner hybrid-organization host-row history-suppression tools-used " +
      "attribution-snapshot data-flow-records data-flow-incomplete artifact-autoreact-ledger artifact-comment-monitor " +
      "api-request api-request-blob api-request-resumed api-request-shape",
  ),

  // Words of people, files, hooks, tools and other agents.
  ...attachments("content", "1.0", "queued_command file directory edited_text_file edited_image_file diagnostics"),
  ...attachments("content", "1.0", "nested_memory mcp_resource selected_lines_in_ide async_hook_response"),
  ...attachments(
    "content",
    "2.0",
    "hook_additional_context hook_blocking_error hook_stopped_continuation hook_success plan_file_reference teammate_mailbox",
  ),
  ...attachments(
    "content",
    "2.1",
    "async_hook_response_batch account_memory_recall artifact_opening_prefetch context_sections coordinator_context " +
      "cowork_memory_context fork_briefing instructions invoked_skills plugin_note poll_events project_doc_reads " +
      "relevant_memories remote_session_change selected_lines_in_diff task_status",
  ),
  // What Claude Code tells its model of itself, of its tools and of limits.
  ...attachments(
    "state",
    "1.0",
    "opened_file_in_ide todo_reminder plan_mode command_permissions agent_mention already_read_file compact_file_reference output_style",
  ),
  ...attachments(
    "state",
    "2.0",
    "budget_usd critical_system_reminder hook_cancelled hook_error_during_execution hook_non_blocking_error " +
      "hook_permission_decision hook_system_message plan_mode_reentry structured_output team_context token_usage",
  ),
  ...attachments(
    "state",
    "2.1",
    "advisor_stripped advisor_tool agent_ask_notice agent_listing_delta at_mention_reference attention_budget auto_mode " +
      "auto_mode_exit bash_output_audience_note batching_reminder batching_reminder_sent claude_app_notice " +
      "context_efficiency credential_org date date_change deferred_tools_delta deferred_tools_record dir_sync_notice " +
      "dynamic_skill elapsed_time_reminder environment first_week goal_status goals hook_deferred_tool " +
      "inlined_image_paths language linked_plugin_tools_note max_turns_reached mcp_instructions_delta " +
      "message_pdf_reads model output_limit_note output_style_instructions output_token_usage pdf_reference peer_mention " +
      "plan_mode_exit prefix_delta proactivity progress_reminder_sent projects_thread_ask prompt_as_file " +
      "prompt_render_point prompt_snapshot read_truncation_notice repl_mcp_needs_auth repl_mcp_servers " +
      "sandbox_instructions secondary_reminder secondary_reminder_sent session_context session_cron_carry " +
      "silent_turn_reminder skill_listing skill_mention task_reminder teammate_shutdown_batch thinking_drop " +
      "thinking_stripped thread_state tool_host_result_lines tool_hosts_correction tool_hosts_notice tool_offer_record " +
      "tool_results_cut tool_search_usage_reminder total_tokens_reminder ultra_effort_enter ultra_effort_exit " +
      "ultrathink_effort unknown_command_fallback whole_texts_withdrawn widget_context_hint withheld_memory " +
      "workflow_keyword_request",
  ),

  ...systems("content", "2.0", "local_command"),
  ...systems("state", "1.0", "compact_boundary"),
  ...systems("state", "2.0", "microcompact_boundary"),
  ...systems(
    "state",
    "2.1",
    "file_snapshot shell_cwd start_folder rewind_stand_in session_metadata model_fallback model_consent_fallback per_turn_effort_changed",
  ),
  ...systems("annotation", "1.0", "api_error informational"),
  ...systems("annotation", "2.0", "stop_hook_summary"),
  ...systems(
    "annotation",
    "2.1",
    "agents_killed api_retry away_summary bridge_status code_change_published file_attachments_missing " +
      "instruction_size_warning memory_saved model_refusal_fallback model_refusal_no_fallback permission_denied " +
      "permission_retry post_turn_summary scheduled_task_fire session_writes_lost task_notification turn_duration",
  ),
}

const kinds = kindsBy(RECORD_TYPES, ({ type, subtype, attachment }) =>
  type === "attachment" ? (fieldsOf(attachment)["type"] ?? "") : type === "system" ? (subtype ?? "") : undefined,
)

/** Of a line that is no message: its words, if it has any for the model, are in one. */
export const kindOfLine: KindOf = (customType, data) => {
  const kind = customType === DUPLICATE ? "state" : kinds(customType, data)
  return kind === "content" ? "state" : kind
}
