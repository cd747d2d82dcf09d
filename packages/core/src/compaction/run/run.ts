/**
 * Starts compactions and handles their failures: `compact()` rejects, automatic compaction reports an event and a diagnostic. A session
 * runs one compaction at a time.
 */
import type { Selection } from "../../context/select.ts"
import type { CompactableSession, CompactionCaller } from "../../session/live.ts"
import { selectAt } from "../../session/read-path.ts"
import { isOver } from "../plan/trigger.ts"
import { resolveSettings } from "../settings/settings.ts"
import type { AutoCompactOptions, CompactionResult, CompactOptions } from "../types.ts"
import { whileOpen } from "./closing.ts"
import { checkAnew, compactAnew } from "./anew.ts"
import { compactOnce, type CompactionRun, settingsInForce } from "./compact.ts"
import { failed, invalid, kindOf, keepRuleOf } from "./failure.ts"
import { checkCompact } from "./options.ts"
import { sentContext } from "./sent-context.ts"
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
    throw invalid(live.id, `reason must be "manual" or "overflow", not ${String(reason)}.`)
  const request = toRequest(live, by, o, reason)
  if (live.compaction.running) throw failed(live.id, "another compaction is running; wait for it to end")
  if (o.anew !== undefined && typeof o.anew !== "boolean") throw invalid(live.id, "anew must be true or false.")
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
  const { running, failures } = live.compaction
  const { enabled, maxFailures } = request.settings
  if (!enabled || running || failures >= maxFailures) return undefined
  try {
    return await attempt(live, request, async (run) => ((await isDue(live, run)) ? compactOnce(live, run) : undefined))
  } catch (error) {
    const kind = kindOf(error)
    if (kind === "stopped") throw error
    const reports = kind !== "moved" && isNews(live, error)
    live.compaction.stuck = keepRuleOf(error)
    if (reports)
      live.report({ code: "compaction_failed", message: error instanceof Error ? error.message : String(error) })
    return undefined
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
    if (result !== undefined) {
      compaction.failures = 0
      compaction.stuck = undefined
      live.clear("compaction_failed")
    }
    return result
  } catch (error) {
    const kind = kindOf(error)
    if (kind === "failed") compaction.failures++
    const { failures } = compaction
    const breakerOpen = failures >= settings.maxFailures
    if (reason !== "threshold" || isNews(live, error))
      live.events.emit("compact_failed", { error, kind, failures, breakerOpen })
    throw error
  } finally {
    compaction.running = false
  }
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
    throw invalid(id, "instructions must be a string.")
  return { settings, summarize, reason, instructions, signal, checkOpen }
}

/** Whether a session is due for automatic compaction. */
async function isDue(live: CompactableSession, { settings, signal }: CompactionRun): Promise<boolean> {
  const selection = await selectAt(live, live.state.leafId, { signal })
  if (messagesSinceLast(selection) < Math.max(1, settings.minMessages)) return false
  const inForce = settingsInForce(live, selection, settings)
  const { trigger, window } = inForce
  // Otherwise the session would be due again after every compaction.
  if (trigger.kind === "reserve" && trigger.tokens >= window) {
    const why = `reserveTokens (${trigger.tokens}) is not below the window (${window}); use a smaller reserve, or a larger contextWindow`
    throw failed(live.id, why)
  }
  const { ruler, due } = await sentContext(live, selection, inForce, { signal })
  return isOver({ ...inForce, limit: due }, ruler.tokens)
}

/** The number of messages on the path after the compaction that the context begins with. */
function messagesSinceLast({ entries, compaction = -1 }: Selection): number {
  return entries.filter(({ seq, entry }) => seq > compaction && entry.type === "message").length
}
