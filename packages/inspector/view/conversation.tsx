/** The conversation of one branch: a window of its path, with tool results inside of their calls and subagents where they ran. */
import type { VNode } from "preact"
import { useEffect, useMemo, useState } from "preact/hooks"
import { fieldsOf } from "../src/model/fields.ts"
import type { Row, StoredEntry, Subagent } from "../src/model/types.ts"
import { type EntryContext, elementId, EntryCard } from "./entry.tsx"
import { formatNumber } from "./format.ts"
import { isContent, pathTo, replacedBy, seqOfId, tipFor } from "./paths.ts"
import { toHash } from "./route.ts"
import type { SessionData, Source } from "./source.ts"
import { useSession } from "./use-session.ts"

export interface ConversationProps {
  readonly source: Source
  readonly data: SessionData
  /** Undefined for the first session of the page. */
  readonly session: string | undefined
  /** The entry that the address names. */
  readonly target: number | undefined
  /** How many sessions this one is inside of. */
  readonly depth: number
}

/** Entries that are shown at first, and that one press of a button adds. */
const STEP = 60

export function Conversation(props: ConversationProps): VNode {
  const { source, data, session, target, depth } = props
  const { rows, summary } = data
  const tip = target === undefined ? summary.leaf : tipFor(rows, target, summary.leaf)
  const path = useMemo(() => pathTo(rows, tip), [rows, tip])
  const [chosen, setChosen] = useState<Shown>()
  // A window belongs to its path: of another one, such as the whole path after its end, the window is found anew.
  const isChosen = chosen?.path === path && chosen.target === target
  const { from, to } = isChosen ? chosen : windowAt(path, target)
  const setWindow = (from: number, to: number): void => setChosen({ path, target, from, to })
  const shown = path.slice(from, to)
  const stored = useEntries(data, shown)
  useScrollTo(session, target, target !== undefined && stored?.has(target) === true)
  if (stored === undefined) return <p class="note">Reading…</p>
  const context = entryContext(props, shown, stored)
  const places = placesOf(depth > 0 ? [] : (data.whole?.subagents ?? []), path, data)
  const cards = shown.flatMap((seq) => {
    const row = rows.get(seq)
    const one = stored.get(seq)
    if (row === undefined || one === undefined || context.isInside(seq)) return []
    return [
      <EntryCard key={seq} row={row} stored={one} context={context.entry}>
        {places.get(seq)?.map((subagent) => (
          <SubagentSession key={subagent.id} source={source} subagent={subagent} depth={depth} />
        ))}
      </EntryCard>,
    ]
  })
  return (
    <div class="conversation">
      {tip === summary.leaf ? null : (
        <p class="notice">
          This is another branch than the current one.{" "}
          <a href={toHash({ ...of(session), tab: "conversation" })}>Current branch</a>{" "}
          <a href={toHash({ ...of(session), tab: "tree" })}>All branches</a>
        </p>
      )}
      {path.length === 0 ? <p class="note">The session has no entries.</p> : null}
      {data.whole === undefined ? <p class="note">Reading the older entries…</p> : null}
      <More count={from} label="older" onClick={() => setWindow(Math.max(0, from - STEP), to)} />
      {cards}
      <More count={path.length - to} label="newer" onClick={() => setWindow(from, Math.min(path.length, to + STEP))} />
    </div>
  )
}

function More(o: { readonly count: number; readonly label: string; readonly onClick: () => void }): VNode | null {
  if (o.count <= 0) return null
  return (
    <button type="button" class="more" onClick={o.onClick}>
      Show {o.label} entries ({formatNumber(o.count)} more)
    </button>
  )
}

interface Window {
  readonly from: number
  readonly to: number
}

interface Shown extends Window {
  readonly path: readonly number[]
  readonly target: number | undefined
}

/** The end of the path, or the surroundings of an entry. */
function windowAt(path: readonly number[], target: number | undefined): Window {
  const index = target === undefined ? -1 : path.indexOf(target)
  if (index < 0) return { from: Math.max(0, path.length - STEP), to: path.length }
  return { from: Math.max(0, index - STEP / 2), to: Math.min(path.length, index + STEP) }
}

/** Undefined until they are read. */
function useEntries(data: SessionData, seqs: readonly number[]): ReadonlyMap<number, StoredEntry> | undefined {
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

/** Unfolds what an entry is in, and moves to it, once it is there. */
function useScrollTo(session: string | undefined, target: number | undefined, ready: boolean): void {
  useEffect(() => {
    if (target === undefined || !ready) return
    const element = document.getElementById(elementId(session, target))
    for (let outer = element?.parentElement; outer != null; outer = outer.parentElement)
      if (outer instanceof HTMLDetailsElement) outer.open = true
    element?.scrollIntoView({ block: "start" })
    element?.focus({ preventScroll: true })
  }, [session, target, ready])
}

interface PathContext {
  readonly entry: EntryContext
  /** Whether an entry is shown inside of another one. */
  readonly isInside: (seq: number) => boolean
}

function entryContext(
  { data, session, target }: ConversationProps,
  shown: readonly number[],
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
    replacedBy: (row) => replacedBy(rows, row),
    linkTo: (id) =>
      seqOfId(rows, id) === undefined ? undefined : toHash({ ...of(session), tab: "conversation", entry: id }),
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

/** By the entry that started them, else behind the last entry of the path that is older. */
function placesOf(
  subagents: readonly Subagent[],
  path: readonly number[],
  { rows }: SessionData,
): ReadonlyMap<number, readonly Subagent[]> {
  const places = new Map<number, Subagent[]>()
  const onPath = path.map((seq) => rows.get(seq)).filter((row): row is Row => row !== undefined)
  for (const subagent of subagents) {
    const row =
      onPath.findLast(({ id }) => id === subagent.entryId) ??
      onPath.findLast(({ timestamp, role }) => timestamp <= subagent.createdAt && role !== "toolResult") ??
      onPath[0]
    if (row === undefined) continue
    places.set(row.seq, [...(places.get(row.seq) ?? []), subagent])
  }
  return places
}

function SubagentSession(o: { readonly source: Source; readonly subagent: Subagent; readonly depth: number }): VNode {
  const { source, subagent, depth } = o
  const [open, setOpen] = useState(false)
  const name = subagent.title === "" ? subagent.id : subagent.title
  return (
    <details class="fold subagent" open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Subagent: {name}</summary>
      <p class="note">
        <a href={toHash({ session: subagent.id, tab: "conversation" })}>This session alone</a>
      </p>
      {open ? <SubagentConversation source={source} id={subagent.id} depth={depth + 1} /> : null}
    </details>
  )
}

function SubagentConversation(o: { readonly source: Source; readonly id: string; readonly depth: number }): VNode {
  const { source, id, depth } = o
  const opened = useSession(source, id)
  if (opened === undefined) return <p class="note">Reading…</p>
  if ("problem" in opened) return <p class="notice">{opened.problem}</p>
  return <Conversation source={source} data={opened.data} session={id} target={undefined} depth={depth} />
}

function of(session: string | undefined): { readonly session?: string } {
  return session === undefined ? {} : { session }
}
