/**
 * Who may compact, and what becomes of a failure: by hand it rejects, by itself it is told and nothing more. One compaction at a time
 * for a session, whoever asks for it.
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
 * `compaction_failed` where the summarizer fails, where nothing can be cut, or where the session moved on meanwhile; `invalid`,
 * `aborted`, `closed`, and what the storage says.
 */
export async function compactByHand(
  shared: CompactableSession,
  by: CompactionCaller,
  o: CompactOptions,
): Promise<CompactionResult> {
  const { reason = "manual" } = o
  if (reason !== "manual" && reason !== "overflow")
    throw invalid(shared, `reason must be "manual" or "overflow", not ${String(reason)}.`)
  const run = toRun(shared, by, o, reason)
  if (shared.compaction.running) throw failed(shared.id, "another compaction of it is under way; wait for that one")
  return attempt(shared, run, (signal) => compactOnce(shared, { ...run, signal }))
}

/** Undefined where it was not time, or where it failed: that is an event and a diagnostic. `invalid`, `aborted`, `closed`. */
export async function compactIfDue(
  shared: CompactableSession,
  by: CompactionCaller,
  o: AutoCompactOptions,
): Promise<CompactionResult | undefined> {
  const run = toRun(shared, by, o, "threshold")
  const { running, failures } = shared.compaction
  if (!run.settings.enabled || running || failures >= run.settings.maxFailures) return undefined
  try {
    return await attempt(shared, run, async (signal) =>
      (await isDue(shared, { ...run, signal })) ? compactOnce(shared, { ...run, signal }) : undefined,
    )
  } catch (error) {
    const kind = kindOf(error)
    if (kind === "stopped") throw error
    const message = error instanceof Error ? error.message : String(error)
    const rule = keepRuleOf(error)
    const isNews = rule === undefined || rule !== shared.compaction.stuck
    shared.compaction.stuck = rule
    if (kind !== "moved" && isNews) shared.report({ code: "compaction_failed", message })
    return undefined
  }
}

async function attempt<T extends CompactionResult | undefined>(
  shared: CompactableSession,
  { settings, signal, checkOpen, reason }: CompactionRun,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const { compaction } = shared
  compaction.running = true
  try {
    const result = await whileOpen(shared, checkOpen, signal === undefined ? {} : { signal }, act)
    if (result !== undefined) {
      compaction.failures = 0
      compaction.stuck = undefined
      shared.clear("compaction_failed")
    }
    return result
  } catch (error) {
    const kind = kindOf(error)
    if (kind === "failed") compaction.failures++
    const { failures, stuck } = compaction
    // By itself it would be told of the same rule at every turn.
    const isNews = reason !== "threshold" || stuck === undefined || keepRuleOf(error) !== stuck
    const breakerOpen = failures >= settings.maxFailures
    if (isNews) shared.events.emit("compact_failed", { error, kind, failures, breakerOpen })
    throw error
  } finally {
    compaction.running = false
  }
}

function toRun(
  shared: CompactableSession,
  { layers, checkOpen }: CompactionCaller,
  o: AutoCompactOptions,
  reason: CompactionRun["reason"],
): CompactionRun {
  const settings = resolveSettings(...layers, o)
  const { summarize } = settings
  const { instructions, signal } = o
  if (summarize === undefined)
    throw invalid(shared, "There is no `summarize` to ask: give one in the call, or in the settings of the sessions.")
  if (instructions !== undefined && typeof instructions !== "string")
    throw invalid(shared, "instructions must be a text.")
  return { settings, summarize, reason, instructions, signal, checkOpen }
}

function invalid({ id }: CompactableSession, message: string): SessionError {
  return new SessionError("invalid", message, { session: id })
}
