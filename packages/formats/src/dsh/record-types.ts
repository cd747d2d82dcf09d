/** What the events of deepseek-harness are, by their `type`; those of the generations 0 to 3 of its log. */
import { type KindOf, kindsBy, type RecordTypes } from "../base/record-types.ts"

const of = (kind: "content" | "state" | "annotation", since: string, names: string): RecordTypes =>
  Object.fromEntries(names.split(" ").map((name) => [name, [kind, since]]))

export const RECORD_TYPES: RecordTypes = {
  session: ["state", "0"],
  ...of("content", "0", "user/message assistant/message tool/result steering/message"),
  ...of("content", "3", "system/message"),
  // The pieces of answers that are messages once they are complete, and the calls in them.
  ...of("annotation", "0", "assistant/chunk text-chunks reasoning-chunks tool-call-chunks tool/call"),
  ...of("annotation", "2", "assistant/attempt"),
  ...of("annotation", "0", "turn/start turn/end step/start step/end session/title session/title-llm-request"),
  ...of("annotation", "0", "compaction/start compaction/summary compaction/end compaction/prune"),
  ...of("annotation", "0", "compact/start compact/summary compact/end compact/prune"),
  ...of("annotation", "0", "llm/retry llm/retry-started hook/invoked hook/result command/run command/done"),
  ...of("annotation", "0", "approval/asked approval/decided feedback/record web/deepseek-search-llm-request"),
  ...of("annotation", "3", "feedback/message-put feedback/message-delete session-log-deepseek/delivery-accepted"),
  ...of("annotation", "0", "tool/code-dispatch-start tool/code-dispatch"),
  ...of("annotation", "3", "tool/ptc-dispatch-start tool/ptc-dispatch"),
  ...of("state", "0", "request/header request/header-delta request/context session/end-seed todo/write mode/set"),
  ...of("state", "0", "agent-preset/selected agent/inbox/spliced approval/policy permission/preset plan/mode"),
  ...of("state", "0", "sandbox/mode schedule/change goal/change subagent/descriptor team/member team/task"),
  ...of("state", "0", "team/message/delivered team/message/queued"),
  ...of(
    "state",
    "0",
    "tool-workflow/agent-start tool-workflow/agent-end tool-workflow/run-start tool-workflow/run-end",
  ),
}

const kinds = kindsBy(RECORD_TYPES)

/** A message that could not be read as one is shown. */
export const kindOfEvent: KindOf = (customType, data) => {
  const kind = kinds(customType, data)
  return kind === "content" ? "unknown" : kind
}
