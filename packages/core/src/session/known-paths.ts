/**
 * What was found of a path by reading far back, kept as the document `sessions/<id>/paths`: the state that a compaction of another
 * program does not carry, or that stands before a reset. A cache: it holds for one log and its very entries, and whoever cannot
 * read it reads the log.
 */
import { selectContext } from "../context/select.ts"
import { usableState } from "../context/state.ts"
import type { Header } from "../format/records.ts"
import { all, arrayOf, isCount, isObject, isString, mapOf, nullable, oneOf, optional, shape } from "../format/shape.ts"
import type { Check } from "../format/shape.ts"
import type { CallOptions, Seq, SessionStorage } from "../storage/contract.ts"
import { hasCode } from "../storage/errors.ts"
import type { EntryLog, KnownPath } from "../log/entry-log.ts"

/** Of the places found last: a session has few branches that are gone back to. */
const KEPT = 8

interface KeptPath extends KnownPath {
  readonly seq: Seq
}

interface KeptPaths {
  readonly v: 1
  /** Identity of the log that was read. */
  readonly log: string
  /** Found last first. */
  readonly paths: readonly KeptPath[]
}

/** Which log, and where it is stored. */
export interface PathStore {
  readonly id: string
  readonly storage: SessionStorage
  /** Identity of the log that is open. */
  readonly log: string
}

/** Tells the log what is kept of it. */
export async function learnPaths(
  { id, storage, log: identity }: PathStore,
  log: EntryLog,
  o: CallOptions,
): Promise<void> {
  const text = (await storage.docs.get(docKey(id), o).catch(orElse))?.text
  for (const { seq, ...known } of text === undefined ? [] : parsePaths(text, identity)) log.learn(seq, known)
}

/** What the entry's path folds to, now that it can be told; tells the log, and keeps it. Kept by another writer at once, it is as good. */
export async function keepPath(
  store: PathStore,
  log: EntryLog,
  header: Header,
  seq: Seq,
  o: CallOptions,
): Promise<void> {
  const found = pathAt(log, header, seq)
  if (found === undefined) return
  log.learn(seq, found)
  const { storage } = store
  const key = docKey(store.id)
  const isThere = async (): Promise<boolean> => (await storage.head(store.id, o))?.log === store.log
  try {
    if (!(await isThere())) return
    const doc = await storage.docs.get(key, o)
    const others = doc === undefined ? [] : parsePaths(doc.text, store.log).filter((path) => path.seq !== seq)
    const kept: KeptPaths = { v: 1, log: store.log, paths: [{ seq, ...found }, ...others].slice(0, KEPT) }
    const version = await storage.docs.put(key, JSON.stringify(kept), { ...o, expect: doc?.version ?? null })
    // Deleting took the session's documents along; one that came just after it would stay behind for ever.
    if (!(await isThere())) await storage.docs.delete(key, { ...o, expect: version })
  } catch (error) {
    orElse(error)
  }
}

function pathAt(log: EntryLog, header: Header, seq: Seq): KnownPath | undefined {
  const entry = log.at(seq)
  const selection = entry === undefined ? undefined : selectContext(log, seq, header)
  if (entry === undefined || selection === undefined || "older" in selection) return undefined
  const { state, stateBlobs } = selection
  const { firstKeptEntryId } = entry as { firstKeptEntryId?: unknown }
  const keeps = entry.type === "compaction" && typeof firstKeptEntryId === "string" && firstKeptEntryId !== entry.id
  return {
    id: entry.id,
    state,
    ...(stateBlobs === undefined ? {} : { blobs: stateBlobs }),
    ...(keeps ? { firstKept: log.find(firstKeptEntryId, seq) ?? null } : {}),
  }
}

const isBlobs: Check = mapOf(oneOf("utf8", "base64"))
const isState: Check = (value) => (usableState(value) === undefined ? " must be a state." : undefined)
const paths: Check = all(
  shape({ v: oneOf(1), log: isString }),
  shape({
    paths: arrayOf(
      shape({
        seq: isCount,
        id: isString,
        state: isState,
        blobs: optional(isBlobs),
        firstKept: optional(nullable(isCount)),
      }),
    ),
  }),
)

/** None where the text is no such document, or one of another log. */
function parsePaths(text: string, log: string): readonly KeptPath[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return []
  }
  if (!isObject(value) || paths(value) !== undefined) return []
  const kept = value as unknown as KeptPaths
  return kept.log === log ? kept.paths : []
}

/** A cache that cannot be read or written is none; the log is there. */
function orElse(error: unknown): undefined {
  if (hasCode(error, "aborted") || hasCode(error, "closed")) throw error
}

function docKey(id: string): string {
  return `sessions/${id}/paths`
}
