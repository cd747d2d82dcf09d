/**
 * Starts compactions and handles their failures: `compact()` rejects, automatic compaction reports an event and a diagnostic. A session
 * runs one compaction at a time.
 */
import { resolveSettings } from "../settings/settings.ts"
import type { AutoCompactOptions, CompactionResult, CompactOptions } from "../types.ts"
import { SessionError } from "../../format/errors.ts"
import type { CompactableSession, CompactionCaller } from "../../session/live.ts"
import { compactOnce, type CompactionRun } from "./compact.ts"
import { whileOpen } from "./closing.ts"
import { isDue } from "./due.ts"
import { failed, kindOf, keepRuleOf } from "./failure.ts"

/**
 * Rejects with `compaction_failed` if the summarizer fails, nothing can be cut, or the session moved meanwhile; `invalid`, `aborted`,
 * `closed`, and the errors of the storage.
 */
export async function compactByHand(
  live: CompactableSession,
  by: CompactionCaller,
  o: CompactOptions,
): Promise<CompactionResult> {
  const { reason = "manual" } = o
  if (reason !== "manual" && reason !== "overflow")
    throw invalid(live, `reason must be "manual" or "overflow", not ${String(reason)}.`)
  const run = toRun(live, by, o, reason)
  if (live.compaction.running) throw failed(live.id, "another compaction is running; wait for it to end")
  return attempt(live, run, (signal) => compactOnce(live, { ...run, signal }))
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
  const run = toRun(live, by, o, "threshold")
  const { running, failures } = live.compaction
  if (!run.settings.enabled || running || failures >= run.settings.maxFailures) return undefined
  try {
    return await attempt(live, run, async (signal) =>
      (await isDue(live, { ...run, signal })) ? compactOnce(live, { ...run, signal }) : undefined,
    )
  } catch (error) {
    const kind = kindOf(error)
    if (kind === "stopped") throw error
    const message = error instanceof Error ? error.message : String(error)
    const rule = keepRuleOf(error)
    const isNews = rule === undefined || rule !== live.compaction.stuck
    live.compaction.stuck = rule
    if (kind !== "moved" && isNews) live.report({ code: "compaction_failed", message })
    return undefined
  }
}

async function attempt<T extends CompactionResult | undefined>(
  live: CompactableSession,
  { settings, signal, checkOpen, reason }: CompactionRun,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { compaction } = live
  compaction.running = true
  try {
    const result = await whileOpen(live, checkOpen, signal === undefined ? {} : { signal }, act)
    if (result !== undefined) {
      compaction.failures = 0
      compaction.stuck = undefined
      live.clear("compaction_failed")
    }
    return result
  } catch (error) {
    const kind = kindOf(error)
    if (kind === "failed") compaction.failures++
    const { failures, stuck } = compaction
    // Automatic compaction would otherwise report the same rule at every turn.
    const isNews = reason !== "threshold" || stuck === undefined || keepRuleOf(error) !== stuck
    const breakerOpen = failures >= settings.maxFailures
    if (isNews) live.events.emit("compact_failed", { error, kind, failures, breakerOpen })
    throw error
  } finally {
    compaction.running = false
  }
}

function toRun(
  live: CompactableSession,
  { layers, checkOpen }: CompactionCaller,
  o: AutoCompactOptions,
  reason: CompactionRun["reason"],
): CompactionRun {
  const settings = resolveSettings(...layers, o)
  const { summarize } = settings
  const { instructions, signal } = o
  if (summarize === undefined)
    throw invalid(live, "There is no `summarize` function: pass one in the call, or in the settings of the sessions.")
  if (instructions !== undefined && typeof instructions !== "string")
    throw invalid(live, "instructions must be a string.")
  return { settings, summarize, reason, instructions, signal, checkOpen }
}

function invalid({ id }: CompactableSession, message: string): SessionError {
  return new SessionError("invalid", message, { session: id })
}
