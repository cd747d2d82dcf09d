/** Compacts a session: asks the caller's model for a summary and appends one entry. The log only grows. */
import { prepareCompaction, tokensWithSummary } from "../../compaction/prepare.ts"
import type { PreparedCompaction } from "../../compaction/prepare.ts"
import { missingHeadings, SUMMARY_SYSTEM_PROMPT } from "../../compaction/prompts.ts"
import { askForSummaries, compactionPrompts, storedSummary } from "../../compaction/requests.ts"
import type { SummaryPart, SummaryParts } from "../../compaction/requests.ts"
import type { CompactionResult, CompactOptions, Summarize } from "../../compaction/types.ts"
import { selectContext } from "../../context/select.ts"
import type { SelectedEntry, Selection } from "../../context/select.ts"
import { SessionError } from "../../errors.ts"
import type { NewEntry } from "../../format/new-entry.ts"
import type { Seq } from "../../storage/contract.ts"
import { hasCode, StorageError } from "../../storage/errors.ts"
import { parentOf } from "../../tree/path.ts"
import { unlessAborted } from "../aborting.ts"
import { runHook } from "../hooks.ts"
import { restoreSelected, selectAt } from "../reading.ts"
import type { SharedSession } from "../shared-session.ts"

export const KEEP_RECENT_TOKENS = 20_000
/** 0.8 of the 16,384 tokens that are kept free for an answer; half of them for a turn's beginning. */
export const MAX_SUMMARY_TOKENS = 13_107
export const MAX_TURN_CONTEXT_TOKENS = 8_192

/**
 * `compaction_failed` where the summarizer fails, where nothing can be cut, or where the session moved on meanwhile; `aborted`,
 * `closed`. Only a compaction that was written changes anything. `checkOpen` throws where the caller's handle was closed.
 */
export async function compactSession(
  shared: SharedSession,
  o: CompactOptions,
  checkOpen: () => unknown,
): Promise<CompactionResult> {
  const { keepRecentTokens = KEEP_RECENT_TOKENS } = o
  if (typeof keepRecentTokens !== "number" || !(keepRecentTokens >= 0)) {
    const message = `keepRecentTokens must be a number from 0, not ${String(keepRecentTokens)}.`
    throw new SessionError("invalid", message, { session: shared.id })
  }
  if (shared.compacting) throw failed(shared, "another compaction of it is under way; wait for that one")
  shared.compacting = true
  try {
    return await compact(shared, { ...o, keepRecentTokens }, checkOpen)
  } catch (error) {
    shared.events.emit("compact_failed", { error, failures: 0, breakerOpen: false })
    throw error
  } finally {
    shared.compacting = false
  }
}

type Settings = CompactOptions & { readonly keepRecentTokens: number }

async function compact(shared: SharedSession, o: Settings, checkOpen: () => unknown): Promise<CompactionResult> {
  const { leafId } = shared.state
  const selection = await selectAt(shared, leafId, o)
  const { entries } = await restoreSelected(shared, selection.entries, o)
  const work = prepareCompaction(shared.state.log, entries, { keep: { kind: "tokens", count: o.keepRecentTokens } })
  if (work.cut === undefined) throw failed(shared, "there is nothing to cut: all of it is within what is to be kept")
  const prompts = compactionPrompts(work, o.instructions)
  for (const { compact: hook } of shared.options.hooks)
    await hook?.before?.({ session: shared.id, prompt: prompts.history ?? prompts.turnPrefix ?? "" })
  shared.events.emit("compact_start", { reason: "manual" })
  const summary = storedSummary(await summarize(shared, work, o), work)
  // What waits for its hooks will stand before the compaction, so it must be seen.
  await shared.drain()
  checkOpen()
  checkNotMoved(shared, leafId, selection)
  const { kept } = work
  const tokensAfter = tokensWithSummary(summary, kept)
  if (tokensAfter >= work.tokensBefore)
    throw failed(
      shared,
      `its summary and kept part (${tokensAfter} tokens) would not be shorter than what there is (${work.tokensBefore})`,
    )
  const id = shared.options.newId()
  const entry: NewEntry = {
    type: "compaction",
    id,
    summary,
    firstKeptEntryId: work.firstKeptEntryId ?? firstAfter(shared, leafId) ?? id,
    tokensBefore: work.tokensBefore,
    tokensSummarized: work.tokensSummarized,
    ...work.files,
  }
  try {
    await shared.append([entry], { onConflict: "fail", ...(o.signal === undefined ? {} : { signal: o.signal }) })
  } catch (error) {
    throw hasCode(error, "conflict") ? moved(shared, error) : error
  }
  const counts = {
    messagesSummarized: work.cut.first,
    messagesKept: kept.length,
    missingHeadings: missingHeadings(summary),
  }
  const tokens = { tokensBefore: work.tokensBefore, tokensAfter, tokensFreed: work.tokensBefore - tokensAfter }
  shared.events.emit("compact_complete", { entryId: id, ...tokens, ...counts })
  for (const { compact: hook } of shared.options.hooks) {
    runHook("compact.after", () => hook?.after?.({ session: shared.id, entryId: id }), shared.hookFailed)
  }
  return { entryId: id, summary, tokensBefore: work.tokensBefore, tokensAfter }
}

