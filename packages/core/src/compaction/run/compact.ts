/** Runs one compaction: asks the caller's model for a summary and appends one `compaction` entry. */
import { policyAt } from "../../context/call-states.ts"
import type { Ruler } from "../../context/ruler.ts"
import { selectContext, type Selection } from "../../context/select.ts"
import type { SelectedEntry } from "../../context/types.ts"
import { hasCode, type SessionError } from "../../format/errors.ts"
import type { Message, Usage } from "../../format/message.ts"
import type { NewEntry } from "../../format/new-entry.ts"
import type { ContextStepEntry, Entry, ToolPolicyEntry } from "../../format/entry.ts"
import { isKnownEntry } from "../../format/entry-problems.ts"
import { estimateMessage } from "../../format/tokens.ts"
import { isOlder, parentOf } from "../../log/path.ts"
import type { SessionEvents } from "../../session/events.ts"
import { runHook } from "../../session/hooks.ts"
import type { CompactableSession } from "../../session/live-types.ts"
import { selectAt } from "../../session/read-path.ts"
import type { Seq } from "../../storage/contract.ts"
import { StorageError } from "../../storage/errors.ts"
import { rejectOnAbort } from "../../storage/signals.ts"
import { compacted, prepareCompaction, type PreparedCompaction, tokensOf } from "../plan/plan-compaction.ts"
import { type ResolvedSettings, settingsAt, type SettingsInWindow } from "../plan/settings.ts"
import { unknownWindow } from "../../compaction-settings/windows.ts"
import { withFileLists } from "../summary/files.ts"
import { missingHeadings, NOTHING_LEFT } from "../summary/prompts.ts"
import { askForSummaries, compactionPrompts, storedSummary, type SummaryPart } from "../summary/requests.ts"
import type { CompactionResult, Summarize } from "../../compaction-settings/types.ts"
import { abortedError, failedError, movedError, nothingToCutError, outOfReachError } from "./failure.ts"
import { AIM_SHARE } from "./aim.ts"
import { causeOf, describeRule, tooLargeFor } from "./fitting.ts"
import { readOutdated } from "../../session/read-outdated.ts"
import { taughtSizes, withSizes } from "../../compaction-settings/request-size.ts"
import { sentContext, type SentContext } from "./sent-context.ts"
import { askSummarizer, type KeptFields } from "./summarizer.ts"
import { sumOfUsage } from "./usage.ts"

export interface CompactionRun {
  readonly settings: ResolvedSettings
  readonly summarize: Summarize
  readonly reason: SessionEvents["compact_start"]["reason"]
  /** Plans in place of the settings' rule, for a summary that is made anew. */
  readonly plan?: (selection: Selection, settings: SettingsInWindow, sent: SentContext) => Promise<AnewPlan>
  readonly instructions: string | undefined
  /** The most tokens to keep, what the model has not read aside. */
  readonly most?: number
  /** Fires if the caller aborts, or closes the session. */
  readonly signal: AbortSignal
  /** Throws if the caller's handle is closed. */
  readonly checkOpen: () => unknown
}

export interface AnewPlan {
  readonly work: PreparedCompaction
  /** Throws if an entry that the new summary has was deleted or edited meanwhile. */
  readonly checkSame: () => void
}

/** The settings for a context. Reports a model whose window is not known, once. */
export function settingsInForce(
  live: CompactableSession,
  selection: Selection,
  resolved: ResolvedSettings,
): SettingsInWindow {
  const settings = settingsAt(selection, resolved)
  const { unknownModel } = settings
  if (unknownModel !== live.compaction.unknownModel) {
    live.compaction.unknownModel = unknownModel
    if (unknownModel === undefined) live.clear("unknown_window")
    else live.report(unknownWindow(unknownModel))
  }
  return settings
}

