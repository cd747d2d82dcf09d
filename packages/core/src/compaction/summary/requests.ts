/**
 * What the summarizer is asked for a prepared compaction, and what is stored of its answers.
 *
 * The previous summary is in one prompt in every case: in the update of the history, or, where only the beginning of a split turn
 * is new, as the background of that turn. It is not sent to be updated then: there is nothing to merge, a model that rewrites a text
 * without need loses some of it, and a second request would be paid for that. So it stays in front, word for word; the next
 * compaction has a history again, the rest of that turn at least, and merges all of it.
 */
import { SessionError } from "../../format/errors.ts"
import type { PreparedCompaction } from "../plan/prepare.ts"
import { estimateMessage } from "../../format/tokens.ts"
import type { TokenCounter } from "../../format/tokens.ts"
import { withFileLists, withoutFileLists } from "./files.ts"
import { joinGroups } from "./groups.ts"
import { halvesOf, chunkOf, chunksWithin, SHORTEST_CHUNK, textWithin, tokensOfText } from "./chunks.ts"
import type { Chunk } from "./chunks.ts"
import { summaryPrompt, TURN_CONTEXT_TITLE, turnPrefixPrompt } from "./prompts.ts"
import { escapeTags, serializeConversation } from "./serialize.ts"
import { isTooLong } from "./too-long.ts"

/** The history, and the beginning of a split turn: each has its own prompt and its own answer. Undefined where it has nothing new. */
export interface SummaryParts {
  readonly history: string | undefined
  readonly turnPrefix: string | undefined
}

export type SummaryPart = keyof SummaryParts

/** Gives the summarizer's answer, checked; rejects where there is none. */
export type AskSummarizer = (part: SummaryPart, prompt: string) => Promise<string>

export interface RequestOptions {
  /** Put last in every prompt. */
  readonly instructions?: string
  /** Tokens that the summarizer takes, its answer among them. Default: as many as there are, until it says that it is too much. */
  readonly window?: number
  /** Tokens of its answer, which the window must have room for. Default 0. */
  readonly maxSummaryTokens?: number
  /** Each request gives a summary of its own messages, in a `<context_summary>` block. Default false. */
  readonly rounds?: boolean
  readonly count?: TokenCounter
  /** Whether an error says that a request was too long; default {@link isTooLong}. */
  readonly tooLong?: (error: unknown) => boolean
}

type Summarized = Pick<PreparedCompaction, "history" | "turnPrefix" | "previousSummary">

/** At least one of the two is there. `instructions` stand last in both. */
export function compactionPrompts(work: Summarized, instructions?: string): SummaryParts {
  const promptOf = (part: SummaryPart): string | undefined =>
    work[part].length === 0
      ? undefined
      : partPrompt(
          part,
          serializeConversation(work[part]),
          takesPrevious(work) === part ? work.previousSummary : undefined,
          instructions,
        )
  return { history: promptOf("history"), turnPrefix: promptOf("turnPrefix") }
}

/**
 * Asks for each part, one after the other: in one request where that fits the summarizer's window, else in several, each of which has
 * as many rounds as fit. One that the summarizer finds too long all the same is asked for in halves. Each answer of the history is
 * merged into the one before it, so that one summary comes of them; with `rounds`, and for a turn's beginning, each stands in a
 * `<context_summary>` block. A previous summary that leaves no room beside it is first summarized again, in chunks.
 * `compaction_failed` where the window has no room for any of it.
 */
export async function askForSummaries(
  work: Summarized,
  ask: AskSummarizer,
  o: RequestOptions = {},
): Promise<SummaryParts> {
  const answerOf = async (part: SummaryPart): Promise<string | undefined> =>
    work[part].length === 0 ? undefined : askForPart(work, part, ask, o)
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
  part: SummaryPart,
  conversation: string,
  previousSummary: string | undefined,
  instructions: string | undefined,
): string {
  const parts = {
    conversation,
    ...(previousSummary === undefined ? {} : { previousSummary: escapeTags(previousSummary) }),
    ...(instructions === undefined ? {} : { instructions }),
  }
  return part === "history" ? summaryPrompt(parts) : turnPrefixPrompt(parts)
}

