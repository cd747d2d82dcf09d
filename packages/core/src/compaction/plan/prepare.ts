/**
 * What a compaction would do, from the entries of a context: where it cuts, what its summary covers and builds on, what stays. Pure
 * and linear in messages; `Session.compact` asks the caller's model and writes what comes of it.
 */
import { toModelMessages } from "../../context/model-messages.ts"
import type { SummaryStyle } from "../../context/summary.ts"
import { renderMessages, COMPACTION_ROLE } from "../../context/render.ts"
import { repairMessages } from "../../context/repair.ts"
import type { SelectedEntry } from "../../context/select.ts"
import type { ContextMessage } from "../../context/types.ts"
import type { Message } from "../../format/messages.ts"
import type { Entry } from "../../format/records.ts"
import type { Seq } from "../../storage/contract.ts"
import type { EntryLog } from "../../log/entry-log.ts"
import { parentOf } from "../../log/path.ts"
import { findCutPoint } from "./cut-point.ts"
import type { CutOptions, CutPoint, KeepRule } from "./cut-point.ts"
import { collectFiles, withoutFileLists } from "../summary/files.ts"
import type { FileLists } from "../summary/files.ts"
import { estimateMessage } from "../../format/tokens.ts"

export interface PrepareOptions {
  readonly keep: KeepRule
  /** A minimum of turns or messages that alone has more tokens than the window gives way to `keepRecentTokens`. */
  readonly giveWay?: { readonly window: number; readonly keepRecentTokens: number }
  /** Tokens of one message; default: {@link estimateMessage}. */
  readonly count?: (message: Message) => number
}

export interface PreparedCompaction {
  readonly cut: CutPoint
  /** The rule that the cut follows, which a minimum may have given way to. */
  readonly keep: KeepRule
  /** New to the summary, whole turns: summarized, or merged into the previous summary. Empty: only a turn's beginning is new. */
  readonly history: readonly ContextMessage[]
  /** The beginning of the turn that the cut splits, summarized apart; empty where it splits none. */
  readonly turnPrefix: readonly ContextMessage[]
  /** What stays as it is, in the order of the path. */
  readonly kept: readonly ContextMessage[]
  /** Undefined: nothing is kept. */
  readonly firstKeptEntryId: string | undefined
  /** Of the compaction that the context begins with, without its file lists. */
  readonly previousSummary: string | undefined
  /** Of all that is summarized so far, that compaction's lists among them. */
  readonly files: FileLists
  /** Of the context as a model gets it now. */
  readonly tokensBefore: number
  /** Of the messages that the summary newly covers. */
  readonly tokensSummarized: number
}

export interface NothingToCut {
  readonly cut: undefined
  /** The rule that keeps all of it. */
  readonly keep: KeepRule
  readonly tokensBefore: number
}

/** `entries` are a selection of `log`, blobs back in their places: the context that is to be compacted, in its order. */
export function prepareCompaction(
  log: EntryLog,
  entries: readonly SelectedEntry[],
  o: PrepareOptions,
): PreparedCompaction | NothingToCut {
  const { messages: all, seqs: places } = renderMessages(entries)
  const { weights, tokens: tokensBefore } = weigh(all, o)
  const previous = all[0]?.kind === "compaction" ? all[0] : undefined
  const from = previous === undefined ? 0 : firstOnPath(entries, places)
  const messages = from === 0 ? all : all.slice(from)
  const seqs = from === 0 ? places : places.slice(from)
  // The kept part begins at an id: one that a later entry has too would mean that one.
  const mayBegin = (index: number): boolean => log.find((messages[index] as ContextMessage).entryId) === seqs[index]
  const plain = messages.map(({ message }) => message)
  const { cut, keep } = cutWithin(plain, o, { mayBegin, tokensAt: (index) => weights[from + index] as number })
  if (cut === undefined) return { cut, keep, tokensBefore }
  return {
    cut,
    keep,
    history: messages.slice(0, cut.turnStart),
    turnPrefix: messages.slice(cut.turnStart, cut.first),
    kept: messages.slice(cut.first),
    firstKeptEntryId: firstKept(log, seqs, cut.first),
    previousSummary: previous === undefined ? undefined : withoutFileLists(String(previous.message["summaryText"])),
    files: collectFiles(
      plain.slice(0, cut.first),
      ...entries.slice(0, previous === undefined ? 0 : 1).map(({ entry }) => entry),
    ),
    tokensBefore,
    tokensSummarized: sumOf(weights, from, from + cut.first),
  }
}

