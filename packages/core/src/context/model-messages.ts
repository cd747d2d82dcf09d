/**
 * What a model gets: only the roles user, assistant, toolResult and system leave here. Each kind of message that is not one of
 * them has one rule; a custom role with content counts as said by the user; one without a rule is left out, and said to be.
 */
import type { Diagnostic } from "../format/diagnostics.ts"
import type { ContentBlock, Message, ModelMessage } from "../format/messages.ts"
import { MODEL_ROLES } from "./plain.ts"
import { BRANCH_SUMMARY_ROLE, EXECUTION_ROLES } from "./render.ts"
import { compactionMessages, framed, styleOf, text } from "./summary.ts"
import type { SummaryStyle } from "./summary.ts"
import type { ContextMessage } from "./types.ts"

export interface ModelMessages {
  readonly messages: readonly ContextMessage<ModelMessage>[]
  readonly diagnostics: readonly Diagnostic[]
}

export const BRANCH_SUMMARY_INTRO = "The following is a summary of a branch that this conversation came back from:"

/** `summaryAs` stands over what the compaction was stored with. */
export function toModelMessages(messages: readonly ContextMessage[], summaryAs?: SummaryStyle): ModelMessages {
  const out: ContextMessage<ModelMessage>[] = []
  const diagnostics: Diagnostic[] = []
  for (const item of messages) {
    const { message, entryId, kind } = item
    if (isModelMessage(message)) {
      out.push(item as ContextMessage<ModelMessage>)
    } else if (kind === "compaction") {
      const style = summaryAs ?? styleOf(message["summaryAs"])
      out.push(...compactionMessages(entryId, String(message["summaryText"]), style))
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
 * What a user message says in place of another role. Empty: left out by rule. Undefined: there is no rule. The kind tells a branch
 * summary from a message whose author chose the same name for its role.
 */
function contentOf({ kind, message }: ContextMessage): readonly ContentBlock[] | undefined {
  if (EXECUTION_ROLES.has(message.role)) {
    return message["excludeFromContext"] === true ? [] : text(executionText(message))
  }
  if (kind === "branch_summary" && message.role === BRANCH_SUMMARY_ROLE) {
    const summary = String(message["summaryText"])
    return summary.trim() === "" ? [] : text(`${BRANCH_SUMMARY_INTRO}\n\n${framed(summary)}`)
  }
  return message.content
}

/** A command or a piece of code that was run beside the conversation, told as text. */
function executionText(message: Message): string {
  const isBash = message.role === "bashExecution"
  const source = String(message[isBash ? "command" : "code"] ?? "")
  const output = typeof message["output"] === "string" ? message["output"] : ""
  const lines = [isBash ? `Ran \`${source}\`` : `Ran this Python code:\n${fenced(source)}`]
  lines.push(output === "" ? "(no output)" : fenced(output))
  const exitCode = message["exitCode"]
  if (message["cancelled"] === true) lines.push("(the command was cancelled)")
  else if (typeof exitCode === "number" && exitCode !== 0) lines.push(`Exit code: ${exitCode}`)
  return lines.join("\n")
}

/** The fence is longer than any run of backticks inside, so the text cannot end it. */
export function fenced(content: string, language = ""): string {
  let longest = 2
  for (const [run] of content.matchAll(/`{3,}/g)) longest = Math.max(longest, run.length)
  const fence = "`".repeat(longest + 1)
  return `${fence}${language}\n${content}${content.endsWith("\n") ? "" : "\n"}${fence}`
}

function leftOut(entryId: string, role: string): Diagnostic {
  const message = `The message of entry ${entryId} has the role ${JSON.stringify(role)} and no content; a model does not get it.`
  return { code: "left_out", entryId, message }
}
