/**
 * Makes the summarizer's requests for a prepared compaction, sends them, and joins the answers to the summary to store.
 *
 * The previous summary is part of exactly one request. If there is new history, that request updates the summary. If only the beginning
 * of a split turn is new, the summary is its background and is stored unchanged in front of the answer: there is nothing to merge, a
 * model that rewrites a text loses details, and a second request costs money. The next compaction merges both, because its history
 * contains at least the rest of that turn.
 */
import { checkOptions, type OptionNames } from "../../storage/options.ts"
import type { ContextMessage } from "../../context/types.ts"
import { SessionError } from "../../format/errors.ts"
import type { PreparedCompaction } from "../plan/plan-compaction.ts"
import { estimateMessage, type TokenCounter } from "../../format/tokens.ts"
import { withFileLists, withoutFileLists } from "./files.ts"
import { type Chunk, chunkOf, chunksWithin, halvesOf, joinGroups, SHORTEST_CHUNK, splitChunk } from "./groups.ts"
import {
  branchSummaryPrompt,
  type PromptParts,
  summaryPrompt,
  TURN_CONTEXT_TITLE,
  turnPrefixPrompt,
} from "./prompts.ts"
import { escapeTags, serializeConversation, tokensOfText } from "./serialize.ts"
import { isTooLong } from "../refusals.ts"
import type { SummaryPrompts } from "../../compaction-settings/types.ts"

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
  readonly instructions?: string | undefined
  /** The summarizer's window in tokens, including its answer. Default: no limit; a request that it rejects as too long is halved. */
  readonly window?: number
  /** Tokens of the window to reserve for the answer. Default 0. */
  readonly maxSummaryTokens?: number
  /** True: each request summarizes only its own messages, and its answer is put in a `<context_summary>` block. Default false. */
  readonly rounds?: boolean
  readonly count?: TokenCounter | undefined
  /** Texts in place of the default ones; the system prompt takes its part of the window. */
  readonly prompts?: SummaryPrompts
  /** Whether an error means that the request was too long. Default: {@link isTooLong}. */
  readonly tooLong?: (error: unknown) => boolean
}

const OPTIONS: OptionNames<RequestOptions> = {
  instructions: 1,
  window: 1,
  maxSummaryTokens: 1,
  rounds: 1,
  count: 1,
  prompts: 1,
  tooLong: 1,
}

type Summarized = Pick<PreparedCompaction, "history" | "turnPrefix" | "previousSummary">

/** The prompts for the parts, at least one of which is not empty. `instructions` are added at the end of each. */
export function compactionPrompts(work: Summarized, instructions?: string, prompts?: SummaryPrompts): SummaryParts {
  const promptOf = (part: SummaryPart): string | undefined => {
    if (work[part].length === 0) return undefined
    return promptWith(makersOf(prompts)[part], serializeConversation(work[part]), previousFor(part, work), instructions)
  }
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
  checkOptions("askForSummaries", o, OPTIONS)
  const settings = settingsOf(ask, o)
  const answerOf = async (part: SummaryPart): Promise<string | undefined> => {
    if (work[part].length === 0) return undefined
    const previous = previousFor(part, work)
    return askForMessages({ part, messages: work[part], previous, promptOf: makersOf(o.prompts)[part] }, settings)
  }
  return { history: await answerOf("history"), turnPrefix: await answerOf("turnPrefix") }
}

/**
 * Asks for the summary of a branch, in as many requests as it needs, as {@link askForSummaries} does for a history. `rounds` is ignored:
 * the answer is one summary. Rejects with `compaction_failed` if the window has no space for a conversation.
 */
