/**
 * Plans a compaction of a context: the cut point, the messages to summarize, the previous summary and the kept messages. Pure and
 * linear in messages; `compact` asks the caller's model and appends the summary.
 */
import { checkOptions, type OptionNames } from "../../storage/options.ts"
import { toModelMessages } from "../../context/model-messages.ts"
import { compactionMessage, renderMessages } from "../../context/render.ts"
import { repairMessages } from "../../context/repair.ts"
import type { ContextMessage, SelectedEntry, SummaryStyle } from "../../context/types.ts"
import type { ModelMessage } from "../../format/message.ts"
import type { Entry } from "../../format/entry.ts"
import { hasMessage, storesState } from "../../format/entry-types.ts"
import type { Seq } from "../../storage/contract.ts"
import type { EntryLog } from "../../log/entry-log.ts"
import { parentOf } from "../../log/path.ts"
import type { CutPoint, KeepRule } from "./cut-point.ts"
import { planCut } from "./cut-to-aim.ts"
import { collectFiles, type FileLists, withoutFileLists } from "../summary/files.ts"
import { textOf } from "../../format/stored-text.ts"
import { estimateMessage, type TokenCounter } from "../../format/tokens.ts"

export interface PrepareOptions {
  readonly keep: KeepRule
  /**
   * The most tokens that the compacted context shall have. What the rule keeps gives way to it; the question that the model works on and what it
   * has not read always stay. Default: the rule alone decides.
   */
  readonly aim?: number | undefined
  /** The most tokens to keep, what the model has not read aside. Default: any number. */
  readonly most?: number | undefined
  /** The most tokens of unread messages of users that always stay; the newest does. Default: half of the room below the aim. */
  readonly pending?: number | undefined
  /** The most tokens of the summary. Default: any number. */
  readonly maxSummaryTokens?: number
  /** Tokens of one message; default: {@link estimateMessage}. */
  readonly count?: TokenCounter | undefined
  /** Tokens of one message of the context; default: `count`. */
  readonly sizeOf?: ((item: ContextMessage) => number) | undefined
  /** Tokens of what is sent beside the messages; default 0. */
  readonly otherTokens?: number
}

const OPTIONS: OptionNames<PrepareOptions> = {
  keep: 1,
  aim: 1,
  most: 1,
  pending: 1,
  maxSummaryTokens: 1,
  count: 1,
  sizeOf: 1,
  otherTokens: 1,
}

/** Tokens of a first summary, as an estimate. */
const FIRST_SUMMARY = 800

export interface PreparedCompaction {
  readonly cut: CutPoint
  readonly keep: KeepRule
  /** Whether the compacted context is expected to have at most the tokens of the aim, and how many it is expected to have. */
  readonly reaches: boolean
  readonly tokensExpected: number
  /** Those of them that are not the summary. */
  readonly tokensBeside: number
  /** The question that the model works on, if the cut is behind it: it follows the summary. */
  readonly question: ContextMessage | undefined
  /** Whole turns that the summary newly covers. Empty: only the beginning of a turn is new. */
  readonly history: readonly ContextMessage[]
  /** The beginning of the turn that the cut splits, summarized separately; empty if it splits none, or the turn's question follows the summary. */
  readonly turnPrefix: readonly ContextMessage[]
  /** The messages that are not summarized, in the order of the path. */
  readonly kept: readonly ContextMessage[]
  /** The system messages before the kept ones, which stay in the context. */
  readonly system: readonly ContextMessage[]
  /** Undefined: nothing is kept. */
  readonly firstKeptEntryId: string | undefined
  /** The summary of the compaction that the context begins with, without its file lists. */
  readonly previousSummary: string | undefined
  /** Files of all that is summarized so far, including the lists of the previous compaction. */
  readonly files: FileLists
  /** Tokens of the context as a model gets it now. */
  readonly tokensBefore: number
  /** Tokens of the messages that the summary newly covers. */
  readonly tokensSummarized: number
}

export interface NothingToCut {
  readonly cut: undefined
  /** The rule that keeps the whole context. */
  readonly keep: KeepRule
  readonly tokensBefore: number
}

