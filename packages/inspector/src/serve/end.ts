/** Reads the end of a session, whatever its length, and entries by their seqs. */
import { toJsonText } from "@sessions/core/format"
import type { Session, Sessions } from "@sessions/core"
import type { CallOptions } from "@sessions/core/storage"
import type { Row, StoredEntry, Summary } from "../model/types.ts"
import { rowOf } from "../read/outline.ts"
import { readRange } from "../read/lines.ts"
import { rawOf } from "../read/read-session.ts"

/** What the page shows first. Without what only the whole log tells. */
export interface End {
  readonly summary: Pick<Summary, "id" | "info" | "header" | "leaf" | "diagnostics" | "redacted">
  /** Where the log ends: the same text, the same log. */
  readonly head: string
  /** The last entries of the path to the leaf, each with its parent; the first one's is -1, whatever comes before it. */
  readonly rows: readonly Row[]
  readonly entries: readonly (readonly [seq: number, StoredEntry])[]
}

const END_ENTRIES = 60

export async function readEnd(sessions: Sessions, session: Session, o: CallOptions): Promise<End> {
  const head = await headText(sessions, session, o)
  const { entries } = await session.path({ limit: END_ENTRIES, ...o })
  let parent = -1
  const rows = entries.map((entry) => {
    const row = rowOf(entry, entry.seq, { parent }, () => undefined)
    parent = entry.seq
    return row
  })
  return {
    summary: {
      id: session.id,
      info: await session.info(o),
      header: toJsonText(session.header, 2),
      leaf: parent,
      diagnostics: session.diagnostics,
      redacted: false,
    },
    head,
    rows,
    entries: await readEntries(
      sessions,
      session,
      rows.map(({ seq }) => seq),
      o,
    ),
  }
}

/** With the time: a copy that was put back, as in place of a damaged log, has the same identity and may have as many lines. */
export async function headText({ storage }: Sessions, { id, head }: Session, o: CallOptions): Promise<string> {
  if (head === undefined) return ""
  const stored = await storage.head(id, o)
  const isSame = stored?.log === head.log && stored.next === head.next
  return `${head.log} ${head.next} ${isSame ? stored.updatedAt : "?"}`
}

/** Entries that are further apart are read by themselves. */
const MAX_GAP = 16

/** Those of the seqs that are entries. */
export async function readEntries(
  { storage }: Sessions,
  session: Session,
  seqs: readonly number[],
  o: CallOptions,
): Promise<readonly (readonly [seq: number, StoredEntry])[]> {
  const found: (readonly [number, StoredEntry])[] = []
  const wanted = new Set(seqs)
  for (const { from, to } of runsOf([...wanted].sort((a, b) => a - b)))
    for (const { seq, entry, line } of await readRange(storage, session, { from, to }, o))
      if (wanted.has(seq)) found.push([seq, { entry, ...rawOf(entry, line, undefined) }])
  return found
}

function runsOf(seqs: readonly number[]): readonly { readonly from: number; readonly to: number }[] {
  const runs: { from: number; to: number }[] = []
  for (const seq of seqs) {
    const last = runs.at(-1)
    if (last !== undefined && seq - last.to <= MAX_GAP) last.to = seq + 1
    else runs.push({ from: seq, to: seq + 1 })
  }
  return runs
}