/** Changes nothing unless the entry is appended. There is no `await` between the last check of the session and the append. */
export async function compactOnce(live: CompactableSession, run: CompactionRun): Promise<CompactionResult> {
  const { signal } = run
  // Do not pay a model for a summary that cannot be written.
  if (live.otherVersion?.refusal !== undefined) throw live.otherVersion.refusal
  const { leafId } = live.state
  const selection = await selectAt(live, leafId, { signal })
  const settings = settingsInForce(live, selection, run.settings)
  const { window, summaryAs } = settings
  const sent = await sentContext(live, selection, settings, { signal })
  const { ruler } = sent
  // The overhead is an estimate: only what is known for certain makes a summary useless.
  const prompt = Math.round(ruler.before - ruler.overhead)
  if (prompt >= window) {
    const why = `the system prompt alone has about ${prompt} tokens and the window has ${window}, so no context fits; shorten the prompt, or use a larger contextWindow`
    throw failedError(live.id, why)
  }
  const plan = await run.plan?.(selection, settings, sent)
  const work = plan?.work ?? prepare(live, run, sent, settings)
  const outdated = plan === undefined ? await outdatedIn(live, selection, work, signal) : []
  const prompts = compactionPrompts(work, run.instructions, settings.prompts)
  for (const { compact: hook } of live.options.hooks)
    await untilAbort(
      live,
      signal,
      hook?.before?.({ session: live.id, prompt: prompts.history ?? prompts.turnPrefix ?? "" }),
    )
  live.events.emit("compact_start", { reason: run.reason })
  const { summary, usage, kept } = await summarize(live, run, work, inRoom(run, work, settings, ruler), ruler)
  // Pending appends precede the compaction in the log, so they must be written before the session is checked.
  await untilAbort(live, signal, live.drain())
  /** Throws if what was summarized has changed; returns the first of the entries that were appended meanwhile. */
  const appendedSince = (): Entry | undefined => {
    run.checkOpen()
    plan?.checkSame()
    return checkNotMoved(live, leafId, selection)
  }
  appendedSince()
  const { tokensBefore, question } = work
  const sizes = { sizeOf: ruler.sizeOf, otherTokens: ruler.before }
  const tokensAfter = tokensOf(compacted(summary, work, summaryAs), sizes)
  if (plan === undefined && tokensAfter >= tokensBefore) {
    const why = `the summary and the kept messages (${tokensAfter} tokens) would not be shorter than the context (${tokensBefore})`
    throw failedError(live.id, why)
  }
  const none = { ...work, question: undefined, kept: [] }
  const alone = tokensOf(compacted(summary, none, summaryAs), { ...sizes, otherTokens: prompt })
  if (alone > window) {
    const why = `the summary and the system prompt alone have about ${alone} tokens and the window has ${window}, so no context fits; ask for a shorter summary, or use a larger window`
    throw failedError(live.id, why)
  }
  const id = live.options.newId()
  const entry: Extract<NewEntry, { type: "compaction" }> = {
    type: "compaction",
    id,
    summary,
    firstKeptEntryId: id,
    tokensBefore,
    tokensSummarized: work.tokensSummarized,
    ...(summaryAs === "pair" ? { summaryAs } : {}),
    ...(outdated.length === 0 ? {} : { outdated }),
    ...(usage === undefined ? {} : { usage }),
    ...kept,
    ...work.files,
    ...(question === undefined ? {} : { question: { id: question.entryId, message: question.message } }),
    ruler: {
      overhead: ruler.overhead,
      measured: ruler.measured,
      limits: withSizes(ruler.limits, taughtSizes(live.state.log, selection, sent.messages)),
    },
  }
  const again = question === undefined ? [] : stepsAgain(live, sent, question.entryId)
  let conflict: unknown
  do {
    const appended = appendedSince()
    // If the plan keeps nothing, what was appended meanwhile is kept.
    const firstKeptEntryId = work.firstKeptEntryId ?? appended?.id ?? id
    const { end } = live.state.log
    conflict = await conflictOf(live, [{ ...entry, firstKeptEntryId }, ...again, ...policyAgain(live)], signal)
    if (conflict !== undefined && live.state.log.end === end) throw movedError(live.id, conflict)
  } while (conflict !== undefined)
  const tooLarge = tooLargeFor(settings, summary, work, ruler)
  live.events.emit("compact_complete", {
    entryId: id,
    tokensBefore,
    tokensAfter,
    tokensFreed: tokensBefore - tokensAfter,
    messagesSummarized: work.history.length + work.turnPrefix.length,
    messagesKept: work.kept.length,
    missingHeadings: missingHeadings(summary, settings.prompts),
  })
  for (const { compact: hook } of live.options.hooks)
    runHook("compact.after", () => hook?.after?.({ session: live.id, entryId: id }), live.reportHookFailure)
  const fits = tooLarge === undefined
  return { entryId: id, summary, tokensBefore, tokensAfter, window, fits, ...(fits ? {} : { tooLarge }) }
}

