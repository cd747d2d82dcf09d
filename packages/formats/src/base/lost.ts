/** Contents that several formats do not have, reported in the same words. */
import type { Entry, ModelMessage, ToolResultMessage } from "@sessions/core"
import { isAnnotationType } from "@sessions/core/format"
import { lostHistoryOf } from "./lost-history.ts"
import type { Losses } from "./losses.ts"
import { textLengthOf } from "./record-types.ts"
import { isUnknownRecord } from "./writable.ts"

export function lostThinking(losses: Losses): void {
  losses.add(
    "thinking",
    1,
    (n) => `${n} blocks of thinking are not in the file: it has none, or another provider signed them.`,
  )
}

export function lostBlock(losses: Losses): void {
  losses.add("blocks", 1, (n) => `${n} blocks of types that the format does not have are not in the file.`)
}

export function lostError({ isError }: ToolResultMessage, losses: Losses): void {
  if (isError) losses.add("errors", 1, (n) => `${n} results of tools are not marked as errors in the file.`)
}

export function lostResult(losses: Losses): void {
  losses.add("results", 1, (n) => `${n} tool results without a call are not in the file.`)
}

export function lostSignature(losses: Losses): void {
  losses.add("signatures", 1, (n) => `${n} signatures of thinking are not in the file.`)
}

export function lostFile(losses: Losses): void {
  losses.add("files", 1, (n) => `${n} attached files are in the file as their paths only.`)
}

export function lostAttachments({ attachments = [] }: ModelMessage, losses: Losses): void {
  losses.add("attachments", attachments.length, (n) => `${n} attachments are not in the file.`)
}

export function lostTitle(losses: Losses): void {
  losses.add("titles", 1, (n) => `${n} titles are not in the file: it has none.`)
}

/** An entry beside the conversation. */
export function lostAside(entry: Entry, losses: Losses): void {
  const { type } = entry
  // The number of a turn, for writers of this log alone.
  if (type === "fence") return
  const history = lostHistoryOf(entry)
  if (history !== undefined) return losses.add("history", 1, () => history)
  const characters = textLengthOf(entry)
  if (isUnknownRecord(entry))
    losses.add(
      "unknown",
      1,
      (n, withText) => `${n} records${withText}, whose kinds are not known, are not in the file.`,
      characters,
    )
  else if (type === "tool_start" || type === "tool_policy")
    losses.add(
      "tool_calls",
      1,
      (n) => `${n} records of when tool calls started, and of their tools, are not in the file.`,
    )
  else if (type === "custom")
    losses.add(
      "records",
      1,
      (n, withText) => `${n} records${withText} beside the conversation are not in the file.`,
      characters,
    )
  else if (isAnnotationType(type))
    losses.add(
      "annotations",
      1,
      (n, withText) => `${n} annotations${withText}, such as labels and usage, are not in the file.`,
      characters,
    )
  else losses.add("settings", 1, (n) => `${n} changes of settings, such as the model, are not in the file.`)
}

/** Entries that are messages, or that decide which messages are in a file. Others are aside, and a file that does not hold them loses them. */
export const CONVERSATION_TYPES: ReadonlySet<string> = new Set([
  "message",
  "custom_message",
  "branch_summary",
  "compaction",
  "reset_boundary",
  "context_edit",
  "tombstone",
  "leaf",
])