export async function askForBranchSummary(
  messages: readonly ContextMessage[],
  ask: (prompt: string) => Promise<string>,
  o: RequestOptions = {},
): Promise<string> {
  checkOptions("askForBranchSummary", o, OPTIONS)
  const settings = settingsOf((_, prompt) => ask(prompt), { ...o, rounds: false })
  return askForMessages({ part: "history", messages, previous: undefined, promptOf: branchSummaryPrompt }, settings)
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

/** The previous summary, for the part whose first request contains it. */
function previousFor(part: SummaryPart, { history, previousSummary }: Summarized): string | undefined {
  return part === (history.length > 0 ? "history" : "turnPrefix") ? previousSummary : undefined
}

/** Makes the prompt of a request. */
type MakePrompt = (parts: PromptParts) => string

function makersOf(prompts: SummaryPrompts | undefined): Readonly<Record<SummaryPart, MakePrompt>> {
  return { history: (parts) => summaryPrompt(parts, prompts), turnPrefix: turnPrefixPrompt }
}

function promptWith(
  promptOf: MakePrompt,
  conversation: string,
  previousSummary: string | undefined,
  instructions: string | undefined,
): string {
  const previous = previousSummary === undefined ? undefined : escapeTags(previousSummary)
  return promptOf({ conversation, previousSummary: previous, instructions })
}

/** The options with their defaults, and the summarizer. */
interface Settings extends Required<Omit<RequestOptions, "instructions" | "count">> {
  readonly ask: AskSummarizer
  readonly count: TokenCounter
  readonly instructions: string | undefined
}

function settingsOf(ask: AskSummarizer, o: RequestOptions): Settings {
  const { window = Number.POSITIVE_INFINITY, maxSummaryTokens = 0, rounds = false } = o
  const { count = estimateMessage, tooLong = isTooLong, instructions, prompts = {} } = o
  return { ask, window, maxSummaryTokens, rounds, count, tooLong, instructions, prompts }
}

/** Messages that become one summary. */
interface Work {
  readonly part: SummaryPart
  readonly messages: readonly ContextMessage[]
  /** The summary that the first request updates. */
  readonly previous: string | undefined
  readonly promptOf: MakePrompt
}

async function askForMessages(work: Work, s: Settings): Promise<string> {
  const { part, messages, previous, promptOf } = work
  const { rounds, count, maxSummaryTokens } = s
  const whole = chunkOf(messages)
  const available = availableTokens(promptOf, s)
  const taken = tokensOfPrevious(previous, count)
  const fits = tokensOfText(whole.conversation, count) + taken <= available
  const merges = part === "history" && !rounds
  const updated = fits || taken <= available / 2 ? previous : await condensed(previous ?? "", s)
  // Each request also contains the summary that it updates: the previous one, or the answer before it.
  const ofAnswer = merges ? Math.min(maxSummaryTokens, available / 2) : 0
  const budget = available - Math.max(tokensOfPrevious(updated, count), ofAnswer)
  const chunks = fits ? [whole] : chunksWithin(messages, budget, count)
  const answers = await askInTurn({ ...work, previous: updated }, chunks, merges, s)
  if (answers.length === 1 && !rounds) return answers[0] as string
  const joined = joinGroups(answers)
  // The next compaction could not send a longer summary together with new messages.
  return tokensOfText(joined, count) <= available / 2 ? joined : joinGroups([await condensed(joined, s)])
}

function tokensOfPrevious(summary: string | undefined, count: TokenCounter): number {
  return summary === undefined ? 0 : tokensOfText(escapeTags(summary), count)
}

/** Tokens of the window that are left for a conversation, without the answer and the fixed parts of the prompt. */
function availableTokens(promptOf: MakePrompt, s: Settings): number {
  const { window, maxSummaryTokens, count, instructions, prompts } = s
  const { system } = prompts
  const asked = tokensOfText(promptWith(promptOf, "", "", instructions), count)
  const prompt = asked + (system === undefined ? 0 : tokensOfText(system, count))
  const available = window - maxSummaryTokens - prompt
  if (available >= tokensOfText("x".repeat(SHORTEST_CHUNK), count)) return available
  const message = `The summarizer's window (${window} tokens) is too small for a conversation: its answer may take ${maxSummaryTokens}, and what it is asked takes about ${prompt}. Lower maxSummaryTokens, or give a larger summarizerWindow.`
  throw new SessionError("compaction_failed", message)
}

/** Asks for the chunks one after the other. With `merges`, the last answer covers all of them and is the only one returned. */
async function askInTurn(
  { part, previous, promptOf }: Omit<Work, "messages">,
  chunks: readonly Chunk[],
  merges: boolean,
  s: Settings,
): Promise<readonly string[]> {
  const waiting = [...chunks]
  let updated = previous
  let answers: string[] = []
  for (let chunk = waiting.shift(); chunk !== undefined; chunk = waiting.shift()) {
    try {
      const answer = await s.ask(part, promptWith(promptOf, chunk.conversation, updated, s.instructions))
      answers = merges ? [answer] : [...answers, answer]
      updated = merges ? answer : undefined
    } catch (error) {
      if (!s.tooLong(error)) throw error
      // The previous summary may be longer than the messages: shorten it before the messages are halved.
      if (updated !== undefined && updated === previous && updated.length > chunk.conversation.length) {
        updated = await condensed(updated, s)
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
async function condensed(summary: string, s: Settings): Promise<string> {
  const { history: promptOf } = makersOf(s.prompts)
  const available = availableTokens(promptOf, s)
  const budget = Math.max(available - Math.min(s.maxSummaryTokens, available / 2), 1)
  const chunks = splitChunk({ conversation: `[Summary so far]: ${escapeTags(summary)}` }, budget, s.count)
  const work = { part: "history", previous: undefined, promptOf } as const
  const [answer] = await askInTurn(work, chunks, true, s)
  return answer as string
}
