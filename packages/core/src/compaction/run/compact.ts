/** Runs one compaction: asks the caller's model for a summary and appends one `compaction` entry. */
import { prepareCompaction, tokensWithSummary } from "../plan/prepare.ts"
import type { PreparedCompaction } from "../plan/prepare.ts"
import { missingHeadings } from "../summary/prompts.ts"
import { askForSummaries, compactionPrompts, storedSummary } from "../summary/requests.ts"
import type { RequestOptions, SummaryPart } from "../summary/requests.ts"
import { inWindow, timeAt } from "../settings/in-window.ts"
import type { SettingsInWindow } from "../settings/in-window.ts"
import type { CompactionResult, Summarize } from "../types.ts"
import { type SelectedEntry, selectContext, type Selection } from "../../context/select.ts"
import type { Usage } from "../../format/message.ts"
import type { NewEntry } from "../../format/new-entry.ts"
import { hasCode } from "../../format/errors.ts"
import { runHook } from "../../session/hooks.ts"
import { selectAt, restoreSelected } from "../../session/read-path.ts"
import type { CompactableSession } from "../../session/live.ts"
import { failed, moved, nothingToCut } from "./failure.ts"
import { describeRule, promptTokensOf, tooLargeFor, windowAt } from "./fitting.ts"
import { askSummarizer } from "./summarizer.ts"
import { sumOfUsage } from "./usage.ts"
import type { SessionEvents } from "../../session/events.ts"
import type { ResolvedSettings } from "../settings/settings.ts"
import { parentOf } from "../../log/path.ts"
import type { Seq } from "../../storage/contract.ts"

export interface CompactionRun {
  readonly settings: ResolvedSettings
  readonly summarize: Summarize
  readonly reason: SessionEvents["compact_start"]["reason"]
  readonly instructions: string | undefined
  readonly signal: AbortSignal | undefined
  /** Throws if the caller's handle is closed. */
  readonly checkOpen: () => unknown
}

/** Changes nothing unless the entry is appended. There is no `await` between the last check of the session and the append. */
export async function compactOnce(live: CompactableSession, run: CompactionRun): Promise<CompactionResult> {
  const { signal } = run
  // Do not pay a model for a summary that cannot be written.
  if (live.writeGuard.kind === "refused") throw live.writeGuard.error
  const { leafId } = live.state
  const o = signal === undefined ? {} : { signal }
  const selection = await selectAt(live, leafId, o)
  const window = windowAt(selection, run.settings)
  const settings = inWindow(run.settings, window)
  const promptTokens = await promptTokensOf(live, selection, settings, o)
  if (promptTokens >= window) {
    const why = `the system prompt alone has about ${promptTokens} tokens and the window has ${window}, so no context fits; shorten the prompt, or use a larger contextWindow`
    throw failed(live.id, why)
  }
  const work = await prepare(live, run, selection, { settings, window })
  const prompts = compactionPrompts(work, run.instructions)
  for (const { compact: hook } of live.options.hooks)
    await hook?.before?.({ session: live.id, prompt: prompts.history ?? prompts.turnPrefix ?? "" })
  live.events.emit("compact_start", { reason: run.reason })
  const { summary, usage } = await summarize(live, run, work, { settings, window })
  // Pending appends precede the compaction in the log, so they must be written before the session is checked.
  await live.drain()
  run.checkOpen()
  checkNotMoved(live, leafId, selection)
  const style = settings.summaryAs === "pair" ? ({ summaryAs: "pair" } as const) : {}
  const tokensAfter = tokensWithSummary(summary, work.kept, { ...countWith(run), ...style })
  if (tokensAfter >= work.tokensBefore) {
    const why = `the summary and the kept messages (${tokensAfter} tokens) would not be shorter than the context (${work.tokensBefore})`
    throw failed(live.id, why)
  }
  const alone = promptTokens + tokensWithSummary(summary, [], { ...countWith(run), ...style })
  if (alone > window) {
    const why = `the summary and the system prompt alone have about ${alone} tokens and the window has ${window}, so no context fits; ask for a shorter summary, or use a larger window`
    throw failed(live.id, why)
  }
  const id = live.options.newId()
  const entry: NewEntry = {
    type: "compaction",
    id,
    summary,
    firstKeptEntryId: work.firstKeptEntryId ?? firstAfter(live, leafId) ?? id,
    tokensBefore: work.tokensBefore,
    tokensSummarized: work.tokensSummarized,
    ...style,
    ...(usage === undefined ? {} : { usage }),
    ...work.files,
  }
  try {
    await live.append([entry], { onConflict: "fail", ...o })
  } catch (error) {
    if (hasCode(error, "conflict")) throw moved(live.id, error)
    if (!hasCode(error, "aborted")) throw error
    // The append may have been sent already: wait for its outcome.
    await live.drain()
    if (live.state.log.find(id) === undefined) throw error
  }
  const tooLarge = tooLargeFor(window, settings, { summary, work, promptTokens })
  reportCompleted(live, id, { work, summary, tokensAfter })
  return {
    entryId: id,
    summary,
    tokensBefore: work.tokensBefore,
    tokensAfter,
    window,
    fits: tooLarge === undefined,
    ...(tooLarge === undefined ? {} : { tooLarge }),
  }
}

