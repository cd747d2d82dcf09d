/**
 * Merges a session with its log in another storage: both get the entries that they lack. `read.ts` reads and compares the logs,
 * `plan.ts` decides what is written, `write.ts` writes it. Everything is checked before the first write.
 */
import type { BlobLimits } from "../../format/blobs.ts"
import type { Diagnostic, Report } from "../../format/diagnostics.ts"
import type { Entry } from "../../format/entry.ts"
import { hasCode, SessionError } from "../../format/errors.ts"
import { currentInfo } from "../../info/refresh.ts"
import { incompleteLog, notFoundError } from "../../log/load.ts"
import { openTips } from "../../log/projected-tips.ts"
import { settledLines } from "../../log/tips.ts"
import { tipsOfLog } from "../../log/tips-of-log.ts"
import type { MergeResult } from "../types.ts"
import { backoff } from "../../storage/clock.ts"
import type { CallOptions, HeadInfo, SessionStorage } from "../../storage/contract.ts"
import { StorageError } from "../../storage/errors.ts"
import { signalOf } from "../../storage/signals.ts"
import { copyStored } from "../copy/copy.ts"
import { readHeader } from "../headers.ts"
import { type MergePlan, planMerge } from "./plan.ts"
import { type MergeSide, readSides, type StoredLog } from "./read.ts"
import { type MergeWriteOptions, prepare, write } from "./write.ts"
import { isUnchanged, type Merged, mergedBefore, storeMerged } from "./merged-doc.ts"
import { migrateStored } from "../migrate/migrate.ts"

export interface MergeContext extends MergeWriteOptions {
  readonly blobs: BlobLimits
  readonly newId: () => string
}

/** How often a merge begins anew because another writer has appended. */
const TRIES = 10

/**
 * Errors: `not_found` if the session is missing here, or was merged with the other storage before and is missing there; `exists` if the
 * other storage has another session under the id; `corrupt` if an id is twice in one log or a parent is missing; `too_large`; `read_only`
 * for a log of an older version that cannot be migrated; `conflict` if other writers keep appending. All but the last are known before
 * anything is written. After an interruption each log has some of the missing entries, each with its parent; the same call completes them.
 */
export async function mergeStored(
  here: SessionStorage,
  id: string,
  there: SessionStorage,
  o: MergeContext,
): Promise<MergeResult> {
  const signal = signalOf(o)
  const before = await mergedBefore(here, id, there, signal)
  const unchanged = before === undefined ? undefined : await resultOfUnchanged(here, id, there, before, signal)
  if (unchanged !== undefined) return unchanged
  let own = await storedLog(here, id, o)
  let theirs = await storedLog(there, id, o).catch((error: unknown) => {
    if (hasCode(error, "not_found")) return undefined
    throw error
  })
  if (theirs === undefined && before !== undefined) throw deletedThereError(id, there)
  let sent = 0
  let received = 0
  /** By their messages: an attempt that begins anew may find them again. */
  const found = new Map<string, Diagnostic>()
  const report = (diagnostic: Diagnostic): void => void found.set(diagnostic.message, diagnostic)
  if (theirs === undefined || isIncomplete(theirs)) {
    sent = await copy(here, id, there, theirs?.head, report, o)
    theirs = await storedLog(there, id, o)
  } else if (isIncomplete(own)) {
    received = await copy(there, id, here, own.head, report, o)
    own = await storedLog(here, id, o)
  }
  for (let attempt = 1; ; attempt++) {
    const { one, other, differing } = await readSides(id, own, theirs, signal)
    for (const entryId of differing) if (isStart(one, entryId)) report(startedTwice(entryId))
    const plan = planMerge(one.log, other.log)
    if ("from" in plan) throw missingParentError(id, plan.from === "here" ? one : other, plan.entry)
    const leaf = plan.leafAt === undefined ? undefined : leafEntry(plan, o.newId())
    const toThere = await prepare(id, one, other, { missing: plan.toThere, leaf, report }, o)
    const toHere = await prepare(id, other, one, { missing: plan.toHere, leaf, report }, o)
    const atThere = await write(id, other, toThere, report, o)
    sent += atThere.entries
    const atHere = atThere.head === undefined ? undefined : await write(id, one, toHere, report, o)
    received += atHere?.entries ?? 0
    if (atThere.head !== undefined && atHere?.head !== undefined) {
      const merged = { here: atHere.head, there: atThere.head, leaf: plan.leaf, differing }
      await storeMerged(here, id, there, merged, signal)
      const open = openTips(tipsOfLog(one.log, settledLines(one.header)))
      return { sent, received, leaf: plan.leaf, openTips: open, differing, diagnostics: [...found.values()] }
    }
    if (attempt === TRIES) throw keepsChangingError(id, atThere.head === undefined ? there : here)
    await backoff(attempt)
    own = await storedLog(here, id, o)
    theirs = await storedLog(there, id, o)
  }
}