/** Appends a compaction and its steps. Returns the conflict if another writer has appended to the conversation first: nothing was written. */
async function conflictOf(
  live: CompactableSession,
  entries: readonly [NewEntry, ...NewEntry[]],
  signal: AbortSignal,
): Promise<unknown> {
  try {
    await live.append(entries, { onConflict: "fail", repeats: "end", signal })
  } catch (error) {
    // The loss of a session must not be passed over.
    if (hasCode(error, "conflict") && (error as SessionError).lost === undefined) return error
    const isUnsent = error instanceof StorageError && error.sent === false
    if (!hasCode(error, "aborted") || isUnsent) throw error
    // The append may have been sent already: wait for its outcome.
    await live.drain()
    if (live.state.log.find(entries[0].id as string) === undefined) throw error
  }
  return undefined
}

/** The steps that shorten the question. Those before the kept part are not read any more. */
function stepsAgain({ state: { log } }: CompactableSession, { steps }: SentContext, question: string): NewEntry[] {
  const inForce = steps.filter(({ entryId, until }) => entryId === question && until === undefined)
  return [...new Set(inForce.map(({ at }) => at))].flatMap((at) => {
    const { step, units, window } = log.at(at) as ContextStepEntry
    return [
      {
        type: "context_step",
        step,
        upTo: question,
        ...(units === undefined ? {} : { units }),
        ...(window === undefined ? {} : { window }),
      },
    ]
  })
}

/** The record of the turn's tools: nobody looks for it behind a compaction. */
function policyAgain({ state: { log, leafId } }: CompactableSession): NewEntry[] {
  const leaf = leafId === null ? undefined : log.find(leafId)
  const policy = leaf === undefined ? undefined : policyAt(log, leaf)
  if (policy === undefined || isOlder(policy) || !isKnownEntry(policy)) return []
  const { never, safe } = policy as ToolPolicyEntry
  return [{ type: "tool_policy", never, safe }]
}

/** Waits for a hook or for appends, which may hang: the caller's signal ends that. */
async function untilAbort(live: CompactableSession, signal: AbortSignal, work: unknown): Promise<void> {
  await rejectOnAbort(Promise.resolve(work), signal, () => abortedError(live.id, signal))
}

/** The share of a refused context below which a summary must get. */
const WORTH = 0.98

/** An automatic compaction is not worth its price if the context would be due again. */
function prepare(
  live: CompactableSession,
  { reason, most }: CompactionRun,
  { entries, ruler, due }: SentContext,
  { keep, window, maxSummaryTokens }: SettingsInWindow,
): PreparedCompaction {
  const { sizeOf, before } = ruler
  const limit = due > before || reason === "threshold" ? due : ruler.limit(window)
  const aim = before + AIM_SHARE * Math.max(0, limit - before)
  // Who compacts by hand has said what to keep.
  const pending = reason === "manual" ? 0 : undefined
  const sizes = { aim, most, pending, maxSummaryTokens, sizeOf, otherTokens: before }
  const work = prepareCompaction(live.state.log, entries, { keep, ...sizes })
  if (work.cut === undefined) {
    const isDue = reason === "threshold" || work.tokensBefore > window
    const why = isDue ? `, which has about ${work.tokensBefore} tokens; ${causeOf(ruler, limit, []).text}` : ""
    // A call that waits for its result cannot be cut off, nor can a summary alone.
    const all = keep.count === 0 ? "leaves no message that a summary can replace" : "keeps the whole context"
    throw nothingToCutError(live.id, describeRule(keep).text, all + why)
  }
  // A provider that has refused the context takes any that is clearly smaller, whatever the sizes say.
  if (work.reaches || reason === "manual" || (reason === "overflow" && work.tokensExpected < WORTH * work.tokensBefore))
    return work
  const { question, kept } = work
  throw outOfReachError(live.id, causeOf(ruler, limit, question === undefined ? kept : [question, ...kept]))
}

