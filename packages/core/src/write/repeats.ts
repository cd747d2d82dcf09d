/**
 * Repeated ids: an entry whose id the session has already is not written again if its content is the same, and is refused with `exists`
 * if it is not. `docs/contract.md`, "The append queue".
 */
import { blobRefs, restoreBlobs } from "../format/blobs.ts"
import { fromBase64 } from "../format/base64.ts"
import type { Entry } from "../format/entry.ts"
import { storesState } from "../format/entry-types.ts"
import { hintOf } from "../format/hints.ts"
import { isUlid, ulidTime } from "../format/ids.ts"
import { encodeEntry } from "../format/line.ts"
import { type EntryPayload, type NewEntry, normalizeNewEntry, placeEntry } from "../format/new-entry.ts"
import type { Extensions } from "../format/names.ts"
import { getAt } from "../format/pointer.ts"
import { isSameJson } from "../format/json.ts"
import { isObject } from "../format/shape.ts"
import { truncateOversize } from "../format/text.ts"
import type { EntryLog } from "../log/entry-log.ts"
import { readLines } from "../log/load.ts"
import { CLOCKS_DIFFER, IdSearch, timeOf } from "../log/search-ids.ts"
import { parseEntry } from "../log/parse-entry.ts"
import { isLeaving } from "../log/tips.ts"
import type { ReadWindow } from "../log/read-backwards.ts"
import type { CallOptions, Seq, SessionStorage } from "../storage/contract.ts"
import { sha256Hex } from "../storage/hash.ts"
import { retryUnavailable } from "../storage/retry.ts"
import type { PrepareOptions } from "./encode.ts"
import { idExistsError } from "./errors.ts"
import type { SessionState } from "./session-state.ts"
import type { AppendOptions } from "./types.ts"

export interface RepeatContext {
  readonly id: string
  readonly storage: SessionStorage
  readonly state: SessionState
  readonly options: PrepareOptions & {
    readonly extensions: Extensions | undefined
    readonly readWindow: ReadWindow
    readonly now: () => number
  }
}

/** Entries of the log by their ids, with the strings of the new entry in place of equal blobs. Null: that line is no entry. */
export type KnownEntries = ReadonlyMap<string, Entry | null>

export const NONE_KNOWN: KnownEntries = new Map()

/** Data to read before it is known whether an entry repeats one of the log. */
export type MissingRepeat =
  /** A loaded entry has blobs, whose hashes are to be compared. */
  | { readonly kind: "blobs"; readonly input: NewEntry; readonly entry: Entry }
  | { readonly kind: "line"; readonly input: NewEntry; readonly seq: Seq }
  | { readonly kind: "window"; readonly older: IdSearch }

/** Finds the entries that one session's callers repeat. Remembers how far back it has looked. */
export class Repeats {
  readonly #context: RepeatContext
  #older: { readonly log: EntryLog; readonly ids: IdSearch } | undefined

  constructor(context: RepeatContext) {
    this.#context = context
  }

  /** The first thing that is missing; undefined if the entries can be appended. These are not checked yet, so they may be any values. */
  missing(inputs: readonly NewEntry[], { repeats }: AppendOptions, known: KnownEntries): MissingRepeat | undefined {
    const { log } = this.#context.state
    for (const input of inputs) {
      const id: unknown = isObject(input) ? input["id"] : undefined
      if (typeof id !== "string" || known.has(id)) continue
      const loaded = log.find(id)
      if (loaded !== undefined) {
        const entry = log.at(loaded) as Entry
        if (entry.blobs !== undefined) return { kind: "blobs", input, entry }
      } else if (repeats !== "end" && !log.complete) {
        const older = this.#olderOf(log)
        const seq = older.find(id)
        if (seq !== undefined) return { kind: "line", input, seq }
        if (!this.#isSearched(input, log, older, repeats)) return { kind: "window", older }
      }
    }
    return undefined
  }

  /** Reads what is missing. `conflict` if the log was replaced or deleted. */
  async read(missing: MissingRepeat, known: KnownEntries, o: CallOptions): Promise<KnownEntries> {
    const { id: session, storage, state, options } = this.#context
    if (missing.kind === "window") {
      await missing.older.scan(storage, session, o)
      return known
    }
    const { input } = missing
    const entry = missing.kind === "blobs" ? missing.entry : await readEntry(storage, session, state, missing.seq, o)
    const content = (): Fields => contentOf(normalizeNewEntry(input, options.extensions), options)
    const whole = entry?.blobs === undefined ? entry : await withEqualBlobs(entry, content())
    return new Map(known).set(input.id as string, whole ?? null)
  }

  #olderOf(log: EntryLog): IdSearch {
    if (this.#older?.log !== log) {
      const { state, options } = this.#context
      const head = { ...state.head, bytes: state.bytes, updatedAt: 0 }
      this.#older = { log, ids: new IdSearch(head, log.from, options.readWindow) }
    }
    return this.#older.ids
  }