/** If both logs are as the last merge left them, nothing is read but their heads and the session information. */
async function resultOfUnchanged(
  here: SessionStorage,
  id: string,
  there: SessionStorage,
  before: Partial<Merged>,
  o: CallOptions,
): Promise<MergeResult | undefined> {
  const head = await here.head(id, o)
  const other = await there.head(id, o)
  if (head === undefined || other === undefined || !isUnchanged(before, head, other)) return undefined
  const { tips } = await currentInfo(here, id, head, { ...o, tips: true })
  if (tips === undefined) return undefined
  const { leaf, differing } = before
  return { sent: 0, received: 0, leaf, openTips: openTips(tips), differing, diagnostics: [] }
}

function isStart({ log }: MergeSide, id: string): boolean {
  const seq = log.find(id)
  return seq !== undefined && log.at(seq)?.type === "tool_start"
}

function startedTwice(entryId: string): Diagnostic {
  const message = `The tool call of ${entryId} was started in both storages before they were merged: it may have run twice.`
  return { code: "started_twice", entryId, message }
}

function isIncomplete({ head, header }: StoredLog): boolean {
  return incompleteLog(head, header).length > 0
}

/**
 * Copies a session, or completes a copy that was interrupted, also with its lines that are no entries. Returns how many lines were written.
 * `head`: of what is there already.
 */
async function copy(
  from: SessionStorage,
  id: string,
  to: SessionStorage,
  head: HeadInfo | undefined,
  report: Report,
  o: MergeContext,
): Promise<number> {
  try {
    const { lines, diagnostics } = await copyStored(from, id, to, { ...signalOf(o), now: o.now })
    for (const diagnostic of diagnostics) report(diagnostic)
    return Math.max(0, lines - Math.max(1, head?.next ?? 1))
  } catch (error) {
    // Another writer created or continued it meanwhile: the merge completes it.
    const isMeanwhile = hasCode(error, "exists") || hasCode(error, "conflict")
    if (isMeanwhile && (await to.head(id, signalOf(o))) !== undefined) return 0
    throw error
  }
}

/** The log of this version, after a migration if it is an older one. */
async function storedLog(storage: SessionStorage, id: string, o: MergeContext): Promise<StoredLog> {
  const { head, header } = await readHeader(storage, id, signalOf(o))
  if (header !== undefined) return { storage, head, header }
  await migrateStored(storage, id, { ...signalOf(o), blobs: o.blobs, now: o.now })
  const migrated = await readHeader(storage, id, signalOf(o))
  if (migrated.header === undefined) throw notFoundError(storage, id)
  return { storage, head: migrated.head, header: migrated.header }
}

/** The timestamp of the agreed leaf, so that this entry is not newer than what it follows. It settles nothing. */
function leafEntry({ leaf, leafAt }: MergePlan, id: string): Entry {
  return { type: "leaf", id, parentId: leaf, seq: 0, timestamp: leafAt as string, settles: [] }
}

function missingParentError(id: string, { storage }: MergeSide, { id: entryId, seq, parentId }: Entry): StorageError {
  const message = `The entry ${entryId} (line ${seq}) of ${id} in ${storage.description} names the parent ${String(parentId)}, which would not be before it in the other log. Nothing was written.`
  return new StorageError("corrupt", message, { session: id, storage: storage.description })
}

function deletedThereError(id: string, { description }: SessionStorage): SessionError {
  const message = `The session ${id} was merged with ${description} before, and was deleted there since. Delete it here too, or copy it there again.`
  return new SessionError("not_found", message, { session: id, storage: description })
}

function keepsChangingError(id: string, { description }: SessionStorage): SessionError {
  const message = `Other writers appended to ${id} in ${description} during each of ${TRIES} attempts to merge it. What was written is whole; repeat the call.`
  return new SessionError("conflict", message, { session: id, storage: description })
}