async function prepare(
  live: CompactableSession,
  run: CompactionRun,
  selection: Selection,
  { settings, window }: InWindow,
): Promise<PreparedCompaction> {
  const { keep, keepRecentTokens, trigger } = settings
  const { entries } = await restoreSelected(
    live,
    selection.entries,
    run.signal === undefined ? {} : { signal: run.signal },
  )
  const giveWay = { window, keepRecentTokens }
  const work = prepareCompaction(live.state.log, entries, { keep, giveWay, ...countWith(run) })
  if (work.cut !== undefined) return work
  const rule = describeRule(work.keep)
  const size = `, which has about ${work.tokensBefore} tokens;`
  const why =
    work.tokensBefore > window
      ? `${size} the window has ${window}: lower ${rule.name}`
      : run.reason === "threshold"
        ? `${size} compaction starts at ${Math.floor(timeAt(trigger, window))}: lower ${rule.name}, or raise the threshold`
        : ""
  throw nothingToCut(live.id, rule.text, `keeps the whole context${why}`)
}

interface InWindow {
  readonly settings: SettingsInWindow
  /** Tokens. */
  readonly window: number
}

/** `usage` is the sum over all requests. */
async function summarize(
  live: CompactableSession,
  { summarize: ask, instructions, signal }: CompactionRun,
  work: PreparedCompaction,
  { settings, window }: InWindow,
): Promise<{ readonly summary: string; readonly usage: Usage | undefined }> {
  const { timeout, temperature, maxSummaryTokens, maxTurnContextTokens, rounds, summarizerWindow, countTokens } =
    settings
  const to = { session: live.id, summarize: ask, timeout, temperature, signal }
  let usage: Usage | undefined
  const answer = async (part: SummaryPart, prompt: string): Promise<string> => {
    const got = await askSummarizer(to, prompt, part === "history" ? maxSummaryTokens : maxTurnContextTokens)
    usage = sumOfUsage(usage, got.usage)
    return got.text
  }
  const o: RequestOptions = {
    window: summarizerWindow ?? window,
    maxSummaryTokens,
    rounds,
    ...(countTokens === undefined ? {} : { count: countTokens }),
    ...(instructions === undefined ? {} : { instructions }),
  }
  const summary = storedSummary(await askForSummaries(work, answer, o), work)
  return { summary, usage }
}

function reportCompleted(
  live: CompactableSession,
  entryId: string,
  done: { readonly work: PreparedCompaction; readonly summary: string; readonly tokensAfter: number },
): void {
  const { work, summary, tokensAfter } = done
  const { tokensBefore } = work
  live.events.emit("compact_complete", {
    entryId,
    tokensBefore,
    tokensAfter,
    tokensFreed: tokensBefore - tokensAfter,
    messagesSummarized: work.history.length + work.turnPrefix.length,
    messagesKept: work.kept.length,
    missingHeadings: missingHeadings(summary),
  })
  for (const { compact: hook } of live.options.hooks)
    runHook("compact.after", () => hook?.after?.({ session: live.id, entryId }), live.reportHookFailure)
}

function countWith({ settings: { countTokens } }: CompactionRun): { readonly count?: typeof countTokens & object } {
  return countTokens === undefined ? {} : { count: countTokens }
}

/**
 * Throws if the session has moved while its summary was made: to another branch, by another compaction, or by an edit or a deletion of
 * a summarized entry, which the summary must not bring back. Entries appended meanwhile are kept.
 */
export function checkNotMoved(live: CompactableSession, leafId: string | null, made: Selection): void {
  const { log, leafId: now } = live.state
  const target = leafId === null ? undefined : log.find(leafId)
  let seq = now === null ? -1 : (log.find(now) as Seq)
  while (target !== undefined && seq > target) seq = parentOf(log, seq)
  if (target === undefined || seq !== target) throw moved(live.id)
  const current = selectContext(log, log.find(now as string) as Seq, live.state.header)
  if ("older" in current || current.compaction !== made.compaction) throw moved(live.id)
  const editBySeq = new Map(current.entries.map(({ seq, edit }) => [seq, edit?.id]))
  const isUnchanged = ({ seq, edit }: SelectedEntry): boolean => editBySeq.has(seq) && editBySeq.get(seq) === edit?.id
  if (!made.entries.every(isUnchanged)) throw moved(live.id)
}

/** The first entry that was appended while the summary was made. It is the first kept entry if the plan keeps none. */
export function firstAfter({ state }: CompactableSession, leafId: string | null): string | undefined {
  const { log, leafId: now } = state
  const made = leafId === null ? undefined : log.find(leafId)
  let first: string | undefined
  for (let seq = now === null ? -1 : (log.find(now) as Seq); seq >= 0 && seq !== made; seq = parentOf(log, seq))
    first = log.at(seq)?.id
  return first
}
