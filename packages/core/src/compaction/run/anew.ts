/**
 * Makes the summaries of a context anew from what is left of the entries that they cover: first the outdated summaries of branches, each
 * replaced by an edit, then that of the compaction, by a compaction with the same kept part.
 */
import { renderMessages } from "../../context/render.ts"
import type { Selection } from "../../context/select.ts"
import type { ContextMessage, SelectedEntry } from "../../context/types.ts"
import type { Entry } from "../../format/entry.ts"
import type { Usage } from "../../format/message.ts"
import { textOf } from "../../format/stored-text.ts"
import { isOlder, type NeedsOlder, parentOf } from "../../log/path.ts"
import type { CompactableSession } from "../../session/live-types.ts"
import { restoreSelected, selectAt } from "../../session/read-path.ts"
import type { Seq } from "../../storage/contract.ts"
import { turnStartOf } from "../plan/cut-point.ts"
import {
  branchOf,
  keptFrom,
  type OutdatedSummary,
  outdatedSummaries,
  uncompactedEntries,
} from "../../context/outdated.ts"
import { compacted, tokensOf } from "../plan/plan-compaction.ts"
import type { SettingsInWindow } from "../plan/settings.ts"
import { storedBranchSummary } from "../summary/branch-summary.ts"
import { collectFiles } from "../summary/files.ts"
import { NOTHING_LEFT } from "../summary/prompts.ts"
import { askForBranchSummary } from "../summary/requests.ts"
import type { CompactionResult, CompactOptions } from "../../compaction-settings/types.ts"
import { type AnewPlan, compactOnce, type CompactionRun, settingsInForce } from "./compact.ts"
import { failedError, invalidError, movedError } from "./failure.ts"
import { sentContext, type SentContext } from "./sent-context.ts"
import { askSummarizer } from "./summarizer.ts"
import { sumOfUsage } from "./usage.ts"

/** The cut is that of the summary, so a rule of what is kept has no meaning. */
export function checkAnew(session: string, o: CompactOptions): void {
  const rule = (["keepRecentTokens", "keepTurns", "keepMessages"] as const).find((name) => o[name] !== undefined)
  if (rule !== undefined)
    throw invalidError(session, `${rule} cannot be set with anew: the kept part stays the same. Leave one of them out.`)
}

/** The result is of the compaction, or of the last edit if the context begins with none. */
export async function compactAnew(live: CompactableSession, run: CompactionRun): Promise<CompactionResult> {
  if (live.otherVersion?.refusal !== undefined) throw live.otherVersion.refusal
  const { signal } = run
  const before = await selectAt(live, live.state.leafId, { signal })
  const settings = settingsInForce(live, before, run.settings)
  const renewed = await renewBranches(live, run, before, settings)
  if (before.compaction !== undefined)
    return compactOnce(live, {
      ...run,
      plan: (selection, inForce, sent) => planAnew(live, run, selection, inForce, sent),
    })
  if (renewed === undefined)
    throw failedError(live.id, "its context has no summary to make anew: no compaction, and no outdated branch summary")
  const { tokens: tokensBefore } = (await sentContext(live, before, settings, { signal })).ruler
  const now = await selectAt(live, live.state.leafId, { signal })
  const { tokens: tokensAfter, limit } = (await sentContext(live, now, settings, { signal })).ruler
  const { window } = settings
  return { ...renewed, tokensBefore, tokensAfter, window, fits: tokensAfter <= limit(window) }
}

/** The plan of a compaction with the kept part of the one that the context begins with. */
async function planAnew(
  live: CompactableSession,
  { signal }: CompactionRun,
  selection: Selection,
  { keep, summaryAs }: SettingsInWindow,
  { entries: now, ruler: { sizeOf, before: otherTokens } }: SentContext,
): Promise<AnewPlan> {
  const { leafId } = live.state
  const compaction = selection.compaction as Seq
  const ask = (): readonly SelectedEntry[] | NeedsOlder => {
    const { log } = live.state
    return uncompactedEntries(log, log.find(leafId as string) as Seq, { end: keptFrom(log, compaction) })
  }
  const found = await live.store.untilKnown(() => live.state.log, ask, { signal })
  const { entries: covered } = await restoreSelected(live, found, { signal })
  const all = renderMessages(covered).messages
  const { messages: included } = renderMessages(now.filter((item) => item.included === true))
  const system = included.filter(isSystem)
  const question = included.find((item) => !isSystem(item))
  // The compaction includes system messages and its question, so the summary does not have them.
  const messages = all.filter((item) => !isSystem(item) && item.entryId !== question?.entryId)
  const { messages: kept } = renderMessages(now.filter((item) => item.included !== true && item.seq !== compaction))
  const plain = [...messages, ...kept].map(({ message }) => message)
  const cut = { first: messages.length, turnStart: turnStartOf(plain, messages.length) }
  const summary = textOf((live.state.log.at(compaction) as Entry)["summary"])
  const stays = { system, question, kept }
  const tokensBefore = tokensOf(compacted(summary, stays, summaryAs), { sizeOf, otherTokens })
  return {
    work: {
      cut,
      keep,
      // The cut is given, whatever size it leads to.
      reaches: true,
      tokensExpected: tokensBefore,
      tokensBeside: tokensOf([...system, ...(question === undefined ? [] : [question]), ...kept], {
        sizeOf,
        otherTokens,
      }),
      ...stays,
      history: messages.slice(0, cut.turnStart),
      turnPrefix: messages.slice(cut.turnStart),
      firstKeptEntryId: firstKeptAnew(live, leafId as string, compaction),
      previousSummary: undefined,
      files: collectFiles(messages.map(({ message }) => message)),
      tokensBefore,
      tokensSummarized: Math.round(messages.reduce((sum, item) => sum + sizeOf(item), 0)),
    },
    checkSame: () => {
      const { log } = live.state
      const again = uncompactedEntries(log, log.find(live.state.leafId as string) as Seq, {
        end: keptFrom(log, compaction),
      })
      if (isOlder(again) || fingerprint(again) !== fingerprint(found)) throw movedError(live.id)
    },
  }
}

