/** Entries of one path as cards: reads them, and puts tool results inside of their calls. */
import type { ComponentChildren, VNode } from "preact"
import { useEffect, useMemo, useState } from "preact/hooks"
import { fieldsOf } from "../src/model/fields.ts"
import type { Row, StoredEntry } from "../src/model/types.ts"
import { type EntryContext, EntryCard } from "./entry.tsx"
import { isContent, replacedBy, seqOfId } from "./paths.ts"
import type { SessionData } from "./source.ts"

interface EntriesProps {
  readonly data: SessionData
  /** Undefined for the first session of the page. */
  readonly session: string | undefined
  /** The entry that the address names. */
  readonly target?: number | undefined
  /** All of the path: an edit of an entry may come long after it. */
  readonly path: readonly number[]
  /** In the order of the path. */
  readonly shown: readonly number[]
  readonly stored: ReadonlyMap<number, StoredEntry>
  /** What follows the content of an entry. */
  readonly children?: (seq: number) => ComponentChildren
}

export function Entries(props: EntriesProps): VNode {
  const { data, path, shown, stored, children } = props
  const edits = useMemo(() => editsOf(data.rows, path), [data, path])
  const context = entryContext(props, edits, stored)
  return (
    <>
      {shown.map((seq) => {
        const row = data.rows.get(seq)
        const one = stored.get(seq)
        if (row === undefined || one === undefined || context.isInside(seq)) return null
        return (
          <EntryCard key={seq} row={row} stored={one} context={context.entry}>
            {children?.(seq)}
          </EntryCard>
        )
      })}
    </>
  )
}

/** Undefined until they are read. */
export function useEntries(data: SessionData, seqs: readonly number[]): ReadonlyMap<number, StoredEntry> | undefined {
  const [loaded, setLoaded] = useState<{ data: SessionData; entries: ReadonlyMap<number, StoredEntry> }>()
  const key = `${seqs[0]}-${seqs.at(-1)}-${seqs.length}`
  useEffect(() => {
    let current = true
    void data.load(seqs).then((entries) => {
      if (current) setLoaded({ data, entries })
    })
    return () => {
      current = false
    }
  }, [data, key])
  // Entries of the session that were shown stay until the new ones have come.
  return loaded?.data.summary.id === data.summary.id ? loaded.entries : undefined
}

interface PathContext {
  readonly entry: EntryContext
  /** Whether an entry is shown inside of another one. */
  readonly isInside: (seq: number) => boolean
}

function entryContext(
  { data, session, target, shown }: EntriesProps,
  edits: EntryContext["edits"],
  stored: ReadonlyMap<number, StoredEntry>,
): PathContext {
  const { rows } = data
  const results = resultsOf(shown, stored)
  const inside = new Set<number>(results.values())
  const last = [...shown]
    .reverse()
    .map((seq) => rows.get(seq))
    .find((row) => row?.type === "compaction")
  const entry: EntryContext = {
    session,
    target,
    replaced: new Set(last === undefined ? [] : shown.filter((seq) => isReplaced(rows.get(seq), last))),
    edits,
    replacedBy: (row) => replacedBy(rows, row),
    rowOf(id) {
      const seq = seqOfId(rows, id)
      return seq === undefined ? undefined : rows.get(seq)
    },
    resultOf(callId) {
      const seq = results.get(callId)
      const row = seq === undefined ? undefined : rows.get(seq)
      const one = seq === undefined ? undefined : stored.get(seq)
      if (seq === undefined || row === undefined || one === undefined) return undefined
      const message = fieldsOf(one.entry)["message"]
      return { seq, message, shown: <EntryCard row={row} stored={one} context={entry} /> }
    },
  }
  return { entry, isInside: (seq) => inside.has(seq) }
}

/** The last edit of each entry. */
function editsOf(rows: SessionData["rows"], path: readonly number[]): ReadonlyMap<number, Row> {
  const edits = new Map<number, Row>()
  for (const seq of path) {
    const row = rows.get(seq)
    if (row?.type === "context_edit" && row.target !== undefined) edits.set(row.target, row)
  }
  return edits
}

/** System messages stay in the context. */
function isReplaced(row: Row | undefined, { seq, kept = seq }: Row): boolean {
  return row !== undefined && row.seq < kept && isContent(row.type) && row.role !== "system"
}

/** The seqs of tool results by the ids of their calls, for calls that come before them in the window. */
function resultsOf(shown: readonly number[], stored: ReadonlyMap<number, StoredEntry>): Map<string, number> {
  const calls = new Set<unknown>()
  const results = new Map<string, number>()
  for (const seq of shown) {
    const { role, content, toolCallId } = fieldsOf(fieldsOf(stored.get(seq)?.entry)["message"])
    if (role === "toolResult") {
      if (typeof toolCallId === "string" && calls.has(toolCallId) && !results.has(toolCallId))
        results.set(toolCallId, seq)
      continue
    }
    if (!Array.isArray(content)) continue
    for (const block of content) {
      const { type, id } = fieldsOf(block)
      if (type === "toolCall") calls.add(id)
    }
  }
  return results
}
