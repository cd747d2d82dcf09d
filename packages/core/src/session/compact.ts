/** Compacts a session: asks the caller's model for a summary and appends one entry. The log only grows. */
import { estimateMessages } from "../compaction/tokens.ts"
import { findCutPoint } from "../compaction/cut-point.ts"
import type { CutPoint } from "../compaction/cut-point.ts"
import { collectFiles, withFileLists, withoutFileLists } from "../compaction/files.ts"
import {
  missingHeadings,
  SUMMARY_SYSTEM_PROMPT,
  summaryPrompt,
  TURN_CONTEXT_TITLE,
  turnPrefixPrompt,
} from "../compaction/prompts.ts"
import { escapeTags, serializeConversation } from "../compaction/serialize.ts"
import type { CompactionResult, CompactOptions, Summarize } from "../compaction/types.ts"
import { toModelMessages } from "../context/model-messages.ts"
import { COMPACTION_ROLE, renderMessages } from "../context/render.ts"
import { selectContext } from "../context/select.ts"
import type { Selection } from "../context/select.ts"
import type { ContextMessage } from "../context/types.ts"
import { SessionError } from "../errors.ts"
import type { NewEntry } from "../format/new-entry.ts"
import type { Entry } from "../format/records.ts"
import type { Seq } from "../storage/contract.ts"
import { hasCode } from "../storage/errors.ts"
import { parentOf } from "../tree/path.ts"
import { restoreEntries } from "./blobs.ts"
import { runHook } from "./hooks.ts"
import { selectAt } from "./reading.ts"
import type { SharedSession } from "./shared-session.ts"

export const KEEP_RECENT_TOKENS = 20_000
/** 0.8 of the 16,384 tokens that are kept free for an answer; half of them for a turn's beginning. */
export const MAX_SUMMARY_TOKENS = 13_107
export const MAX_TURN_CONTEXT_TOKENS = 8_192

/** `compaction_failed` where the summarizer fails, where nothing can be cut, or where the session moved on meanwhile. */
export async function compactSession(shared: SharedSession, o: CompactOptions): Promise<CompactionResult> {
  if (shared.compacting) throw failed(shared, "another compaction of it is under way; wait for that one")
  shared.compacting = true
  try {
    return await compact(shared, o)
  } catch (error) {
    shared.events.emit("compact_failed", { error, failures: 0, breakerOpen: false })
    throw error
  } finally {
    shared.compacting = false
  }
}

