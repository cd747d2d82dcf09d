/** Selects the messages of an abandoned branch to summarize: those after the last entry in common with the target's path. */
import { renderMessages, BRANCH_SUMMARY_ROLE } from "../../context/render.ts"
import type { ContextMessage, SelectedEntry } from "../../context/types.ts"
import { isObject } from "../../format/shape.ts"
import type { Seq } from "../../storage/contract.ts"
import { ROOT } from "../../log/path.ts"
import { collectFiles, type FileLists, type FileSource, withFileLists, withoutFileLists } from "./files.ts"
import { branchSummaryPrompt } from "./prompts.ts"
import type { TokenCounter } from "../../format/tokens.ts"
import { serializeConversation, tokensOfText } from "./serialize.ts"

export interface AbandonedBranch {
  /** In the order of the path: all of them, or with a budget summaries on the branch and the newest messages that fit it. */
  readonly messages: readonly ContextMessage[]
  /** Files of the whole branch, including messages beyond the budget and the summaries on it. */
  readonly files: FileLists
  /** Number of messages that do not fit the budget; 0 without one. */
  readonly leftOut: number
}

/** The beginning of a stored branch summary: it tells the model that the work was done on another branch. */
export const BRANCH_PREAMBLE =
  "The user explored another branch of this conversation and came back from it. A summary of that branch:"

/**
 * `entries` are the context of the abandoned leaf with its blobs restored; those after `ancestor` belong to the branch. Linear in its
 * messages.
 */
export function prepareBranchSummary(
  entries: readonly SelectedEntry[],
  ancestor: Seq,
  { budget, count }: { readonly budget?: number | undefined; readonly count?: TokenCounter | undefined } = {},
): AbandonedBranch {
  const own = entries.filter(({ seq }) => ancestor === ROOT || seq > ancestor)
  const { messages } = renderMessages(own)
  const files = collectFiles(
    messages.map(({ message }) => message),
    ...own.flatMap(({ entry }) => nestedFiles(entry)),
  )
  const chosen = budget === undefined ? messages : withinBudget(messages, budget, count)
  return { messages: chosen, files, leftOut: messages.length - chosen.length }
}

export function branchPrompt({ messages }: Pick<AbandonedBranch, "messages">, instructions?: string): string {
  const conversation = serializeConversation(messages)
  return branchSummaryPrompt({ conversation, instructions })
}

/** The answer to {@link branchPrompt} as the summary to store, with its file lists. It says how many messages were left out. */
export function storedBranchSummary(answer: string, files: FileLists, leftOut = 0): string {
  const missing =
    leftOut === 0
      ? ""
      : `\n\n(Its ${leftOut} oldest ${leftOut === 1 ? "message is" : "messages are"} not in the summary.)`
  return withFileLists(`${BRANCH_PREAMBLE}${missing}\n\n${withoutFileLists(answer)}`, files)
}

/** The file lists of a summary on the branch: its tool calls are not in the context. */
function nestedFiles(entry: SelectedEntry["entry"]): FileSource[] {
  if (entry["fromExtension"] === true) return []
  if (entry.type === "compaction") return [entry]
  return entry.type === "branch_summary" && isObject(entry["details"]) ? [entry["details"]] : []
}

/** Takes summaries first, since each covers many messages, then the newest messages, without results whose call is left out. */
function withinBudget(
  messages: readonly ContextMessage[],
  budget: number,
  count: TokenCounter | undefined,
): readonly ContextMessage[] {
  const chosen = new Set<ContextMessage>()
  let left = budget
  const take = (item: ContextMessage): boolean => {
    const tokens = tokensOfText(serializeConversation([item]), count)
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
