/** Assigns ids, parents, seqs and timestamps to new entries, to append them after the session's last entry. Changes nothing itself. */
import { messagesToInclude } from "../context/included-messages.ts"
import { selectContext, type Selection } from "../context/select.ts"
import { stateBlobs } from "../context/state-blobs.ts"
import { foldState } from "../context/state.ts"
import { SessionError } from "../format/errors.ts"
import { type EntryPayload, type NewEntry, normalizeNewEntry } from "../format/new-entry.ts"
import type { Entry } from "../format/entry.ts"
import { storesState } from "../format/entry-types.ts"
import type { Extensions } from "../format/names.ts"
import { type Fields, isObject } from "../format/shape.ts"
import type { EntryLog } from "../log/entry-log.ts"
import { writtenAtOf } from "../log/search-ids.ts"
import { leafAt, type NeedsOlder } from "../log/path.ts"
import { settlesOf } from "../log/settles.ts"
import { effectiveTime, isLastWriterWins, type WriteTime, writeTimeOf } from "../log/last-writer-wins.ts"
import { isLeaving, settledIds } from "../log/tips.ts"
import { isoTime } from "../storage/clock.ts"
import { isDeep } from "../storage/depth.ts"
import { type EncodedAppendEntry, encodeForAppend, type PrepareOptions } from "./encode.ts"
import { isConversation } from "./pending.ts"
import { tooDeepError } from "./limits.ts"
import { checkRepeated, type KnownEntries } from "./repeats.ts"
import type { SessionState } from "./session-state.ts"

/** The entry that the first entry of an append makes the leaf, if it is a `leaf` or a `branch_summary`. */
export interface BranchTarget {
  readonly id: string | null
  /** Ids of tips that the caller settles, in addition to those that it leaves. */
  readonly settles: readonly string[]
}

export interface Assigned {
  /** One for each given entry, in order. */
  readonly ids: readonly string[]
  /** The entries that the session does not have yet. */
  readonly fresh: readonly EncodedAppendEntry[]
}

interface PlacingOptions extends PrepareOptions {
  /** Names that entries may have beside those of the format. */
  readonly extensions: Extensions | undefined
  readonly newId: () => string
  readonly now: () => number
}

/**
 * The selection at the entry that the new ones follow, if one of these stores the state of its path; undefined if none does. `older`: the
 * path must be read before the entries can be appended.
 */
export function pathForState(state: SessionState, append: Inputs): Selection | NeedsOlder | undefined {
  if (!append.inputs.some(needsState)) return undefined
  const { log, header } = state
  const { id } = branchOf(state, append) ?? { id: state.leafId }
  const leaf = id === null ? null : log.find(id)
  return leaf === undefined ? { older: true } : selectContext(log, leaf, header)
}

/** The input is not checked yet, so it may be any value. */
function needsState(input: unknown): boolean {
  return isObject(input) && storesState(input["type"] as string) && input["state"] === undefined
}

interface Inputs {
  readonly inputs: readonly NewEntry[]
  readonly target: BranchTarget | undefined
  readonly known: KnownEntries
}

export interface Placed extends Inputs {
  /** The path that {@link pathForState} returned for them. */
  readonly path: Selection | undefined
}

/** Throws `invalid`, and `exists` if the session has another entry with the id of one of these. */
export function assign(session: string, state: SessionState, append: Placed, o: PlacingOptions): Assigned {
  const { inputs, path, known } = append
  if (inputs.length === 0) throw new SessionError("invalid", "There is no entry to append.", { session })
  const payloads = inputs.map((input) => normalizeNewEntry(input, o.extensions))
  const ids = payloads.map(({ id }) => id ?? o.newId())
  checkUnique(session, ids)
  const now = o.now()
  const timestamp = isoTime(now)
  const fresh: EncodedAppendEntry[] = []
  const branch = branchOf(state, append)
  const skipped = branch?.skipped ?? 0
  let leafId = state.leafId
  let end = payloads[skipped] === undefined || isConversation(payloads[skipped]) ? undefined : annotationParent(state)
  let seq = state.log.end
  let latest: WriteTime | undefined
  for (let index = 0; index < payloads.length; index++) {
    const payload = payloads[index] as EntryPayload
    const id = ids[index] as string
    const existing = repeatedBy(state, known, payload)
    if (existing !== undefined) {
      // A repeated request must not append an entry twice.
      checkRepeated(session, existing, payload, o)
      continue
    }
    // The branching entry.
    if (index < skipped) continue
    if (isConversation(payload)) end = undefined
    const target = index === 0 ? branch : undefined
    const targetId = target?.id
    if (typeof targetId === "string" && !known.has(targetId) && state.log.find(targetId) === undefined)
      throw missingTargetError(session, targetId)
    const place = {
      id,
      parentId: end ?? (target === undefined ? leafId : target.id),
      seq: seq++,
      timestamp: payload.timestamp ?? timestamp,
    }
    if (isLastWriterWins(payload.type)) {
      place.timestamp = effectiveTime(place.timestamp, id, latest ?? state.latestWriteTime)
      latest = writeTimeOf(place)
    }
    let complete = path !== undefined && needsState(payload) ? withState(payload, path, fresh, state.log) : payload
    const writtenAt = payload.timestamp === undefined ? undefined : writtenAtOf(place, now)
    if (writtenAt !== undefined) complete = Object.assign({ writtenAt }, complete)
    if (isLeaving(payload)) complete = withSettles(payload, target, state)
    const encoded = encodeForAppend(complete, place, end !== undefined, o)
    // The state of a path may come from another program, and be as deep as it likes.
    if (isDeep(payload)) throw tooDeepError(session, "entry")
    fresh.push(encoded)
    if (end === undefined) leafId = leafAt(encoded.pending)
    else end = id
  }
  return { ids, fresh }
}

