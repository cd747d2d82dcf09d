/**
 * What the summarizer is asked for a prepared compaction, and what is stored of its answers.
 *
 * The previous summary is in one prompt in every case: in the update of the history, or, where only the beginning of a split turn
 * is new, as the background of that turn. It is not sent to be updated then: there is nothing to merge, a model that rewrites a text
 * without need loses some of it, and a second request would be paid for that. So it stays in front, word for word; the next
 * compaction has a history again, the rest of that turn at least, and merges all of it.
 */
import type { ContextMessage } from "../../context/types.ts"
import { withFileLists, withoutFileLists } from "./files.ts"
import { halveGroup, joinGroups, planGroups } from "./groups.ts"
import type { MessageGroup } from "./groups.ts"
import type { PreparedCompaction } from "../plan/prepare.ts"
import { summaryPrompt, TURN_CONTEXT_TITLE, turnPrefixPrompt } from "./prompts.ts"
import type { PromptParts } from "./prompts.ts"
import { escapeTags, serializeConversation } from "./serialize.ts"
import { estimateMessage } from "../tokens.ts"
import type { TokenCounter } from "../tokens.ts"
import { isTooLong } from "./too-long.ts"

/** The history, and the beginning of a split turn: each has its own prompt and its own answer. Undefined where it has nothing new. */
export interface SummaryParts {
  readonly history: string | undefined
  readonly turnPrefix: string | undefined
}

export type SummaryPart = keyof SummaryParts

/** Gives the summarizer's answer, checked; rejects where there is none. */
export type AskSummarizer = (part: SummaryPart, prompt: string) => Promise<string>

/** Round by round, where the messages do not fit the summarizer's own window. */
export interface GroupOptions {
  /** Tokens that the summarizer takes, its answer among them. */
  readonly window: number
  /** Tokens of its answer. */
  readonly maxSummaryTokens: number
  readonly count?: TokenCounter
  /** Whether an error says that a request was too long; default {@link isTooLong}. */
  readonly tooLong?: (error: unknown) => boolean
}

type Summarized = Pick<PreparedCompaction, "history" | "turnPrefix" | "previousSummary">

/** At least one of the two is there. `instructions` stand last in both. */
export function compactionPrompts(work: Summarized, instructions?: string): SummaryParts {
  const promptOf = (part: SummaryPart): string | undefined =>
    work[part].length === 0 ? undefined : partPrompt(work, part, serializeConversation(work[part]), instructions)
  return { history: promptOf("history"), turnPrefix: promptOf("turnPrefix") }
}

/**
 * Asks for each part in one request, one part after the other. With `groups`, a part may take several: each has as many rounds as
 * fit the summarizer's window, and one that the summarizer finds too long all the same is asked for in halves; the answers stand in
 * `<context_summary>` blocks. The previous summary goes with the first.
 */
export async function askForSummaries(
  work: Summarized,
  ask: AskSummarizer,
  o: { readonly instructions?: string; readonly groups?: GroupOptions } = {},
): Promise<SummaryParts> {
  const { groups, instructions } = o
  const prompts = groups === undefined ? compactionPrompts(work, instructions) : undefined
  const answerOf = async (part: SummaryPart): Promise<string | undefined> => {
    if (work[part].length === 0) return undefined
    if (groups !== undefined) return askByGroups(work, part, ask, { ...o, groups })
    return ask(part, prompts?.[part] as string)
  }
  return { history: await answerOf("history"), turnPrefix: await answerOf("turnPrefix") }
}

/** The answers as the summary to store, with its file lists. */
export function storedSummary(
  answers: SummaryParts,
  { previousSummary, files }: Pick<PreparedCompaction, "previousSummary" | "files">,
): string {
  const history = answers.history ?? previousSummary
  const turn = answers.turnPrefix === undefined ? [] : [`${TURN_CONTEXT_TITLE}\n\n${answers.turnPrefix}`]
  const parts = history === undefined ? turn : [history, ...turn]
  return withFileLists(withoutFileLists(parts.join("\n\n---\n\n")), files)
}

/** The part that takes the previous summary along: the first that is asked for. */
function takesPrevious(work: Summarized): SummaryPart {
  return work.history.length > 0 ? "history" : "turnPrefix"
}

function partPrompt(
  work: Summarized,
  part: SummaryPart,
  conversation: string,
  instructions: string | undefined,
  first = true,
): string {
  const previous =
    work.previousSummary !== undefined && first && takesPrevious(work) === part
      ? { previousSummary: escapeTags(work.previousSummary) }
      : {}
  const parts: PromptParts = { conversation, ...previous, ...(instructions === undefined ? {} : { instructions }) }
  return part === "history" ? summaryPrompt(parts) : turnPrefixPrompt(parts)
}

async function askByGroups(
  work: Summarized,
  part: SummaryPart,
  ask: AskSummarizer,
  o: { readonly instructions?: string; readonly groups: GroupOptions },
): Promise<string> {
  const { window, maxSummaryTokens, count = estimateMessage, tooLong = isTooLong } = o.groups
  const around = count(said(partPrompt(work, part, "", o.instructions)))
  const pieces = planGroups(work[part], window - maxSummaryTokens - around, count).map(toPiece)
  const telling = pieces.filter(({ conversation }) => conversation !== "")
  const waiting = telling.length === 0 ? pieces.slice(0, 1) : telling
  const answers: string[] = []
  for (let piece = waiting.shift(); piece !== undefined; piece = waiting.shift()) {
    const prompt = partPrompt(work, part, piece.conversation, o.instructions, answers.length === 0)
    try {
      answers.push(await ask(part, prompt))
    } catch (error) {
      const halves = tooLong(error) ? halvesOf(piece) : undefined
      if (halves === undefined) throw error
      waiting.unshift(...halves)
    }
  }
  return joinGroups(answers)
}

/** What one request is about; a single message that was too long is left as the halves of its text. */
interface Piece {
  readonly conversation: string
  readonly group?: MessageGroup
}

/** Shorter than this it is not the conversation that is too long. */
const SHORTEST_PIECE = 1_000

function toPiece(group: readonly ContextMessage[]): Piece {
  return { group, conversation: serializeConversation(group) }
}

function halvesOf({ group, conversation }: Piece): readonly Piece[] | undefined {
  if (conversation.length < SHORTEST_PIECE) return undefined
  const halves = group === undefined ? undefined : halveGroup(group)
  if (halves !== undefined) return halves.map(toPiece)
  const middle = conversation.length >> 1
  const place = /[\uDC00-\uDFFF]/.test(conversation.charAt(middle)) ? middle - 1 : middle
  return [{ conversation: conversation.slice(0, place) }, { conversation: conversation.slice(place) }]
}

function said(text: string): { role: "user"; content: [{ type: "text"; text: string }] } {
  return { role: "user", content: [{ type: "text", text }] }
}