async function compact(shared: SharedSession, o: CompactOptions): Promise<CompactionResult> {
  const { leafId } = shared.state
  const selection = await selectAt(shared, leafId, o)
  const work = await prepare(shared, selection, o)
  for (const { compact: hook } of shared.options.hooks)
    await hook?.before?.({ session: shared.id, prompt: work.prompt })
  shared.events.emit("compact_start", { reason: "manual" })
  const summary = withFileLists(await summarize(shared, work, o), work.files)
  checkNotMoved(shared, leafId, selection)
  const kept = work.messages.slice(work.cut.first).map(({ message }) => message)
  const tokensAfter = estimateMessages([{ role: COMPACTION_ROLE, summaryText: summary }, ...kept])
  if (tokensAfter >= work.tokensBefore)
    throw failed(
      shared,
      `its summary and kept part (${tokensAfter} tokens) would not be shorter than what there is (${work.tokensBefore})`,
    )
  const id = shared.options.newId()
  const entry = {
    type: "compaction",
    id,
    summary,
    firstKeptEntryId: work.firstKeptEntryId ?? id,
    tokensBefore: work.tokensBefore,
    tokensSummarized: estimateMessages(work.messages.slice(0, work.cut.first).map(({ message }) => message)),
    ...work.files,
  } as unknown as NewEntry
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

interface Work {
  /** Of the context, without the previous summary. */
  readonly messages: readonly ContextMessage[]
  readonly cut: CutPoint
  /** Undefined: nothing is kept. */
  readonly firstKeptEntryId: string | undefined
  readonly previousSummary: string | undefined
  readonly files: ReturnType<typeof collectFiles>
  readonly tokensBefore: number
  /** For the history; undefined where only a turn's beginning is new. */
  readonly historyPrompt: string | undefined
  readonly turnPrompt: string | undefined
  readonly prompt: string
}

async function prepare(shared: SharedSession, selection: Selection, o: CompactOptions): Promise<Work> {
  const signal = o.signal === undefined ? {} : { signal: o.signal }
  const places = new Map(selection.entries.map(({ seq, entry }) => [entry.id, seq]))
  const restored = await restoreEntries(
    shared.storage,
    selection.entries.map(({ entry }) => entry),
    signal,
  )
  const withBlobs = selection.entries.map((one, index) => ({ ...one, entry: restored.entries[index] as Entry }))
  const { messages: all } = renderMessages(withBlobs)
  const messages = all.filter(({ kind }) => kind !== "compaction")
  const cut = findCutPoint(
    messages.map(({ message }) => message),
    o.keepRecentTokens ?? KEEP_RECENT_TOKENS,
  )
  if (cut === undefined) throw failed(shared, "there is nothing to cut: all of it is within what is to be kept")
  const previous = selection.compaction === undefined ? undefined : (shared.state.log.at(selection.compaction) as Entry)
  const previousSummary = previous === undefined ? undefined : escapeTags(withoutFileLists(String(previous["summary"])))
  const history = messages.slice(0, cut.turnStart)
  const turn = messages.slice(cut.turnStart, cut.first)
  const instructions = o.instructions === undefined ? {} : { instructions: o.instructions }
  const historyPrompt =
    history.length === 0
      ? undefined
      : summaryPrompt({
          conversation: serializeConversation(history),
          ...(previousSummary === undefined ? {} : { previousSummary }),
          ...instructions,
        })
  const turnPrompt = turn.length === 0 ? undefined : turnPrefixPrompt(serializeConversation(turn), o.instructions)
  return {
    messages,
    cut,
    firstKeptEntryId: firstKept(shared, messages, places, cut.first),
    previousSummary: previous === undefined ? undefined : withoutFileLists(String(previous["summary"])),
    files: collectFiles(
      messages.slice(0, cut.first).map(({ message }) => message),
      previous,
    ),
    tokensBefore: estimateMessages(toModelMessages(all).messages.map(({ message }) => message)),
    historyPrompt,
    turnPrompt,
    prompt: historyPrompt ?? turnPrompt ?? "",
  }
}

/** The first kept message's entry, or what stands without a message just before it: changes of model or mode go with it. */
function firstKept(
  shared: SharedSession,
  messages: readonly ContextMessage[],
  places: ReadonlyMap<string, Seq>,
  first: number,
): string | undefined {
  const kept = messages[first]
  if (kept === undefined) return undefined
  const { log } = shared.state
  const stop = places.get(messages[first - 1]?.entryId ?? "")
  let seq = places.get(kept.entryId) as Seq
  for (let parent = parentOf(log, seq); parent >= 0 && parent !== stop; parent = parentOf(log, parent)) {
    const type = log.at(parent)?.type
    if (type === "compaction" || type === "reset_boundary" || type === "message") break
    seq = parent
  }
  return log.at(seq)?.id
}

async function summarize(shared: SharedSession, work: Work, o: CompactOptions): Promise<string> {
  const ask = async (prompt: string, maxTokens: number): Promise<string> => {
    const request = { system: SUMMARY_SYSTEM_PROMPT, prompt, maxTokens }
    return answer(shared, o.summarize, o.signal === undefined ? request : { ...request, signal: o.signal })
  }
  const history =
    work.historyPrompt === undefined ? work.previousSummary : await ask(work.historyPrompt, MAX_SUMMARY_TOKENS)
  if (work.turnPrompt === undefined) return history as string
  const turn = await ask(work.turnPrompt, MAX_TURN_CONTEXT_TOKENS)
  return history === undefined
    ? `${TURN_CONTEXT_TITLE}\n\n${turn}`
    : `${history}\n\n---\n\n${TURN_CONTEXT_TITLE}\n\n${turn}`
}

async function answer(shared: SharedSession, ask: Summarize, request: Parameters<Summarize>[0]): Promise<string> {
  let text: unknown
  try {
    text = await ask(request)
  } catch (cause) {
    throw failed(shared, `the summarizer failed: ${cause instanceof Error ? cause.message : String(cause)}`, cause)
  }
  if (typeof text !== "string" || text.trim() === "") throw failed(shared, "the summarizer gave no text")
  return text.trim()
}

/** What was appended meanwhile is part of what is kept; another branch, or another compaction, makes this one void. */
function checkNotMoved(shared: SharedSession, leafId: string | null, made: Selection): void {
  const { log, leafId: now } = shared.state
  const target = leafId === null ? undefined : log.find(leafId)
  let seq = now === null ? -1 : (log.find(now) as Seq)
  while (target !== undefined && seq > target) seq = parentOf(log, seq)
  if (target === undefined || seq !== target) throw moved(shared)
  const current = selectContext(log, log.find(now as string) as Seq, shared.state.header)
  if ("older" in current || current.compaction !== made.compaction) throw moved(shared)
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
