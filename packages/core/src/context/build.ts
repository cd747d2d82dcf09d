/** Builds the context of a leaf from entries in memory. Pure; `Session.context()` does the same for a stored log. */
import { checkOptions, type OptionNames } from "../storage/options.ts"
import { checkedCounter, type TokenCounter } from "../format/tokens.ts"
import { SessionError } from "../format/errors.ts"
import type { Message } from "../format/message.ts"
import type { Header } from "../format/header.ts"
import { EntryLog, type EntrySlot } from "../log/entry-log.ts"
import { defaultLeaf } from "../log/path.ts"
import type { Seq } from "../storage/contract.ts"
import { assembleContext } from "./assemble.ts"
import { changesOf } from "./changed-units.ts"
import { commonPart, selectBefore } from "./compare.ts"
import { outdatedSummaries, summarizedDiagnostic } from "./outdated.ts"
import { explainFit } from "./explain-fit.ts"
import { pruneSizes } from "./prune/sent-sizes.ts"
import { renderMessages } from "./render.ts"
import { type CommonPart, lastRequest } from "./reused.ts"
import { measure } from "./ruler.ts"
import { selectContext } from "./select.ts"
import type { PruneSizes, Shortening } from "./shortening.ts"
import type { ContextMessage, SessionContext } from "./types.ts"
import { shortenedDiagnostics } from "./view/recorded-steps.ts"
import { viewOf } from "./view/view.ts"

export interface BuildOptions {
  /** The header, which may set the initial state. */
  readonly header?: Header
  /** Tokens that the context should fit. Steps that `makeRoom` has recorded for a smaller window are undone. */
  readonly window?: number
  /** Shortens old tool results, as in `Session.context()`; made by `shorten()` of `@sessions/core/compaction`. Default false. */
  readonly shorten?: Shortening | false
  /** Tokens of one message; default: an estimate, which the reports of providers calibrate. */
  readonly countTokens?: TokenCounter
}

/**
 * The context at a leaf, with custom roles kept and nothing repaired. `entries` is a whole log: the index is the seq, and lines that
 * are not entries, such as the header, are undefined. `leafId` null gives the empty context, undefined the context of the last entry;
 * an unknown id is `not_found`.
 */
export function buildSessionContext(
  entries: readonly EntrySlot[] | EntryLog,
  leafId?: string | null,
  o: BuildOptions = {},
): SessionContext<Message> {
  checkOptions("buildSessionContext", o, OPTIONS)
  const log = entries instanceof EntryLog ? entries : EntryLog.of(entries)
  const leaf = leafId === undefined ? defaultLeaf(log) : leafId === null ? null : log.find(leafId)
  if (leaf === undefined)
    throw new SessionError("not_found", `There is no entry ${JSON.stringify(leafId)} in this log.`)
  const selection = selectContext(log, leaf, o.header)
  if ("older" in selection) {
    throw new SessionError("invalid", "The entries are not a whole log; pass all of them, or use Session.context().")
  }
  const { window, countTokens, shorten = false } = o
  checkWindow(window)
  const { messages, seqs, diagnostics } = renderMessages(selection.entries)
  const count = countTokens === undefined ? undefined : checkedCounter(countTokens)
  const sizes = (whole: readonly ContextMessage[]): PruneSizes => pruneSizes(log, selection, whole, { window, count })
  const view = viewOf(log, selection, { shorten, sizes, window })
  const now = view(messages)
  const request = lastRequest(log, selection)
  const { answer, brokenBy } = request
  let common: CommonPart = { same: selection.start === undefined ? -1 : 0, brokenBy }
  if (answer !== undefined) {
    // The entries behind the compaction, of which the answer is one, are the last ones, in the order of their seqs.
    const place = seqs.findLastIndex((seq) => seq < answer.seq) + 1
    const isSame = log.lastTombstone < answer.seq && selection.entries.every(({ edit }) => edit === undefined)
    const before = isSame ? messages.slice(0, place) : messagesBefore(log, answer.seq, o.header)
    common = commonPart(log, selection, request, view(before, answer.seq), now)
  }
  const outdated = leaf === null ? [] : outdatedSummaries(log, leaf, selection.entries)
  const found = [
    ...diagnostics,
    ...shortenedDiagnostics(now.steps ?? []),
    ...("older" in outdated ? [] : outdated.map(summarizedDiagnostic)),
  ]
  const measured = { window, ruler: measure(log, selection, now, { count, changesOf }) }
  return explainFit(assembleContext(selection, { ...now, common, diagnostics: found }, measured), measured)
}

/** Throws `invalid` unless the window is a number of tokens above 0, or undefined. */
function checkWindow(window: number | undefined): void {
  if (window === undefined || (typeof window === "number" && window > 0)) return
  throw new SessionError("invalid", `window must be a number of tokens above 0, not ${String(window)}.`)
}

function messagesBefore(log: EntryLog, answer: Seq, header: Header | undefined): readonly ContextMessage[] {
  const selection = selectBefore(log, answer, header)
  return "older" in selection ? [] : renderMessages(selection.entries).messages
}

const OPTIONS: OptionNames<BuildOptions> = { header: 1, window: 1, shorten: 1, countTokens: 1 }