function isSystem({ message }: ContextMessage): boolean {
  return message.role === "system"
}

function fingerprint(entries: readonly SelectedEntry[]): string {
  return JSON.stringify(entries.map(({ seq, edit }) => [seq, edit?.seq]))
}

/** The same first kept entry; if the compaction keeps nothing, the entry after it. Undefined: nothing is after it. */
function firstKeptAnew(live: CompactableSession, leafId: string, compaction: Seq): string | undefined {
  const { log } = live.state
  let first = keptFrom(log, compaction)
  if (first === compaction) {
    for (let seq = log.find(leafId) as Seq; seq > compaction; seq = parentOf(log, seq)) first = seq
    if (first === compaction) return undefined
  }
  const { id } = log.at(first) as Entry
  if (log.find(id) === first) return id
  const why = `its kept part begins with entry ${id}, and a later entry has the same id; compact without anew instead`
  throw failedError(live.id, why)
}

interface Renewed {
  readonly entryId: string
  readonly summary: string
}

/** Replaces the outdated branch summaries of the context, and of what its compaction covers. Returns the last edit. */
async function renewBranches(
  live: CompactableSession,
  run: CompactionRun,
  { entries, compaction }: Selection,
  settings: SettingsInWindow,
): Promise<Renewed | undefined> {
  const { signal } = run
  const { leafId } = live.state
  if (leafId === null) return undefined
  const ask = (): readonly OutdatedSummary[] | NeedsOlder => {
    const { log } = live.state
    const leaf = log.find(leafId) as Seq
    const covered = compaction === undefined ? [] : uncompactedEntries(log, leaf, { end: keptFrom(log, compaction) })
    if (isOlder(covered)) return covered
    const branches = [...covered, ...entries].filter(({ entry }) => entry.type === "branch_summary")
    return outdatedSummaries(log, leaf, branches)
  }
  const outdated = await live.store.untilKnown(() => live.state.log, ask, { signal })
  let last: Renewed | undefined
  for (const { seq, entry } of outdated) {
    const { summary, usage } = await summarizeAnew(live, run, seq, settings)
    run.checkOpen()
    // Entries that were appended meanwhile may have gone to another branch, on which the edit would have no effect.
    if (live.state.leafId !== leafId && last === undefined) throw movedError(live.id)
    const entryId = live.options.newId()
    const edit = { type: "context_edit", id: entryId, targetId: entry.id, replacement: { content: summary } } as const
    await live.append(
      [edit, ...(usage === undefined ? [] : [{ type: "usage", kind: "branch_summary", usage } as const])],
      {
        onConflict: "fail",
        signal,
      },
    )
    last = { entryId, summary }
  }
  return last
}

async function summarizeAnew(
  live: CompactableSession,
  { summarize, instructions, signal }: CompactionRun,
  at: Seq,
  { timeout, temperature, prompts, maxSummaryTokens, summarizerWindow, window, countTokens: count }: SettingsInWindow,
): Promise<{ readonly summary: string; readonly usage: Usage | undefined }> {
  const ask = (): readonly SelectedEntry[] | NeedsOlder => {
    const { log, leafId } = live.state
    const branch = branchOf(log, at)
    if (isOlder(branch)) return branch
    const edits = new Map<Seq, Entry>()
    const since = uncompactedEntries(log, log.find(leafId as string) as Seq, { end: at, stop: at, edits })
    if (isOlder(since)) return since
    return uncompactedEntries(log, branch.from, { end: branch.from + 1, stop: branch.to, edits })
  }
  const found = await live.store.untilKnown(() => live.state.log, ask, { signal })
  const { entries } = await restoreSelected(live, found, { signal })
  const messages = renderMessages(entries).messages.filter((item) => !isSystem(item))
  const files = collectFiles(messages.map(({ message }) => message))
  let usage: Usage | undefined
  const to = { session: live.id, summarize, timeout, temperature, prompts, signal }
  const answer = async (prompt: string): Promise<string> => {
    const got = await askSummarizer(to, prompt, maxSummaryTokens)
    usage = sumOfUsage(usage, got.usage)
    return got.text
  }
  const o = { window: summarizerWindow ?? window, maxSummaryTokens, count, instructions, prompts }
  const text = messages.length === 0 ? NOTHING_LEFT : await askForBranchSummary(messages, answer, o)
  return { summary: storedBranchSummary(text, files), usage }
}