/** The entries that the new summary will tell of although they were deleted or edited: it is built on summaries from before. */
async function outdatedIn(
  live: CompactableSession,
  selection: Selection,
  { history, turnPrefix }: PreparedCompaction,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const summarized = new Set([...history, ...turnPrefix].map(({ entryId }) => entryId))
  const outdated = await readOutdated(live, selection, { signal })
  const built = outdated.filter(({ entry }) => entry.type === "compaction" || summarized.has(entry.id))
  return [...new Set(built.flatMap(({ entries }) => entries))]
}

/** The least that a summary needs for its headings. */
const SHORTEST_SUMMARY = 80

/** After a refusal a summary takes at most half of the room that is left: a longer one would be the next that does not fit. */
function inRoom(
  { reason }: CompactionRun,
  { tokensBeside }: PreparedCompaction,
  settings: SettingsInWindow,
  { limit }: Ruler,
): SettingsInWindow {
  if (reason !== "overflow") return settings
  const most = Math.max(SHORTEST_SUMMARY, Math.floor((limit(settings.window) - tokensBeside) / 2))
  const maxSummaryTokens = Math.min(settings.maxSummaryTokens, most)
  return { ...settings, maxSummaryTokens, maxTurnContextTokens: Math.min(settings.maxTurnContextTokens, most) }
}

/** `usage` is the sum over all requests. */
async function summarize(
  live: CompactableSession,
  { summarize: ask, instructions, signal }: CompactionRun,
  work: PreparedCompaction,
  settings: SettingsInWindow,
  { k }: Ruler,
): Promise<{ readonly summary: string; readonly usage: Usage | undefined; readonly kept: KeptFields }> {
  const { timeout, temperature, prompts, maxSummaryTokens, maxTurnContextTokens, rounds } = settings
  if (work.history.length + work.turnPrefix.length === 0)
    return { summary: withFileLists(NOTHING_LEFT, work.files), usage: undefined, kept: {} }
  const count = settings.countTokens ?? ((message: Message) => estimateMessage(message) * k)
  const to = { session: live.id, summarize: ask, timeout, temperature, prompts, signal }
  let usage: Usage | undefined
  let kept: KeptFields = {}
  const answer = async (part: SummaryPart, prompt: string): Promise<string> => {
    const got = await askSummarizer(to, prompt, part === "history" ? maxSummaryTokens : maxTurnContextTokens)
    usage = sumOfUsage(usage, got.usage)
    kept = { ...kept, ...got.kept }
    return got.text
  }
  const window = settings.summarizerWindow ?? settings.window
  const answers = await askForSummaries(work, answer, {
    window,
    maxSummaryTokens,
    rounds,
    count,
    instructions,
    prompts,
  })
  return { summary: storedSummary(answers, work), usage, kept }
}

/** Messages that a compaction includes have its seq. */
function placeOf({ seq, entry, included }: SelectedEntry): Seq | string {
  return included === true ? entry.id : seq
}

function isSystem({ entry, included }: SelectedEntry): boolean {
  return included === true && (entry["message"] as Message).role === "system"
}

/**
 * Throws if the session has moved while its summary was made: to another branch, by another compaction, or by an edit or a deletion of
 * a summarized entry, which the summary must not bring back. Entries appended meanwhile are kept; returns the first of them.
 */
function checkNotMoved(live: CompactableSession, leafId: string | null, made: Selection): Entry | undefined {
  const { log, leafId: now, header } = live.state
  const from = leafId === null ? undefined : log.find(leafId)
  const leaf = now === null ? undefined : log.find(now)
  if (from === undefined || leaf === undefined) throw movedError(live.id)
  let seq = leaf
  let first: Seq | undefined
  for (; seq > from; seq = parentOf(log, seq)) first = seq
  if (seq !== from) throw movedError(live.id)
  const current = selectContext(log, leaf, header)
  if ("older" in current || current.compaction !== made.compaction) throw movedError(live.id)
  const edits = new Map(current.entries.map((item) => [placeOf(item), item.edit?.id]))
  // An included system message is not in the summary, and its copy is made when the compaction is appended.
  const isUnchanged = (item: SelectedEntry): boolean =>
    isSystem(item) || (edits.has(placeOf(item)) && edits.get(placeOf(item)) === item.edit?.id)
  if (!made.entries.every(isUnchanged)) throw movedError(live.id)
  return first === undefined ? undefined : log.at(first)
}
