/** Reads what the page shows of a whole session, without contents that are stored as blobs. */
import type { Session, Sessions } from "@sessions/core"
import type { CallOptions } from "@sessions/core/storage"
import { sessionTree } from "@sessions/core/transfer"
import type { DamagedLine, Row, Summary } from "../model/types.ts"
import { nodesBySeq, placesOf, rowOf } from "../read/outline.ts"
import { headText } from "./end.ts"
import { subagentsOf } from "../read/subagents.ts"
import { readSummary } from "../read/summary.ts"

/** Rows in log order; the last part is the rest. */
export type WholePart = { readonly rows: readonly Row[] } | WholeEnd

export interface WholeEnd {
  /** As that of the end. */
  readonly head: string
  readonly summary: Summary
}

/** Other requests have their turn between the steps, which are short: all of them together take a large session a second. */
export async function* readWhole(sessions: Sessions, session: Session, o: CallOptions): AsyncGenerator<WholePart> {
  const head = await headText(sessions, session, o)
  const tree = await sessionTree(session, o)
  await turn(o)
  const { bySeq, leaf } = placesOf(tree)
  await turn(o)
  const summary = await readSummary(session, undefined, o)
  await turn(o)
  const lines = session.head.next
  const damaged = await damagedLines(sessions, session.id, bySeq, lines, o)
  const subagents = await subagentsOf(sessions, session.id, o)
  const nodes = nodesBySeq(tree)
  const seqOf = new Map<string, number>()
  for (let start = 0; start < nodes.length; start += PART_ROWS) {
    await turn(o)
    const rows = nodes.slice(start, start + PART_ROWS).map(({ seq, entry }) => {
      const row = rowOf(entry, seq, bySeq.get(seq) ?? { parent: -1 }, (id) => seqOf.get(id))
      seqOf.set(entry.id, seq)
      return { ...row, text: row.text.replace(BLOB, "[long text]") }
    })
    yield { rows }
  }
  yield { head, summary: { ...summary, leaf, lines, damaged, subagents } }
}

/** Rejects if the page does not wait any more. */
async function turn({ signal }: CallOptions): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, 0))
  signal?.throwIfAborted()
}

/** Some 10 ms of work for the server, and less for the page. */
const PART_ROWS = 500

/** A preview may cut it. */
const BLOB = /blob:sha256:[0-9a-f]+…?/g

const MAX_DAMAGED = 200

async function damagedLines(
  { storage }: Sessions,
  id: string,
  entries: ReadonlyMap<number, unknown>,
  lines: number,
  o: CallOptions,
): Promise<readonly DamagedLine[]> {
  const damaged: DamagedLine[] = []
  for (let seq = 1; seq < lines && damaged.length < MAX_DAMAGED && entries.size > 0; seq++) {
    if (entries.has(seq)) continue
    let raw: string | null = null
    try {
      for await (const chunk of storage.read(id, { from: seq, to: seq + 1 }, o)) raw = chunk.lines[0] ?? null
    } catch {
      // The diagnostics say what is wrong with it.
    }
    damaged.push({ seq, raw })
  }
  return damaged
}
