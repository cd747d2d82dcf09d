/** The conversation of one branch: a window of its path, with tool results inside of their calls and subagents where they ran. */
import type { VNode } from "preact"
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks"
import type { Row, Subagent } from "../src/model/types.ts"
import { Entries, useEntries } from "./entries.tsx"
import { elementId } from "./entry.tsx"
import { formatNumber } from "./format.ts"
import { pathTo, type Rows, tipFor } from "./paths.ts"
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
export const STEP = 60

export function Conversation(props: ConversationProps): VNode {
  const { source, data, session, target, depth } = props
  const { rows, summary } = data
  const tip = target === undefined ? summary.leaf : tipFor(rows, target, summary.leaf)
  const path = useMemo(() => pathTo(rows, tip), [rows, tip])
  const [chosen, setChosen] = useState<Shown>()
  // A window belongs to its path: of another one, such as the whole path after its end, the window is found anew.
  const isChosen = chosen?.path === path && chosen.target === target
  // Who gets a file reads it for the first time; who serves a store looks for what is new.
  const isFile = source.list === undefined
  const { from, to } = isChosen ? chosen : windowAt(path, target, isFile)
  const setWindow = (from: number, to: number): void => setChosen({ path, target, from, to })
  const shown = path.slice(from, to)
  const stored = useEntries(data, shown)
  useScrollTo(session, target, target !== undefined && stored?.has(target) === true)
  useScrollToEnd(depth > 0 || isChosen || isFile ? undefined : stored, target)
  if (stored === undefined) return <p class="note">Reading…</p>
  const places = placesOf(depth > 0 ? [] : (data.whole?.subagents ?? []), path, data)
  return (
    <div class="conversation">
      {tip === summary.leaf ? null : (
        <p class="notice">
          This is another branch than the current one.{" "}
          <a href={toHash({ ...of(session), tab: "conversation" })}>Current branch</a>{" "}
          <a href={toHash({ ...of(session), tab: "tree" })}>All branches</a>{" "}
          <CompareLink rows={rows} session={session} leaf={summary.leaf} tip={tip} />
        </p>
      )}
      {path.length === 0 ? <p class="note">The session has no entries.</p> : null}
      {data.whole === undefined ? <p class="note">Reading the older entries…</p> : null}
      <More count={from} label="older" onClick={() => setWindow(Math.max(0, from - STEP), to)} />
      <Entries data={data} session={session} target={target} path={path} shown={shown} stored={stored}>
        {(seq) =>
          places
            .get(seq)
            ?.map((subagent) => <SubagentSession key={subagent.id} source={source} subagent={subagent} depth={depth} />)
        }
      </Entries>
      <More count={path.length - to} label="newer" onClick={() => setWindow(from, Math.min(path.length, to + STEP))} />
    </div>
  )
}

/** An entry of which the place in the session is not known yet, while the whole is read. */
export function EntryAlone(o: {
  readonly data: SessionData
  readonly session: string | undefined
  readonly row: Row
}): VNode {
  const { data, session, row } = o
  const path = useMemo(() => [row.seq], [row])
  const known = useMemo(() => ({ ...data, rows: new Map([[row.seq, row]]) }), [data, row])
  const stored = useEntries(known, path)
  const isThere = stored?.has(row.seq) === true
  useScrollTo(session, row.seq, isThere)
  return (
    <div class="conversation">
      <p class="note">Reading the whole session, for what is before and after this entry…</p>
      {isThere ? (
        <Entries data={known} session={session} target={row.seq} path={path} shown={path} stored={stored} />
      ) : null}
    </div>
  )
}

function CompareLink(o: {
  readonly rows: Rows
  readonly session: string | undefined
  readonly leaf: number
  readonly tip: number
}): VNode | null {
  const left = o.rows.get(o.leaf)
  const right = o.rows.get(o.tip)
  if (left === undefined || right === undefined) return null
  return <a href={toHash({ ...of(o.session), tab: "compare", sides: [left.id, right.id] })}>What differs</a>
}

export function More(o: {
  readonly count: number
  readonly label: string
  readonly onClick: () => void
}): VNode | null {
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

/** The end or the beginning of the path, or the surroundings of an entry. */
function windowAt(path: readonly number[], target: number | undefined, fromStart: boolean): Window {
  const index = target === undefined ? -1 : path.indexOf(target)
  if (index < 0 && fromStart) return { from: 0, to: Math.min(path.length, STEP) }
  if (index < 0) return { from: Math.max(0, path.length - STEP), to: path.length }
  return { from: Math.max(0, index - STEP / 2), to: Math.min(path.length, index + STEP) }
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

/** Without a target, moves to the end of the page when entries or their images have come, unless the reader has moved since or is typing. */
function useScrollToEnd(stored: object | undefined, target: number | undefined): void {
  const end = useRef<number | undefined>(undefined)
  useLayoutEffect(() => {
    if (target !== undefined) end.current = undefined
    if (target !== undefined || stored === undefined) return undefined
    const toEnd = (): void => {
      if (end.current !== undefined && end.current !== scrollY) return
      if (!(document.activeElement instanceof HTMLInputElement)) scrollTo(0, document.documentElement.scrollHeight)
      end.current = scrollY
    }
    toEnd()
    // Of images: it does not bubble.
    document.addEventListener("load", toEnd, true)
    return () => document.removeEventListener("load", toEnd, true)
  }, [stored, target])
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