  /** Whether no line before the scanned ones can have the entry's id. */
  #isSearched(input: NewEntry, log: EntryLog, older: IdSearch, repeats: AppendOptions["repeats"]): boolean {
    if (older.from === 0) return true
    const id = input.id as string
    // The id has that of its target in it, so it is behind the target, whatever the clocks say.
    if (input.type === "tool_start") {
      const { targetId } = input
      return log.find(targetId) !== undefined || older.find(targetId) !== undefined
    }
    // An id without a time may be in any line.
    if (repeats === "log" || !isUlid(id)) return false
    const newest = log.at(log.entryBefore(log.end) ?? log.from)
    // Not after the newest entry: if no time is known, the whole log is searched.
    const times = [ulidTime(id), newest === undefined ? Number.NaN : timeOf(newest), this.#context.options.now()]
    return (older.oldest ?? oldestLoaded(log)) < Math.min(...times) - CLOCKS_DIFFER
  }
}

/** Throws `exists` if an entry of the log with the same id has other content. */
export function checkRepeated(session: string, existing: Entry, payload: EntryPayload, o: PrepareOptions): void {
  if (!isSameContent(existing, contentOf(payload, o))) throw idExistsError(session, existing.id)
}

/** Whether two entries are the same but for what the session gives an entry of this type. */
export function isSameContent(one: Fields, other: Fields): boolean {
  const given = givenTo(one)
  return isSameJson({ ...one, ...given }, { ...other, ...given })
}

/** The fields that a session gives an entry, without values. Entries of other types may have such fields of their own. */
function givenTo(entry: Fields): Fields {
  const type = entry["type"] as string
  const hint = hintOf(entry)
  return {
    parentId: null,
    seq: null,
    timestamp: null,
    writtenAt: null,
    blobs: null,
    ...(hint === undefined ? {} : { [hint.field]: null }),
    ...(storesState(type) ? { state: null } : {}),
    ...(type === "compaction" ? { system: null } : {}),
    ...(isLeaving(entry as Entry) ? { settles: null } : {}),
  }
}

type Fields = Readonly<Record<string, unknown>>

/** The content as a line of memory would have it. */
function contentOf(payload: EntryPayload, { blobs, oversize }: PrepareOptions): Fields {
  const whole = oversize === "truncate" ? truncateOversize(payload, { textUnits: blobs.textUnits }) : payload
  const place = { id: payload.id as string, parentId: null, seq: 0, timestamp: "" }
  return JSON.parse(encodeEntry(placeEntry(whole, place))) as Fields
}

/** The entry with those blobs in place that are equal to the strings of the content. */
async function withEqualBlobs(entry: Entry, content: Fields): Promise<Entry> {
  const found = new Map<string, Uint8Array>()
  for (const { pointer, encoding, hash } of blobRefs(entry)) {
    const value = getAt(content, pointer)
    if (typeof value !== "string") continue
    const bytes = encoding === "base64" ? fromBase64(value) : new TextEncoder().encode(value)
    if (bytes !== undefined && (await sha256Hex(bytes)) === hash) found.set(hash, bytes)
  }
  return restoreBlobs(entry, (hash) => found.get(hash)).entry
}

async function readEntry(
  storage: SessionStorage,
  session: string,
  { head }: SessionState,
  seq: Seq,
  o: CallOptions,
): Promise<Entry | undefined> {
  const { log } = head
  const [line] = await retryUnavailable(() => readLines(storage, session, { from: seq, to: seq + 1, log }, o))
  return line === undefined ? undefined : parseEntry(line, seq)
}

function oldestLoaded(log: EntryLog): number {
  for (let seq = log.from; seq < log.end; seq++) {
    const entry = log.at(seq)
    if (entry !== undefined) return timeOf(entry)
  }
  return Number.NaN
}
