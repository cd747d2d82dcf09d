/**
 * Makes the summarizer's requests for a prepared compaction, sends them, and joins the answers to the summary to store.
 *
 * The previous summary is part of exactly one request. If there is new history, that request updates the summary. If only the beginning
 * of a split turn is new, the summary is its background and is stored unchanged in front of the answer: there is nothing to merge, a
 * model that rewrites a text loses details, and a second request costs money. The next compaction merges both, because its history
 * contains at least the rest of that turn.
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

/** A prompt or an answer for each part: the history, and the beginning of a split turn. Undefined for a part without new messages. */
export interface SummaryParts {
  readonly history: string | undefined
  readonly turnPrefix: string | undefined
}

export type SummaryPart = keyof SummaryParts

/** Sends a prompt and returns the checked answer. Rejects if there is no complete answer. */
export type AskSummarizer = (part: SummaryPart, prompt: string) => Promise<string>

export interface RequestOptions {
  /** Added at the end of every prompt. */
  readonly instructions?: string
  /** The summarizer's window in tokens, including its answer. Default: no limit; a request that it rejects as too long is halved. */
  readonly window?: number
  /** Tokens of the window to reserve for the answer. Default 0. */
  readonly maxSummaryTokens?: number
  /** True: each request summarizes only its own messages, and its answer is put in a `<context_summary>` block. Default false. */
  readonly rounds?: boolean
  readonly count?: TokenCounter
  /** Whether an error means that the request was too long. Default: {@link isTooLong}. */
  readonly tooLong?: (error: unknown) => boolean
}

type Summarized = Pick<PreparedCompaction, "history" | "turnPrefix" | "previousSummary">

/** The prompts for the parts, at least one of which is not empty. `instructions` are added at the end of each. */
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
 * Asks for the summaries of the parts, one request at a time.
 *
 * - A part that fits the summarizer's window is one request. A larger one is divided into requests of as many rounds as fit, and a
 *   request that the summarizer rejects as too long is halved.
 * - Several requests for the history: each updates the answer of the one before it, so the last answer is the summary. With `rounds`, and
 *   for the beginning of a turn, each answer is put in a `<context_summary>` block.
 * - A previous summary that leaves too little space for messages is first summarized itself, in chunks.
 *
 * Rejects with `compaction_failed` if the window has no space for a conversation.
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

/** The part whose first request contains the previous summary. */
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
  // Each request also contains the summary that it updates: the previous one, or the answer before it.
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
      // The previous summary may be longer than the messages: shorten it before the messages are halved.
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