/** Where nothing was to be kept, what was appended meanwhile is. */
function firstAfter({ state }: SharedSession, leafId: string | null): string | undefined {
  const { log, leafId: now } = state
  const made = leafId === null ? undefined : log.find(leafId)
  let first: string | undefined
  for (let seq = now === null ? -1 : (log.find(now) as Seq); seq >= 0 && seq !== made; seq = parentOf(log, seq))
    first = log.at(seq)?.id
  return first
}

async function summarize(shared: SharedSession, work: PreparedCompaction, o: CompactOptions): Promise<SummaryParts> {
  const ask = (part: SummaryPart, prompt: string): Promise<string> => {
    const maxTokens = part === "history" ? MAX_SUMMARY_TOKENS : MAX_TURN_CONTEXT_TOKENS
    const request = { system: SUMMARY_SYSTEM_PROMPT, prompt, maxTokens }
    return answer(shared, o.summarize, o.signal === undefined ? request : { ...request, signal: o.signal })
  }
  return askForSummaries(work, ask, o.instructions === undefined ? {} : { instructions: o.instructions })
}

async function answer(shared: SharedSession, ask: Summarize, request: Parameters<Summarize>[0]): Promise<string> {
  const { signal } = request
  const message = `The compaction of ${shared.id} was aborted. Nothing was written.`
  let text: unknown
  try {
    // A summarizer may not look at its signal.
    text = await unlessAborted(asking(ask, request), signal, { session: shared.id, message })
  } catch (cause) {
    if (signal?.aborted === true)
      throw new StorageError("aborted", message, { session: shared.id, cause: signal.reason })
    throw failed(shared, `the summarizer failed: ${cause instanceof Error ? cause.message : String(cause)}`, cause)
  }
  if (typeof text !== "string" || text.trim() === "") throw failed(shared, "the summarizer gave no text")
  return text.trim()
}

/** What the caller's function gives, also where it throws before it has a promise. */
async function asking(ask: Summarize, request: Parameters<Summarize>[0]): Promise<unknown> {
  return ask(request)
}

/**
 * What was appended meanwhile is part of what is kept. Another branch or another compaction makes this one void, and so does
 * whatever took something out of what was summarized: its summary must not bring it back.
 */
function checkNotMoved(shared: SharedSession, leafId: string | null, made: Selection): void {
  const { log, leafId: now } = shared.state
  const target = leafId === null ? undefined : log.find(leafId)
  let seq = now === null ? -1 : (log.find(now) as Seq)
  while (target !== undefined && seq > target) seq = parentOf(log, seq)
  if (target === undefined || seq !== target) throw moved(shared)
  const current = selectContext(log, log.find(now as string) as Seq, shared.state.header)
  if ("older" in current || current.compaction !== made.compaction) throw moved(shared)
  const still = new Map(current.entries.map(({ seq: place, edit }) => [place, edit?.id]))
  const same = ({ seq: place, edit }: SelectedEntry): boolean => still.has(place) && still.get(place) === edit?.id
  if (!made.entries.every(same)) throw moved(shared)
}

function failed(shared: SharedSession, why: string, cause?: unknown): SessionError {
  return new SessionError(
    "compaction_failed",
    `The session ${shared.id} was not compacted: ${why}. Nothing was written.`,
    { session: shared.id, cause },
  )
}

function moved(shared: SharedSession, cause?: unknown): SessionError {
  return failed(shared, "moved: the session went on elsewhere while its summary was made", cause)
}
