/**
 * Starts compactions and handles their failures: `compact` rejects, automatic compaction reports an event and a diagnostic. A session
 * runs one compaction at a time.
 */
import type { Selection } from "../../context/select.ts"
import type { CompactableSession, CompactionCaller } from "../../session/live-types.ts"
import { selectAt } from "../../session/read-path.ts"
import { isOver } from "../plan/trigger.ts"
import { resolveSettings, settingsAt } from "../plan/settings.ts"
import type { AutoCompactOptions, CompactionResult, CompactOptions } from "../../compaction-settings/types.ts"
import { whileOpen } from "./closing.ts"
import { checkAnew, compactAnew } from "./anew.ts"
import { compactOnce, type CompactionRun, settingsInForce } from "./compact.ts"
import { failedError, invalidError, kindOf, keepRuleOf } from "./failure.ts"
import { checkCompact } from "./options.ts"
import { isOverBytes, mayHaveManyBytes, roomOf } from "./room.ts"
import { sentContext } from "./sent-context.ts"
import { causeOf } from "./fitting.ts"
import { isHopeless, sinceAnswer } from "./since-answer.ts"
import { summarizeOf } from "./summarizer.ts"

/**
 * Rejects with `compaction_failed` if the summarizer fails, nothing can be cut, or the session moved meanwhile; `invalid`, `aborted`,
 * `closed`, and the errors of the storage.
 */
export async function compactByHand(
  live: CompactableSession,
  by: CompactionCaller,
  o: CompactOptions,
): Promise<CompactionResult> {
  checkCompact(live.id, o)
  const { reason = "manual" } = o
  if (reason !== "manual" && reason !== "overflow")
    throw invalidError(live.id, `reason must be "manual" or "overflow", not ${String(reason)}.`)
  const request = toRequest(live, by, o, reason)
  if (live.compaction.running) throw failedError(live.id, "another compaction is running; wait for it to end")
  if (o.anew !== undefined && typeof o.anew !== "boolean") throw invalidError(live.id, "anew must be true or false.")
  if (o.anew === true) checkAnew(live.id, o)
  return attempt(live, request, (run) => (o.anew === true ? compactAnew(live, run) : compactOnce(live, run)))
}

/**
 * Compacts if the session is due. Returns undefined if it is not due, a compaction is running, the breaker is open, or the compaction has
 * failed; a failure emits an event and a diagnostic. Rejects with `invalid`, `aborted`, `closed`.
 */
export async function compactIfDue(
  live: CompactableSession,
  by: CompactionCaller,
  o: AutoCompactOptions,
): Promise<CompactionResult | undefined> {
  const request = toRequest(live, by, o, "threshold")
  const { enabled } = request.settings
  if (!enabled || live.compaction.running) return undefined
  try {
    return await attempt(live, request, async (run) => {
      const selection = await selectAt(live, live.state.leafId, { signal: run.signal })
      if (isBreakerOpen(live, run, selection) || !(await isDue(live, run, selection))) return undefined
      return compactOnce(live, run)
    })
  } catch (error) {
    const kind = kindOf(error)
    if (kind === "stopped") throw error
    const reports = kind !== "moved" && isNews(live, error)
    live.compaction.stuck = keepRuleOf(error)
    if (reports) report(live, error)
    return undefined
  }
}

function report(live: CompactableSession, error: unknown): void {
  live.report({ code: "compaction_failed", message: error instanceof Error ? error.message : String(error) })
}

/** Compacts a context that is too large for its model, and keeps at most this number of tokens of what the model has read. */
export async function compactFurther(
  live: CompactableSession,
  by: CompactionCaller,
  o: AutoCompactOptions,
  most: number | undefined,
): Promise<CompactionResult> {
  const request = toRequest(live, by, o, "overflow")
  try {
    return await attempt(live, request, (run) => compactOnce(live, most === undefined ? run : { ...run, most }))
  } catch (error) {
    if (kindOf(error) === "failed") report(live, error)
    throw error
  }
}

/** A run before its signal is combined with the closing of the session. */
type CompactionRequest = Omit<CompactionRun, "signal"> & { readonly signal: AbortSignal | undefined }

async function attempt<T extends CompactionResult | undefined>(
  live: CompactableSession,
  request: CompactionRequest,
  act: (run: CompactionRun) => Promise<T>,
): Promise<T> {
  const { compaction } = live
  const { settings, signal, checkOpen, reason } = request
  compaction.running = true
  try {
    const result = await whileOpen(live, checkOpen, signal, (stop) => act({ ...request, signal: stop }))
    if (result !== undefined) succeeded(live, result, reason)
    return result
  } catch (error) {
    const kind = kindOf(error)
    if (kind === "failed") compaction.failures++
    if (kind === "failed" && reason === "threshold") compaction.failedAt = live.state.log.end
    const { failures } = compaction
    const breakerOpen = failures >= settings.maxFailures
    if (reason !== "threshold" || isNews(live, error))
      live.events.emit("compact_failed", { error, kind, failures, breakerOpen })
    throw error
  } finally {
    compaction.running = false
  }
}

