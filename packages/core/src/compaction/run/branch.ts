/** Asks the caller's model for a summary of the current branch before the session leaves it. `branchWithSummary` appends the summary. */
import type { Selection } from "../../context/select.ts"
import { SessionError } from "../../format/errors.ts"
import type { Usage } from "../../format/message.ts"
import { checkCallOptions, type OptionChecks } from "../../format/options.ts"
import { isAnything, isObject } from "../../format/shape.ts"
import { type NeedsOlder, OLDER, ROOT } from "../../log/path.ts"
import type { CompactableSession, CompactionCaller } from "../../session/live-types.ts"
import { findEntry, restoreSelected, selectAt, unknownEntryError } from "../../session/read-path.ts"
import { signalOf } from "../../storage/signals.ts"
import type { CallOptions, Seq } from "../../storage/contract.ts"
import type { EntryOptions } from "../../write/types.ts"
import { COMPACTION_OPTIONS } from "../../compaction-settings/layers.ts"
import { resolveSettings, settingsAt } from "../plan/settings.ts"
import { commonAncestor } from "../../log/common-ancestor.ts"
import { prepareBranchSummary, storedBranchSummary } from "../summary/branch-summary.ts"
import { askForBranchSummary } from "../summary/requests.ts"
import type { BranchSummaryOptions } from "../../compaction-settings/types.ts"
import { whileOpen } from "./closing.ts"
import { readOutdated } from "../../session/read-outdated.ts"
import { invalidError } from "./failure.ts"
import { askSummarizer, summarizeOf } from "./summarizer.ts"
import { sumOfUsage } from "./usage.ts"

export type BranchingOptions = EntryOptions & {
  readonly details?: unknown
  readonly fromExtension?: boolean
  readonly usage?: Usage
}

const OPTIONS: OptionChecks<BranchSummaryOptions> = {
  ...COMPACTION_OPTIONS,
  instructions: isAnything,
  budget: isAnything,
}

/**
 * Returns the arguments of `branchWithSummary`: the summary, and the options with the files of the branch and the number of messages
 * that the budget has left out in `details`. `target` is the entry to continue from (null: the beginning). `compaction_failed` if the
 * summarizer gives no complete answer, the branch has no messages of its own, or messages were appended to it meanwhile; `not_found`,
 * `invalid`, `aborted`, `closed`.
 */
export async function summarizeBranch(
  live: CompactableSession,
  target: string | null,
  by: CompactionCaller,
  request: BranchSummaryOptions,
  o: BranchingOptions,
): Promise<readonly [summary: string, o: BranchingOptions]> {
  checkCallOptions("branchWithSummary", request, OPTIONS)
  const { details = {}, signal } = o
  const { instructions, budget, ...layer } = request
  const resolved = resolveSettings(...by.layers, layer)
  const summarize = summarizeOf(live.id, resolved)
  if (budget !== undefined && !(budget > 0))
    throw invalidError(live.id, `budget must be above 0, not ${String(budget)}.`)
  if (!isObject(details)) throw invalidError(live.id, "details must be an object: the lists of files are added to it.")
  const reading = signalOf(o)
  const { leafId } = live.state
  const selection = await selectAt(live, leafId, reading)
  const settings = settingsAt(selection, resolved)
  const { timeout, temperature, prompts, maxSummaryTokens, countTokens: count } = settings
  const { summarizerWindow: window = settings.window } = settings
  const ancestor = await ancestorOf(live, leafId, target, reading)
  const { entries } = await restoreSelected(live, selection.entries, reading)
  const branch = prepareBranchSummary(entries, ancestor, { budget, count })
  if (branch.messages.length === 0) throw failedError(live.id, nothingIn(branch.leftOut))
  const onBranch = { entries: selection.entries.filter(({ seq }) => seq > ancestor) }
  const outdated = (await readOutdated(live, onBranch, reading)).flatMap((summary) => summary.entries)
  const stale = outdated.length === 0 ? {} : { outdated: [...new Set(outdated)] }
  let usage: Usage | undefined
  const text = await whileOpen(live, by.checkOpen, signal, (stop) => {
    const to = { session: live.id, summarize, timeout, temperature, prompts, signal: stop, fail: failedError }
    const ask = async (prompt: string): Promise<string> => {
      const answer = await askSummarizer(to, prompt, maxSummaryTokens)
      usage = sumOfUsage(usage, answer.usage)
      return answer.text
    }
    return askForBranchSummary(branch.messages, ask, { window, maxSummaryTokens, count, instructions, prompts })
  })
  by.checkOpen()
  const now = await selectAt(live, live.state.leafId, reading)
  if (spoken(now) !== spoken(selection))
    throw failedError(live.id, "moved: messages were appended while the summary was made")
  const more = usage === undefined ? {} : { usage }
  const { files, leftOut } = branch
  const missing = leftOut === 0 ? {} : { leftOut }
  return [
    storedBranchSummary(text, files, leftOut),
    { ...o, ...more, details: { ...details, ...files, ...missing, ...stale } },
  ]
}

/** The last entry that both paths have in common. */
async function ancestorOf(
  live: CompactableSession,
  leafId: string | null,
  target: string | null,
  o: CallOptions,
): Promise<Seq> {
  const targetSeq = target === null ? null : await findEntry(live, target, o)
  if (targetSeq === undefined) throw unknownEntryError(live, target)
  if (leafId === null || targetSeq === null) return ROOT
  const { state, store } = live
  const ask = (): { readonly seq: Seq } | NeedsOlder => {
    const seq = commonAncestor(state.log, state.log.find(leafId) as Seq, targetSeq)
    return seq === OLDER ? { older: true } : { seq }
  }
  const { seq } = await store.untilKnown<{ readonly seq: Seq }>(() => state.log, ask, o)
  return seq
}

/** The conversation entries of a context, by seq and edit. Annotations are left out: they do not change a summary. */
function spoken({ entries, compaction }: Selection): string {
  const said = entries.filter(({ entry: { type } }) => /^(?:message|custom_message|branch_summary)$/.test(type))
  return JSON.stringify([compaction, said.map(({ seq, edit }) => [seq, edit?.id])])
}

function nothingIn(leftOut: number): string {
  return leftOut === 0
    ? "it has no messages of its own; use branch() without a summary"
    : "none of its messages is within the budget; raise it, or leave it out"
}

function failedError(session: string, why: string, cause?: unknown): SessionError {
  const message = `The current branch of session ${session} was not summarized, and the session stays on it: ${why}. Nothing was written.`
  return new SessionError("compaction_failed", message, { session, cause })
}
