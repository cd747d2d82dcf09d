/** What Claude Code sends to its model of lines that are no messages: attachments, commands that it ran itself, and prompts in its queue. */
import type { ContentBlock, UserMessage } from "@sessions/core"
import { kindOf } from "../base/record-types.ts"
import { type Fields, fieldsOf, isObject, stringOf, textBlock } from "../base/values.ts"
import { blocksOf } from "./blocks.ts"
import { QUEUE_OPERATION } from "./encode.ts"
import { RECORD_TYPES } from "./record-types.ts"

/** The message of an attachment or a `system` line; undefined for a line of which the model gets nothing, or nothing that the line has. */
export function sentMessageOf(line: Fields): UserMessage | undefined {
  const { type, subtype, content } = line
  if (type === "system") {
    return subtype === "local_command" && typeof content === "string" && content !== ""
      ? { role: "user", content: [textBlock(content)], synthetic: true }
      : undefined
  }
  return type === "attachment" ? attached(fieldsOf(line["attachment"]), line["rendered"]) : undefined
}

function attached(attachment: Fields, rendered: unknown): UserMessage | undefined {
  const type = stringOf(attachment["type"])
  if (type === undefined || kindOf(RECORD_TYPES, "attachment", type) !== "content") return undefined
  if (type === "queued_command") return queued(attachment)
  const content = renderedBlocks(rendered) ?? contentOf(type, attachment)
  return content.length === 0 ? undefined : { role: "user", content, synthetic: true }
}

/** A prompt that a person typed while the model worked, or a notification. */
function queued({ prompt, commandMode, isMeta, origin }: Fields): UserMessage | undefined {
  const content = blocksOf(prompt)
  if (content.length === 0) return undefined
  const { kind } = fieldsOf(origin)
  const isTyped =
    isMeta !== true &&
    (kind === undefined || kind === "human") &&
    (commandMode === undefined || commandMode === "prompt")
  return { role: "user", content, ...(isTyped ? {} : { synthetic: true }) }
}

/** The text of a queued prompt, by which the records of the queue are told. */
export function queuedText({ attachment }: Fields): string | undefined {
  const { type, prompt } = fieldsOf(attachment)
  if (type !== "queued_command") return undefined
  return typeof prompt === "string"
    ? prompt
    : blocksOf(prompt)
        .flatMap((block) => textsOf(block))
        .join("\n")
}

function textsOf(block: ContentBlock): readonly string[] {
  return block.type === "text" && typeof block.text === "string" ? [block.text] : []
}

/** The prompt of a line of the queue that says that the model got it in the middle of a turn. */
export function absorbedText({ type, operation, reason, content }: Fields): string | undefined {
  const isAbsorbed = type === QUEUE_OPERATION && operation === "remove" && reason === "absorbed_mid_turn"
  return isAbsorbed && typeof content === "string" && content !== "" ? content : undefined
}

/** Newer versions write what they sent. */
function renderedBlocks(rendered: unknown): readonly ContentBlock[] | undefined {
  if (!Array.isArray(rendered)) return undefined
  const blocks = (rendered as readonly unknown[]).flatMap((one) => blocksOf(fieldsOf(one)["content"]))
  return blocks.length === 0 ? undefined : blocks
}

/** Where the words of an attachment are. `*`: of each element. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  account_memory_recall: ["content"],
  artifact_opening_prefetch: ["content"],
  async_hook_response: ["response.systemMessage", "response.hookSpecificOutput.additionalContext"],
  async_hook_response_batch: [
    "responses.*.response.systemMessage",
    "responses.*.response.hookSpecificOutput.additionalContext",
  ],
  context_sections: ["sections.*.text"],
  coordinator_context: ["content"],
  cowork_memory_context: ["content"],
  diagnostics: ["files.*.diagnostics.*.message"],
  directory: ["content"],
  edited_text_file: ["snippet"],
  file: ["content.file.content", "content.file.cells.*.source", "content.file.cells.*.outputs.*.text"],
  fork_briefing: ["content"],
  hook_additional_context: ["content.*"],
  hook_blocking_error: ["blockingError.blockingError"],
  hook_stopped_continuation: ["message"],
  hook_success: ["content"],
  instructions: ["files.*.content"],
  invoked_skills: ["skills.*.content"],
  mcp_resource: ["content.contents.*.text"],
  nested_memory: ["content.content"],
  plan_file_reference: ["planContent"],
  plugin_note: ["content.*"],
  poll_events: ["envelopes.*"],
  project_doc_reads: ["reads.*.read.content"],
  relevant_memories: ["memories.*.content"],
  remote_session_change: ["content"],
  selected_lines_in_diff: ["content"],
  selected_lines_in_ide: ["content"],
  task_status: ["description", "deltaSummary"],
  teammate_mailbox: ["messages.*.text"],
}

/** Events of a hook whose output goes to the model. */
const SENT_HOOKS: ReadonlySet<unknown> = new Set(["SessionStart", "UserPromptSubmit", "UserPromptExpansion"])

function contentOf(type: string, attachment: Fields): readonly ContentBlock[] {
  if (type === "hook_success" && !SENT_HOOKS.has(attachment["hookEvent"])) return []
  const image = imageOf(attachment["content"])
  const texts = (WORDS[type] ?? []).flatMap((path) => valuesAt(attachment, path.split(".")))
  const text = texts.flatMap((one) => (typeof one === "string" && one !== "" ? [one] : [])).join("\n")
  const name = ["filename", "path", "planFilePath", "hookName", "uri"].flatMap(
    (key) => stringOf(attachment[key]) ?? [],
  )[0]
  const lead = name === undefined ? "" : `${name}:\n`
  return [...(text === "" ? [] : [textBlock(`${lead}${text}`)]), ...(image === undefined ? [] : [image])]
}

/** The image of a file that was attached or has changed. */
function imageOf(content: unknown): ContentBlock | undefined {
  const { type, file } = fieldsOf(content)
  const { base64: data, type: mimeType } = fieldsOf(file)
  if (type !== "image" || typeof data !== "string" || typeof mimeType !== "string" || mimeType === "") return undefined
  return { type: "image", mimeType, data }
}

function valuesAt(value: unknown, [name, ...path]: readonly string[]): readonly unknown[] {
  if (name === undefined) return [value]
  if (name === "*")
    return Array.isArray(value) ? (value as readonly unknown[]).flatMap((one) => valuesAt(one, path)) : []
  return isObject(value) && Object.hasOwn(value, name) ? valuesAt(value[name], path) : []
}