/** A summary that was paid is written, but one that leaves the session due does not count as a success of automatic compaction. */
function succeeded(
  live: CompactableSession,
  { entryId, tooLarge }: CompactionResult,
  reason: CompactionRun["reason"],
): void {
  const { compaction } = live
  const { failures } = compaction
  const isAutomatic = reason === "threshold"
  compaction.failures = 0
  compaction.stuck = undefined
  compaction.unproved = isAutomatic ? { id: entryId, failures } : undefined
  live.clear("compaction_failed")
  if (isAutomatic && tooLarge !== undefined) missed(live, failures, tooLarge)
}

function missed(live: CompactableSession, before: number, why: string): void {
  live.compaction.failures = before + 1
  live.compaction.unproved = undefined
  live.report({ code: "compaction_failed", message: `The last compaction did not help: ${why}` })
}

/** Failures count for the model, the settings, the edits and the deletions that they happened with. */
function isBreakerOpen(
  { compaction, state: { log } }: CompactableSession,
  { settings }: CompactionRun,
  selection: Selection,
): boolean {
  const { trigger, keep, limit, window, maxFailures } = settingsAt(selection, settings)
  const edits = selection.entries.map(({ edit }) => edit?.seq ?? -1)
  const situation = JSON.stringify([
    selection.state.models["default"],
    [trigger, keep, limit, window],
    [log.lastTombstone, edits.reduce((last, seq) => Math.max(last, seq), -1)],
  ])
  if (compaction.failures > 0 && situation !== compaction.situation) {
    compaction.failures = 0
    compaction.stuck = undefined
  }
  compaction.situation = situation
  return compaction.failures >= maxFailures
}

/** Automatic compaction would otherwise report the same rule at every turn. */
function isNews({ compaction }: CompactableSession, error: unknown): boolean {
  const rule = keepRuleOf(error)
  return rule === undefined || rule !== compaction.stuck
}

function toRequest(
  { id }: CompactableSession,
  { layers, checkOpen }: CompactionCaller,
  o: AutoCompactOptions,
  reason: CompactionRun["reason"],
): CompactionRequest {
  const { instructions, signal } = o
  const settings = resolveSettings(...layers, o)
  const summarize = summarizeOf(id, settings)
  if (instructions !== undefined && typeof instructions !== "string")
    throw invalidError(id, "instructions must be a string.")
  return { settings, summarize, reason, instructions, signal, checkOpen }
}

/** Whether a session is due for automatic compaction. */
async function isDue(
  live: CompactableSession,
  { settings, signal }: CompactionRun,
  selection: Selection,
): Promise<boolean> {
  if (messagesSinceLast(selection) < Math.max(1, settings.minMessages)) return false
  const inForce = settingsInForce(live, selection, settings)
  const { trigger, window } = inForce
  // Otherwise the session would be due again after every compaction.
  if (trigger.kind === "reserve" && trigger.tokens >= window) {
    const why = `reserveTokens (${trigger.tokens}) is not below the window (${window}); use a smaller reserve, or a larger contextWindow`
    throw failedError(live.id, why)
  }
  const sent = await sentContext(live, selection, inForce, { signal })
  const { ruler, due, messages } = sent
  const { compaction, state } = live
  const { unproved } = compaction
  const isOverLimit = (tokens: number): boolean => isOver({ trigger, limit: due }, tokens)
  if (unproved !== undefined && ruler.firstReport > 0) {
    compaction.unproved = undefined
    if (unproved.id === state.log.at(selection.compaction ?? -1)?.id && isOverLimit(ruler.firstReport)) {
      missed(live, unproved.failures, causeOf(ruler, due, []).text)
      if (compaction.failures >= settings.maxFailures) return false
    }
  }
  if (isHopeless(sinceAnswer(live, selection), messages, settings.countTokens)) return false
  if (isOverLimit(ruler.tokens)) return true
  return mayHaveManyBytes(sent) && isOverBytes(roomOf(live, selection, sent, inForce))
}

/** The number of messages on the path after the compaction that the context begins with. */
function messagesSinceLast({ entries, compaction = -1 }: Selection): number {
  return entries.filter(({ seq, entry }) => seq > compaction && entry.type === "message").length
}