/** Of the context that begins with a summary and goes on with what is kept. */
export function tokensWithSummary(
  summary: string,
  kept: readonly ContextMessage[],
  o: Pick<PrepareOptions, "count"> & { readonly summaryAs?: SummaryStyle } = {},
): number {
  const { summaryAs, ...rest } = o
  const message = { role: COMPACTION_ROLE, summaryText: summary, ...(summaryAs === undefined ? {} : { summaryAs }) }
  return contextTokens([{ entryId: "", kind: "compaction", message }, ...kept], rest)
}

/** Of what a model would get of these. */
function contextTokens(messages: readonly ContextMessage[], o: Pick<PrepareOptions, "count">): number {
  return weigh(messages, o).tokens
}

/** Tokens of each message, and of what a model would get of them all. Each is counted once where that is the same. */
function weigh(
  messages: readonly ContextMessage[],
  { count = estimateMessage }: Pick<PrepareOptions, "count">,
): { readonly weights: Float64Array; readonly tokens: number } {
  const weights = new Float64Array(messages.length)
  for (let index = 0; index < weights.length; index++)
    weights[index] = count((messages[index] as ContextMessage).message)
  const { messages: sendable } = repairMessages(toModelMessages(messages).messages, "synthesize")
  let tokens = 0
  let at = 0
  for (const item of sendable) {
    // What a model gets is, almost always, the same messages in the same order.
    while (at < messages.length && messages[at]?.entryId !== item.entryId) at++
    tokens += messages[at] === item ? (weights[at] as number) : count(item.message)
  }
  return { weights, tokens }
}

function cutWithin(
  messages: readonly Message[],
  { keep, giveWay }: PrepareOptions,
  o: Required<CutOptions>,
): { readonly cut: CutPoint | undefined; readonly keep: KeepRule } {
  const cut = findCutPoint(messages, keep, o)
  if (giveWay === undefined || keep.kind === "tokens") return { cut, keep }
  let kept = 0
  for (let index = cut?.first ?? 0; index < messages.length; index++) kept += o.tokensAt(index)
  if (kept <= giveWay.window) return { cut, keep }
  const instead: KeepRule = { kind: "tokens", count: giveWay.keepRecentTokens }
  return { cut: findCutPoint(messages, instead, o), keep: instead }
}

function sumOf(weights: Float64Array, from: number, to: number): number {
  let sum = 0
  for (let index = from; index < to; index++) sum += weights[index] as number
  return sum
}

/**
 * Index of the first message behind the compaction that is no older than the last reset. A compaction that somebody else made may
 * keep what stands before one; it has no place in any later summary. A reset behind the compaction has no compaction before it.
 */
function firstOnPath(entries: readonly SelectedEntry[], seqs: readonly Seq[]): number {
  const reset = entries.findLast(({ entry }) => entry.type === "reset_boundary")?.seq ?? 0
  let first = 1
  while (first < seqs.length && (seqs[first] as Seq) < reset) first++
  return first
}

/** The first kept message's entry, or what stands without a message just before it: changes of model or mode go with it. */
function firstKept(log: EntryLog, seqs: readonly Seq[], first: number): string | undefined {
  let seq = seqs[first]
  if (seq === undefined) return undefined
  const stop = seqs[first - 1]
  for (let parent = parentOf(log, seq); parent >= 0 && parent !== stop; parent = parentOf(log, parent)) {
    const entry = log.at(parent) as Entry
    const ends = entry.type === "compaction" || entry.type === "reset_boundary" || entry.type === "message"
    if (ends || log.find(entry.id) !== parent) break
    seq = parent
  }
  return log.at(seq)?.id
}
