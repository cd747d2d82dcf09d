/**
 * Trims a thread: replaces its log by one with the newest checkpoints of each namespace. Checkpoints that changed one that is dropped get all
 * of their channels. The replacement is atomic, so a crash leaves the old log or the new one.
 */
import type { CheckpointMetadata, SerializerProtocol } from "@langchain/langgraph-checkpoint"
import { type Entry, hasCode, SessionError } from "@sessions/core"
import {
  applyBlobs,
  type BlobRef,
  createIds,
  encodeEntry,
  type LogRecord,
  parseLine,
  planBlobs,
} from "@sessions/core/format"
import { type Chunk, MAX_CHUNK_BYTES, type Seq, type SessionStorage, utf8Length } from "@sessions/core/storage"
import { LogLines } from "./log-lines.ts"
import { type CheckpointRecord, type Claim, type Found, greater, recordOf, type Stored } from "./records.ts"
import { readValues, type StateCache } from "./state.ts"
import { load, sizeOf } from "./values.ts"

/** A thread is trimmed when it has twice the checkpoints that the last trimming kept, and at least this many more. */
const LEAST_DROPPED = 50

export function isTrimDue([kept, since]: CheckpointRecord["count"], keep: number): boolean {
  return kept + since >= Math.max(2 * kept, keep) + LEAST_DROPPED
}

/** Facts about a checkpoint before it is decided which ones stay. */
interface Candidate {
  readonly seq: Seq
  readonly ns: string
  readonly id: string
  readonly parent: string | undefined
  /** The channels whose values are the writes of its ancestors (LangGraph's `DeltaChannel`), from a value that one of these has. */
  readonly deltas: readonly string[]
}

/**
 * Keeps the newest `keep` checkpoints of each namespace, with their writes, and the ancestors from which `DeltaChannel`s are computed. Writes
 * whose checkpoint is not put yet stay. Resolves with false, and changes nothing, if another writer appends meanwhile.
 */
export async function trim(
  storage: SessionStorage,
  serde: SerializerProtocol,
  session: string,
  keep: number,
): Promise<boolean> {
  const head = await storage.head(session)
  if (head === undefined) return false
  const { next, log } = head
  const lines = new LogLines(storage, session, { next, log })
  try {
    const kept = await choose(lines, serde, keep)
    if (storage.replace === undefined) throw cannotReplaceError(storage)
    await storage.replace(session, chunksOf(newLines(storage, lines, kept)), { expect: { next, log } })
    return true
  } catch (error) {
    if (hasCode(error, "conflict")) return false
    throw error
  }
}

export function cannotReplaceError({ description }: SessionStorage): SessionError {
  const message = `${description} cannot replace a log, so its threads cannot be trimmed. Create the saver without "keep".`
  return new SessionError("invalid", message)
}

interface Kept {
  readonly checkpoints: ReadonlySet<Seq>
  readonly keepsWrites: (ns: string, id: string) => boolean
}

async function choose(lines: LogLines, serde: SerializerProtocol, keep: number): Promise<Kept> {
  const byNamespace = new Map<string, Map<string, Candidate>>()
  for (let seq = lines.head.next - 1; seq > 0; seq--) {
    const found = await lines.record(seq)
    if (found?.kind !== "checkpoint") continue
    const { ns, id, parent } = found.data
    const byId = byNamespace.get(ns) ?? new Map<string, Candidate>()
    byNamespace.set(ns, byId)
    // Of several puts of one id the last counts.
    if (!byId.has(id)) byId.set(id, { seq, ns, id, parent, deltas: await deltasOf(lines, serde, found.entry) })
  }
  const checkpoints = new Set<Seq>()
  const channels = createChannels(lines, serde)
  const ids = new Map<string, { readonly kept: Set<string>; readonly all: ReadonlyMap<string, Candidate> }>()
  for (const [ns, all] of byNamespace) {
    const newest = [...all.values()].sort((a, b) => (a.id < b.id ? 1 : -1)).slice(0, keep)
    const kept = new Set<string>()
    for (const candidate of newest) {
      kept.add(candidate.id)
      for (const ancestor of await neededBy(channels, candidate, all)) kept.add(ancestor.id)
    }
    for (const id of kept) checkpoints.add((all.get(id) as Candidate).seq)
    ids.set(ns, { kept, all })
  }
  const keepsWrites = (ns: string, id: string): boolean => {
    const known = ids.get(ns)
    return known === undefined || !known.all.has(id) || known.kept.has(id)
  }
  return { checkpoints, keepsWrites }
}

async function deltasOf(lines: LogLines, serde: SerializerProtocol, entry: LogRecord): Promise<readonly string[]> {
  const { metadata } = (await lines.whole(entry))["data"] as { metadata: Stored }
  const { counters_since_delta_snapshot: counters } = (await load(serde, metadata)) as CheckpointMetadata
  return Object.keys(counters ?? {})
}

/** The ancestors up to those that have a value of each delta channel. */
async function neededBy(
  channels: (seq: Seq) => Promise<ReadonlySet<string>>,
  { parent, deltas }: Candidate,
  all: ReadonlyMap<string, Candidate>,
): Promise<Candidate[]> {
  const needed: Candidate[] = []
  const open = new Set(deltas)
  const seen = new Set<string>()
  for (let at = parent; at !== undefined && open.size > 0 && !seen.has(at); ) {
    seen.add(at)
    const ancestor = all.get(at)
    if (ancestor === undefined) break
    needed.push(ancestor)
    const held = await channels(ancestor.seq)
    for (const channel of open) if (held.has(channel)) open.delete(channel)
    at = ancestor.parent
  }
  return needed
}