async function askForPart(work: Summarized, part: SummaryPart, ask: AskSummarizer, o: RequestOptions): Promise<string> {
  const { rounds = false, count = estimateMessage } = o
  const previous = takesPrevious(work) === part ? work.previousSummary : undefined
  const whole = chunkOf(work[part])
  const room = roomFor(part, o)
  const taken = previous === undefined ? 0 : tokensOfText(escapeTags(previous), count)
  const fits = tokensOfText(whole.conversation, count) + taken <= room
  const merges = part === "history" && !rounds
  const carried = fits || taken <= room / 2 ? previous : await condensed(previous ?? "", ask, o)
  // Whatever the answers are merged into takes its room too.
  const beside = Math.max(
    carried === undefined ? 0 : tokensOfText(escapeTags(carried), count),
    merges ? Math.min(o.maxSummaryTokens ?? 0, room / 2) : 0,
  )
  const chunks = fits ? [whole] : chunksWithin(work[part], room - beside, count)
  const answers = await askInTurn(part, chunks, carried, merges, ask, o)
  if (answers.length === 1 && !rounds) return answers[0] as string
  const joined = joinGroups(answers)
  // The next compaction could not send a longer summary together with new messages.
  return tokensOfText(joined, count) <= room / 2 ? joined : joinGroups([await condensed(joined, ask, o)])
}

/** Tokens of the window that are left for a conversation, without the answer and the fixed parts of the prompt. */
function roomFor(part: SummaryPart, o: RequestOptions): number {
  const { window = Number.POSITIVE_INFINITY, maxSummaryTokens = 0, count = estimateMessage, instructions } = o
  const prompt = tokensOfText(partPrompt(part, "", "", instructions), count)
  const room = window - maxSummaryTokens - prompt
  if (room >= tokensOfText("x".repeat(SHORTEST_CHUNK), count)) return room
  const message = `The summarizer's window (${window} tokens) has no room for a conversation: its answer may take ${maxSummaryTokens}, and what it is asked takes about ${prompt}. Lower maxSummaryTokens, or give a larger summarizerWindow.`
  throw new SessionError("compaction_failed", message)
}

/** Asks for the chunks one after the other. With `merges`, the last answer covers all of them and is the only one returned. */
async function askInTurn(
  part: SummaryPart,
  chunks: readonly Chunk[],
  previous: string | undefined,
  merges: boolean,
  ask: AskSummarizer,
  o: RequestOptions,
): Promise<readonly string[]> {
  const { tooLong = isTooLong } = o
  const waiting = [...chunks]
  let carried = previous
  let answers: string[] = []
  for (let chunk = waiting.shift(); chunk !== undefined; chunk = waiting.shift()) {
    try {
      const answer = await ask(part, partPrompt(part, chunk.conversation, carried, o.instructions))
      answers = merges ? [answer] : [...answers, answer]
      carried = merges ? answer : undefined
    } catch (error) {
      if (!tooLong(error)) throw error
      // The summary beside the messages may be what is too long.
      if (carried !== undefined && carried === previous && carried.length > chunk.conversation.length) {
        carried = await condensed(carried, ask, o)
        waiting.unshift(chunk)
        continue
      }
      const halves = halvesOf(chunk)
      if (halves === undefined) throw error
      waiting.unshift(...halves)
    }
  }
  return answers
}

/** Summarizes a summary that leaves too little space for messages in the same request. */
async function condensed(summary: string, ask: AskSummarizer, o: RequestOptions): Promise<string> {
  const { count = estimateMessage, maxSummaryTokens = 0 } = o
  const room = roomFor("history", o)
  const budget = Math.max(room - Math.min(maxSummaryTokens, room / 2), 1)
  const chunks = textWithin(`[Summary so far]: ${escapeTags(summary)}`, budget, count)
  const [answer] = await askInTurn("history", chunks, undefined, true, ask, o)
  return answer as string
}