interface Branch extends BranchTarget {
  /** How many of the inputs need not be appended, the branching entry included. */
  readonly skipped: number
}

/**
 * Where an append that branches begins: at its target or, if it repeats one that was written in part, behind the last of its entries that
 * the session has. Undefined for any other append. The inputs are not checked yet.
 */
function branchOf(state: SessionState, { inputs, target, known }: Inputs): Branch | undefined {
  const [first] = inputs as readonly unknown[]
  // A hook may have replaced the entry by one of another type.
  if (target === undefined || !isObject(first) || !isLeaving(first as unknown as EntryPayload)) return undefined
  let repeated = 0
  while (repeated + 1 < inputs.length && repeatedBy(state, known, inputs[repeated + 1]) !== undefined) repeated++
  if (repeated === 0) return { ...target, skipped: 0 }
  const id = (inputs[repeated] as NewEntry).id as string
  // The rest needs no second `leaf` if it follows the leaf.
  const needsLeaf = repeated + 1 < inputs.length && id !== state.leafId
  return { ...target, id, skipped: needsLeaf ? 0 : repeated + 1 }
}

/** The entry with the id that the caller gave, if the session has it already. */
function repeatedBy({ log }: SessionState, known: KnownEntries, input: unknown): Entry | undefined {
  const id = isObject(input) ? input["id"] : undefined
  if (typeof id !== "string") return undefined
  const seq = log.find(id)
  return known.get(id) ?? (seq === undefined ? undefined : log.at(seq))
}

function checkUnique(session: string, ids: readonly string[]): void {
  if (ids.length === 1 || new Set(ids).size === ids.length) return
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  throw new SessionError("invalid", `The id ${JSON.stringify(twice)} is given twice in one append.`, { session })
}

/**
 * The parent of annotations if the log's last entry is on another branch than this session's leaf: that last entry. Opening a log takes
 * the last line for the leaf, so an annotation on this session's branch would move it there.
 */
function annotationParent(state: SessionState): string | undefined {
  const { log, leafId } = state
  const last = log.entryBefore(log.end)
  return last === undefined || state.seqOf(leafId) === last ? undefined : log.at(last)?.id
}

/**
 * Adds the ids of the tips that the entry settles. An entry that does not branch follows the leaf, which it leaves for nothing else. Of the
 * entries before it in the same append only the leaf counts that these continue.
 */
function withSettles(payload: EntryPayload, target: BranchTarget | undefined, state: SessionState): EntryPayload {
  if (settledIds(payload) !== undefined) return payload
  const { log, leafId, info, reported } = state
  const { id, settles: named } = target ?? { id: leafId, settles: [] }
  const o = { leaf: state.seqOf(leafId), target: state.seqOf(id), reported: reported.values(), named }
  return { ...payload, settles: settlesOf(log, info?.tips, o) }
}

/** For a target that existed when `branch` was called, and was removed because its append failed. */
function missingTargetError(session: string, target: string): SessionError {
  const message = `There is no entry ${JSON.stringify(target)} in session ${session}: its append has failed.`
  return new SessionError("not_found", message, { session })
}

/**
 * Adds the state of the entry's path: the state at the leaf, changed by the earlier entries of the same append. A compaction also gets the
 * system messages that it includes, unless it names them itself.
 */
function withState(
  payload: EntryPayload,
  path: Selection,
  before: readonly EncodedAppendEntry[],
  log: EntryLog,
): EntryPayload {
  const entries = before.map(({ entry }) => entry)
  const state = foldState(entries, path.state)
  const { system, blobs: systemBlobs } = includedFor(payload, path, entries, log)
  const blobs = { ...stateBlobs(entries, path.stateBlobs), ...systemBlobs }
  const added = { state, ...(system.length === 0 ? {} : { system }) }
  return { ...payload, ...added, ...(Object.keys(blobs).length === 0 ? {} : { blobs }) } as EntryPayload
}

function includedFor(
  payload: EntryPayload,
  path: Selection,
  before: readonly Entry[],
  log: EntryLog,
): ReturnType<typeof messagesToInclude> {
  const { type, system, firstKeptEntryId } = payload as Fields
  if (type !== "compaction" || system !== undefined || typeof firstKeptEntryId !== "string")
    return { system: [], blobs: {} }
  return messagesToInclude(log, path.entries, before, firstKeptEntryId)
}
