/**
 * What the summarizer is asked for a prepared compaction, and what is stored of its answers.
 *
 * The previous summary is in one prompt in every case: in the update of the history, or, where only the beginning of a split turn
 * is new, as the background of that turn. It is not sent to be updated then: there is nothing to merge, a model that rewrites a text
 * without need loses some of it, and a second request would be paid for that. So it stays in front, word for word; the next
 * compaction has a history again, the rest of that turn at least, and merges all of it.
 */
import type { FileLists } from "./files.ts"
import { withFileLists, withoutFileLists } from "./files.ts"
import type { PreparedCompaction } from "./prepare.ts"
import { summaryPrompt, TURN_CONTEXT_TITLE, turnPrefixPrompt } from "./prompts.ts"
import { escapeTags, serializeConversation } from "./serialize.ts"

export interface CompactionPrompts {
  /** Undefined where the history has nothing new. */
  readonly history: string | undefined
  /** For the beginning of a split turn; undefined where none is split. */
  readonly turnPrefix: string | undefined
}

type Summarized = Pick<PreparedCompaction, "history" | "turnPrefix" | "previousSummary">

/** At least one of the two is there. `instructions` stand last in both. */
export function compactionPrompts(
  { history, turnPrefix, previousSummary }: Summarized,
  instructions?: string,
): CompactionPrompts {
  const previous = previousSummary === undefined ? {} : { previousSummary: escapeTags(previousSummary) }
  const more = instructions === undefined ? {} : { instructions }
  const updates = history.length > 0
  return {
    history: updates
      ? summaryPrompt({ conversation: serializeConversation(history), ...previous, ...more })
      : undefined,
    turnPrefix:
      turnPrefix.length === 0
        ? undefined
        : turnPrefixPrompt({ conversation: serializeConversation(turnPrefix), ...(updates ? {} : previous), ...more }),
  }
}

/** The answers to {@link compactionPrompts} as the summary to store, with its file lists. */
export function storedSummary(
  answers: CompactionPrompts,
  { previousSummary, files }: { readonly previousSummary: string | undefined; readonly files: FileLists },
): string {
  const history = answers.history ?? previousSummary
  const turn = answers.turnPrefix === undefined ? [] : [`${TURN_CONTEXT_TITLE}\n\n${answers.turnPrefix}`]
  const parts = history === undefined ? turn : [history, ...turn]
  return withFileLists(withoutFileLists(parts.join("\n\n---\n\n")), files)
}