/** `entries` are the selected entries of `log` with their blobs restored: the context to compact, in its order. */
export function prepareCompaction(
  log: EntryLog,
  entries: readonly SelectedEntry[],
  o: PrepareOptions,
): PreparedCompaction | NothingToCut {
  checkOptions("prepareCompaction", o, OPTIONS)
  const { messages: all, seqs: allSeqs } = renderMessages(entries)
  const { weights, tokens: tokensBefore } = weigh(all, o)
  // Before it are only the system messages that it includes.
  const place = all.findIndex(({ kind }) => kind === "compaction")
  const previous = all[place]
  const from = previous === undefined ? 0 : firstOnPath(entries, allSeqs, place + 1)
  const messages = from === 0 ? all : all.slice(from)
  const seqs = from === 0 ? allSeqs : allSeqs.slice(from)
  // The kept part is named by an id, which means the latest entry with it: an id that occurs again cannot name this one.
  const mayBegin = (index: number): boolean => log.find((messages[index] as ContextMessage).entryId) === seqs[index]
  const tokensAt = (index: number): number => weights[from + index] as number
  const plain = messages.map(({ message }) => message)
  const { keep, aim, most, pending, otherTokens = 0, maxSummaryTokens = Number.POSITIVE_INFINITY } = o
  const plan = planCut(plain, {
    keep,
    tokensAt,
    mayBegin,
    before: otherTokens + sumOf((index) => weights[index] as number, 0, Math.max(place, 0)),
    summary: Math.min(place < 0 ? FIRST_SUMMARY : (weights[place] as number), maxSummaryTokens),
    aim,
    most,
    pending,
  })
  if (plan === undefined) return { cut: undefined, keep, tokensBefore }
  const { first } = plan.cut
  // A question that follows the summary, now or since the last one, says what its turn is about.
  const isIncluded = plan.question !== undefined || (place >= 0 && seqs[plan.cut.turnStart] === allSeqs[place])
  const cut: CutPoint = { first, turnStart: isIncluded ? first : plan.cut.turnStart }
  const question = messages[plan.question ?? -1]
  const summarized = (from: number, to: number): readonly ContextMessage[] =>
    messages.slice(from, to).filter((item) => item !== question)
  return {
    cut,
    keep,
    reaches: plan.reaches,
    tokensExpected: Math.round(plan.tokens),
    tokensBeside: Math.round(plan.rest),
    question,
    history: summarized(0, cut.turnStart),
    turnPrefix: summarized(cut.turnStart, cut.first),
    kept: messages.slice(cut.first),
    system: [
      ...all.slice(0, Math.max(place, 0)),
      ...messages.filter(({ message }, index) => index < cut.first && message.role === "system"),
    ],
    firstKeptEntryId: firstKept(log, seqs, cut.first),
    previousSummary: previous === undefined ? undefined : withoutFileLists(textOf(previous.message["summaryText"])),
    files: collectFiles(
      plain.slice(0, cut.first),
      ...entries.filter(({ entry }) => entry.type === "compaction").map(({ entry }) => entry),
    ),
    tokensBefore,
    tokensSummarized: Math.round(sumOf(tokensAt, 0, cut.first)),
  }
}

/** Tokens of a context of a summary and the kept messages. */
export function tokensWithSummary(
  summary: string,
  kept: readonly ContextMessage[],
  o: Pick<PrepareOptions, "count" | "sizeOf" | "otherTokens"> & { readonly summaryAs?: SummaryStyle } = {},
): number {
  return tokensOf([compactionMessage("", summary, { summaryAs: o.summaryAs }), ...kept], o)
}

/** Tokens of messages as a model would get them, and of what is sent beside them. */
export function tokensOf(
  messages: readonly ContextMessage[],
  o: Pick<PrepareOptions, "count" | "sizeOf" | "otherTokens">,
): number {
  return weigh(messages, o).tokens
}

/** The messages of a context that begins with a new summary: {@link PreparedCompaction}. */
export function compacted(
  summary: string,
  { system, question, kept }: Pick<PreparedCompaction, "system" | "question" | "kept">,
  summaryAs: SummaryStyle | undefined,
): readonly ContextMessage[] {
  return [
    ...system,
    compactionMessage("", summary, { summaryAs }),
    ...(question === undefined ? [] : [question]),
    ...kept,
  ]
}

/** The messages as a model would get them. */
export function sendable(messages: readonly ContextMessage[]): readonly ContextMessage<ModelMessage>[] {
  return repairMessages(toModelMessages(messages).messages, "synthesize").messages
}

/** Tokens of each message, and of all of them as a model would get them. A message that is sent unchanged is counted once. */
function weigh(
  messages: readonly ContextMessage[],
  {
    count = estimateMessage,
    sizeOf = ({ message }) => count(message),
    otherTokens = 0,
  }: Pick<PrepareOptions, "count" | "sizeOf" | "otherTokens">,
): { readonly weights: Float64Array; readonly tokens: number } {
  const weights = new Float64Array(messages.length)
  for (let index = 0; index < weights.length; index++) weights[index] = sizeOf(messages[index] as ContextMessage)
  let tokens = otherTokens
  let at = 0
  for (const item of sendable(messages)) {
    // Almost always a model gets the same messages in the same order.
    while (at < messages.length && messages[at]?.entryId !== item.entryId) at++
    tokens += messages[at] === item ? (weights[at] as number) : sizeOf(item)
  }
  return { weights, tokens: Math.round(tokens) }
}

function sumOf(tokensAt: (index: number) => number, from: number, to: number): number {
  let sum = 0
  for (let index = from; index < to; index++) sum += tokensAt(index)
  return sum
}

/**
 * Index of the first message from `after` on that is not before the last reset. A compaction of another program may keep entries
 * from before a reset; they must not be summarized again. A reset after the compaction would have hidden the compaction.
 */
function firstOnPath(entries: readonly SelectedEntry[], seqs: readonly Seq[], after: number): number {
  const reset = entries.findLast(({ entry }) => entry.type === "reset_boundary")?.seq ?? 0
  let first = after
  while (first < seqs.length && (seqs[first] as Seq) < reset) first++
  return first
}

/** The first kept entry: that of the first kept message, or an entry without a message directly before it, such as a change of model. */
function firstKept(log: EntryLog, seqs: readonly Seq[], first: number): string | undefined {
  let seq = seqs[first]
  if (seq === undefined) return undefined
  const stop = seqs[first - 1]
  for (let parent = parentOf(log, seq); parent >= 0 && parent !== stop; parent = parentOf(log, parent)) {
    const entry = log.at(parent) as Entry
    // A question that was included is before entries that are summarized already.
    if (hasMessage(entry.type) || storesState(entry.type) || log.find(entry.id) !== parent) break
    seq = parent
  }
  return log.at(seq)?.id
}