/** The channels that have a value in a checkpoint; several that are kept ask for the same ancestors. */
function createChannels(lines: LogLines, serde: SerializerProtocol): (seq: Seq) => Promise<ReadonlySet<string>> {
  const bySeq = new Map<Seq, ReadonlySet<string>>()
  return async (seq) => {
    const known = bySeq.get(seq)
    if (known !== undefined) return known
    const held = new Set<string>()
    for (const [channel, value] of await readValues(lines, seq, NO_CACHE)) {
      if (sizeOf(value) > UNDEFINED || (await load(serde, value)) !== undefined) held.add(channel)
    }
    bySeq.set(seq, held)
    return held
  }
}

/** More characters than any serializer takes for `undefined`. */
const UNDEFINED = 1_000

const NO_CACHE: StateCache = { get: () => undefined, set: () => undefined }

interface Rewriting {
  readonly storage: SessionStorage
  readonly lines: LogLines
  readonly kept: Kept
  /** The new seqs of the checkpoints that are written. */
  readonly seqs: Map<Seq, Seq>
}

/** The lines of the new log: the header, entries that are not of the saver, and what is kept, with their seqs and parents. */
async function* newLines(
  storage: SessionStorage,
  lines: LogLines,
  kept: Kept,
): AsyncGenerator<string, void, undefined> {
  const { session, head } = lines
  const rewriting: Rewriting = { storage, lines, kept, seqs: new Map() }
  // Every entry gets a new id. A session that another process has open takes a replaced log for its own if it finds its last entry there,
  // and would append records that refer to places in the old log; without that entry the append fails, and the saver makes them anew.
  const newId = createIds()
  /** The new ids of entries; of a dropped one the id that its children have as their parent. */
  const ids = new Map<string, string | null>()
  let claim: Claim = { seen: 1 }
  for await (const chunk of storage.read(session, { from: 0, to: head.next, log: head.log })) {
    for (const [n, line] of chunk.lines.entries()) {
      const old = chunk.from + n
      if (old === 0) {
        yield line
        continue
      }
      const { record } = parseLine(line)
      // A line that cannot be parsed names no parent, and no entry refers to it.
      if (record === undefined) continue
      const found = recordOf(record, old)
      const parentId = renamed(record["parentId"], ids) ?? null
      if (found !== undefined && !isKept(found, kept)) {
        ids.set(String(record["id"]), parentId as string | null)
        continue
      }
      const id = newId()
      ids.set(String(record["id"]), id)
      const target = record["targetId"] === undefined ? {} : { targetId: renamed(record["targetId"], ids) }
      const entry = { ...record, id, parentId, ...target, seq: claim.seen } as unknown as Entry
      yield encodeEntry(found === undefined ? entry : await rewritten(rewriting, found, entry, claim))
      if (found?.kind === "checkpoint") rewriting.seqs.set(old, claim.seen)
      const max = greater(claim.max, found?.data.id)
      claim = { seen: claim.seen + 1, ...(max !== undefined && { max }) }
    }
  }
}

function isKept(found: Found, { checkpoints, keepsWrites }: Kept): boolean {
  return found.kind === "checkpoint" ? checkpoints.has(found.seq) : keepsWrites(found.data.ns, found.data.id)
}

function renamed(id: unknown, ids: ReadonlyMap<string, string | null>): unknown {
  return typeof id === "string" && ids.has(id) ? ids.get(id) : id
}

/** The entry with what holds in the new log. A checkpoint that changed one that is dropped gets all of its channels. */
async function rewritten(
  { storage, lines, kept, seqs }: Rewriting,
  found: Found,
  entry: Entry,
  claim: Claim,
): Promise<Entry> {
  const { ns, id } = found.data
  if (found.kind === "writes") {
    const { task, path, writes } = found.data
    return { ...entry, data: { ns, id, task, path, writes, ...claim } }
  }
  const { parent, checkpoint, metadata, chain, set, unset, on } = found.data
  const count = [kept.checkpoints.size, 0]
  const known = { ns, id, ...(parent !== undefined && { parent }), checkpoint, metadata }
  if (on === undefined) return { ...entry, data: { ...known, chain, set, ...claim, count } }
  const base = seqs.get(on)
  if (base !== undefined) {
    const changes = { on: base, chain, set, ...(unset !== undefined && { unset }) }
    return { ...entry, data: { ...known, ...changes, ...claim, count } }
  }
  const values = await readValues(lines, found.seq, NO_CACHE)
  const whole = (await lines.whole(found.entry))["data"] as CheckpointRecord
  const texts = { checkpoint: whole.checkpoint, metadata: whole.metadata }
  const data = { ...known, ...texts, chain: [0, 0], set: [...values], ...claim, count }
  const complete = { ...entry, data, blobs: undefined } as unknown as Entry
  const moved: BlobRef[] = []
  for (const { pointer, encoding, bytes } of planBlobs(complete)) {
    moved.push({ pointer, encoding, hash: await storage.blobs.put(bytes) })
  }
  return applyBlobs(complete, moved)
}

async function* chunksOf(lines: AsyncIterable<string>): AsyncGenerator<Chunk, void, undefined> {
  let from = 0
  let held: string[] = []
  let bytes = 0
  for await (const line of lines) {
    const size = utf8Length(line) + 1
    if (held.length > 0 && bytes + size > MAX_CHUNK_BYTES) {
      yield { from, lines: held }
      from += held.length
      held = []
      bytes = 0
    }
    held.push(line)
    bytes += size
  }
  yield { from, lines: held }
}
