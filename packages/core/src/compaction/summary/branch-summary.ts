/** What is summarized of a branch that is left: its own part, from where it parted from the place that the conversation goes to. */
import { renderMessages, BRANCH_SUMMARY_ROLE } from "../../context/render.ts"
import type { SelectedEntry } from "../../context/select.ts"
import type { ContextMessage } from "../../context/types.ts"
import type { Message } from "../../format/messages.ts"
import { isObject } from "../../format/shape.ts"
import type { Seq } from "../../storage/contract.ts"
import type { EntryLog } from "../../log/entry-log.ts"
import { parentOf, ROOT } from "../../log/path.ts"
import { collectFiles, withFileLists, withoutFileLists } from "./files.ts"
import type { FileLists, FileSource } from "./files.ts"
import { branchSummaryPrompt } from "./prompts.ts"
import { serializeConversation } from "./serialize.ts"
import { estimateMessage } from "../../format/tokens.ts"
import type { TokenCounter } from "../../format/tokens.ts"

export interface AbandonedBranch {
  /** In the order of the path; the newest that are within the budget, and what a compaction on the branch had summarized. */
  readonly messages: readonly ContextMessage[]
  /** Of the whole branch, also of what is beyond the budget, and of the summaries on it. */
  readonly files: FileLists
  /** Messages of the branch that are beyond the budget. */
  readonly leftOut: number
}

/** A stored branch summary begins with it, so that whoever reads on knows whose work this was. */
export const BRANCH_PREAMBLE =
  "The user explored another branch of this conversation and came back from it. A summary of that branch:"

/** The entry that two places have in common: the last that is on both their paths. `ROOT`: there is none; `OLDER`: it is not held. */
export function commonAncestor(log: EntryLog, one: Seq, other: Seq): Seq {
  let a = one
  let b = other
  while (a !== b) {
    // A parent stands before its children, so the later of the two cannot be an ancestor of the other.
    if (a > b) a = parentOf(log, a)
    else b = parentOf(log, b)
    if (a < 0 || b < 0) return Math.min(a, b)
  }
  return a
}

/**
 * `entries` are the context of the leaf that is left, blobs back in their places, of which what stands behind `ancestor` is its
 * own. Linear in its messages.
 */
export function prepareBranchSummary(
  entries: readonly SelectedEntry[],
  ancestor: Seq,
  o: { readonly budget: number; readonly count?: TokenCounter },
): AbandonedBranch {
  const own = entries.filter(({ seq }) => ancestor === ROOT || seq > ancestor)
  const { messages } = renderMessages(own)
  const files = collectFiles(
    messages.map(({ message }) => message),
    ...own.flatMap(({ entry }) => nestedFiles(entry)),
  )
  const chosen = withinBudget(messages, o)
  return { messages: chosen, files, leftOut: messages.length - chosen.length }
}

export function branchPrompt({ messages }: Pick<AbandonedBranch, "messages">, instructions?: string): string {
  const conversation = serializeConversation(messages)
  return branchSummaryPrompt(instructions === undefined ? { conversation } : { conversation, instructions })
}

/** The answer to {@link branchPrompt} as the summary to store, with its file lists. */
export function storedBranchSummary(answer: string, files: FileLists): string {
  return withFileLists(`${BRANCH_PREAMBLE}\n\n${withoutFileLists(answer)}`, files)
}

/** The lists that a summary on the branch carries: it stands for tool calls that are not on the branch any more, or never were. */
function nestedFiles(entry: SelectedEntry["entry"]): FileSource[] {
  if (entry["fromExtension"] === true) return []
  if (entry.type === "compaction") return [entry]
  return entry.type === "branch_summary" && isObject(entry["details"]) ? [entry["details"]] : []
}

/** Summaries first, since each stands for much; then the newest messages, none of them a result whose call is left out. */
function withinBudget(
  messages: readonly ContextMessage[],
  { budget, count = estimateMessage }: { readonly budget: number; readonly count?: TokenCounter },
): readonly ContextMessage[] {
  const chosen = new Set<ContextMessage>()
  let left = budget
  const take = (item: ContextMessage): boolean => {
    const tokens = count(asText(item))
    if (tokens > left) return false
    left -= tokens
    chosen.add(item)
    return true
  }
  for (const item of messages.toReversed()) if (isSummary(item)) take(item)
  const others = messages.filter((item) => !chosen.has(item) && !isSummary(item))
  let from = others.length
  while (from > 0 && take(others[from - 1] as ContextMessage)) from--
  while (from > 0 && others[from]?.message.role === "toolResult") chosen.delete(others[from++] as ContextMessage)
  return messages.filter((item) => chosen.has(item))
}

function isSummary({ kind, message }: ContextMessage): boolean {
  return kind === "compaction" || (kind === "branch_summary" && message.role === BRANCH_SUMMARY_ROLE)
}

/** As the summarizer gets it, results cut. */
function asText(item: ContextMessage): Message {
  return { role: "user", content: [{ type: "text", text: serializeConversation([item]) }] }
}
