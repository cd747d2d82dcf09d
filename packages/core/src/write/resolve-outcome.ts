/** Looks at the end of a stored log where an append was refused, or where nobody could say whether it arrived. */
import { encodeHeader, parseLine } from "../format/line.ts"
import type { Head, Seq, SessionStorage } from "../storage/contract.ts"
import type { EntryLog, EntrySlot } from "../log/entry-log.ts"
import { readLines } from "../log/loaded-log.ts"
import { parseEntry } from "../log/parse-entry.ts"
import { countLines } from "./limits.ts"
import type { SessionState } from "./session-state.ts"

export interface ResolveContext {
  readonly id: string
  readonly storage: SessionStorage
  readonly state: SessionState
  /** The log under the session is another one. Loads it if it is this session's own, rewritten; says whether it was. */
  reload(): Promise<boolean>
}

/** Entries that were not known before. */
export type Arrivals =
  /** From `from` on, which is where the held lines end, unless some of those have vanished. */
  | {
      readonly kind: "lines"
      readonly from: Seq
      readonly slots: readonly EntrySlot[]
      readonly head: Head
      /** Of all these lines, or more. */
      readonly bytes: number
    }
  /** The log was rewritten, and is loaded; these of its entries are new. */
  | { readonly kind: "reloaded"; readonly from: Seq; readonly slots: readonly EntrySlot[] }

export type Found =
  | Arrivals
  /** The log is where it was, or not there yet. */
  | { readonly kind: "nothing" }
  /** Deleted, or deleted and made anew. */
  | { readonly kind: "gone" }
  /** Somebody else's session stands where this one was to be made. */
  | { readonly kind: "taken" }

export async function findCommitted(host: ResolveContext): Promise<Found> {
  const { id, storage, state } = host
  const head = await storage.head(id)
  if (state.head === undefined) return head === undefined ? { kind: "nothing" } : findCreated(host, head)
  if (head === undefined) return { kind: "gone" }
  if (head.log !== state.head.log) return findReplaced(host)
  const lines = await readLines(storage, id, { from: state.acknowledged - 1 })
  const known = lines.shift()
  if (known === undefined || !isAt(state.log, state.acknowledged - 1, known)) return findCut(host, head)
  return toFound(lines, state.acknowledged, head)
}

async function findCreated({ id, storage, state }: ResolveContext, head: Head): Promise<Found> {
  const lines = await readLines(storage, id, {})
  if (lines.shift() !== encodeHeader(state.header)) return { kind: "taken" }
  return toFound(lines, 1, head, { changed: true })
}

/**
 * Lines that were seen are no longer there: a reader may see a write under way that then fails. Takes away from memory what the
 * log does not have.
 */
async function findCut({ id, storage, state }: ResolveContext, head: Head): Promise<Found> {
  const { from } = state.log
  if (head.next < from) return { kind: "gone" }
  const lines = await readLines(storage, id, { from })
  let same = 0
  while (same < lines.length && from + same < state.acknowledged && isAt(state.log, from + same, lines[same] as string))
    same++
  return toFound(lines.slice(same), from + same, head, { changed: from + same < state.acknowledged })
}

async function findReplaced(host: ResolveContext): Promise<Found> {
  const { state } = host
  const { log, acknowledged } = state
  // A log without entries has nothing by which it could be told from one that was made anew.
  if (state.lastAckedId === null || !(await host.reload())) return { kind: "gone" }
  let from = state.acknowledged
  for (; from > state.log.from; from--) {
    const id = state.log.at(from - 1)?.id
    const before = id === undefined ? undefined : log.find(id)
    if (before !== undefined && before < acknowledged) break
  }
  const slots = Array.from({ length: state.acknowledged - from }, (_, index) => state.log.at(from + index))
  return { kind: "reloaded", from, slots }
}

function toFound(
  lines: readonly string[],
  from: Seq,
  { log }: Head,
  o: { readonly changed: boolean } = { changed: false },
): Found {
  if (lines.length === 0 && !o.changed) return { kind: "nothing" }
  const slots = lines.map((line, index) => parseEntry(line, from + index, () => undefined))
  const head = { next: from + lines.length, log }
  return { kind: "lines", from, slots, head, bytes: countLines(lines, { exact: false }) }
}

/** Whether the held line at a place is this one. A line that is no entry is not held: it may be any. */
function isAt(log: EntryLog, seq: Seq, line: string): boolean {
  const held = log.at(seq)
  return held === undefined || parseLine(line).record?.["id"] === held.id
}
