/**
 * Converts messages to the roles that a model accepts: user, assistant, toolResult and system. Each other kind of message has one
 * rule; a custom role with content becomes a user message; a message without a rule is left out and reported.
 */
import type { Diagnostic } from "../format/diagnostics.ts"
import type { ContentBlock, Message, ModelMessage } from "../format/message.ts"
import type { Fields } from "../format/shape.ts"
import { textOf } from "../format/stored-text.ts"
import { MODEL_ROLES } from "./content.ts"
import { BRANCH_SUMMARY_ROLE, EXECUTION_ROLES } from "./render.ts"
import { compactionMessages, inSummaryTags, text } from "./summary-messages.ts"
import type { ContextMessage, SummaryStyle } from "./types.ts"

export interface ModelMessages {
  readonly messages: readonly ContextMessage<ModelMessage>[]
  readonly diagnostics: readonly Diagnostic[]
}

const BRANCH_SUMMARY_INTRO = "The following is a summary of a branch that this conversation came back from:"

/** `summaryAs` overrides the style that the compaction was stored with. */
export function toModelMessages(messages: readonly ContextMessage[], summaryAs?: SummaryStyle): ModelMessages {
  const out: ContextMessage<ModelMessage>[] = []
  const diagnostics: Diagnostic[] = []
  for (const item of messages) {
    const { message, entryId, kind } = item
    if (isModelMessage(message)) {
      out.push(item as ContextMessage<ModelMessage>)
    } else if (kind === "compaction") {
      out.push(...compactionMessages(entryId, textOf(message["summaryText"]), summaryAs ?? message["summaryAs"]))
    } else {
      const content = contentOf(item)
      if (content === undefined) diagnostics.push(leftOut(entryId, message.role))
      else if (content.length > 0) out.push({ entryId, kind, message: { role: "user", content } })
    }
  }
  return { messages: out, diagnostics }
}

function isModelMessage(message: Message): message is ModelMessage {
  return MODEL_ROLES.has(message.role)
}

/**
 * The content of the user message that replaces a message of another role. Empty: left out by rule. Undefined: there is no rule. The
 * kind distinguishes a branch summary from a message with a custom role of the same name.
 */
function contentOf({ kind, message }: ContextMessage): readonly ContentBlock[] | undefined {
  if (EXECUTION_ROLES.has(message.role)) {
    return message["excludeFromContext"] === true ? [] : text(executionText(message))
  }
  if (kind === "branch_summary" && message.role === BRANCH_SUMMARY_ROLE) {
    const summary = textOf(message["summaryText"])
    return summary.trim() === "" ? [] : text(`${BRANCH_SUMMARY_INTRO}\n\n${inSummaryTags(summary)}`)
  }
  return message.content
}

/** A command or code that the user ran outside the conversation, as text. */
function executionText(message: Message): string {
  const isBash = message.role === "bashExecution"
  const source = textOf(message[isBash ? "command" : "code"])
  const output = typeof message["output"] === "string" ? message["output"] : ""
  const lines = [isBash ? `Ran \`${source}\`` : `Ran this Python code:\n${fenced(source)}`]
  lines.push(output === "" ? "(no output)" : fenced(output))
  const exitCode = message["exitCode"]
  if (message["cancelled"] === true) lines.push("(the command was cancelled)")
  else if (typeof exitCode === "number" && exitCode !== 0) lines.push(`Exit code: ${exitCode}`)
  // pi stores the end of a long output, and the path of a file with all of it.
  const { truncated, fullOutputPath } = message as Fields
  if (truncated === true && typeof fullOutputPath === "string" && fullOutputPath !== "")
    lines.push(`[Output truncated. Full output: ${fullOutputPath}]`)
  return lines.join("\n")
}

/** A code block whose fence is longer than any run of backticks in the content, so that the content cannot end it. */
export function fenced(content: string, language = ""): string {
  let longest = 2
  for (const [run] of content.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length)
  const fence = "`".repeat(longest + 1)
  return `${fence}${language}\n${content}${content.endsWith("\n") ? "" : "\n"}${fence}`
}

function leftOut(entryId: string, role: string): Diagnostic {
  const message = `The message of entry ${entryId} has the role ${JSON.stringify(role)} and no content; it is not sent to the model.`
  return { code: "left_out", entryId, message }
}
