/** The branches of a session and its tree. */
import type { Branch } from "@sessions/core/transfer"
import type { VNode } from "preact"
import { useMemo, useState } from "preact/hooks"
import type { Summary } from "../src/model/types.ts"
import { Settle } from "./changes.tsx"
import { nameOf } from "./entry.tsx"
import { formatCount, formatNumber, formatTime } from "./format.ts"
import { seqOfId } from "./paths.ts"
import { toHash } from "./route.ts"
import type { SessionData } from "./source.ts"
import { shorten, type TreeRow, treeRows } from "./tree-rows.ts"

interface TreeProps {
  readonly data: SessionData
  readonly summary: Summary
  readonly session: string | undefined
}

export function Tree({ data, summary, session }: TreeProps): VNode {
  const { rows } = data
  const short = useMemo(() => shorten(treeRows(rows, summary.leaf)), [rows, summary])
  const tips = new Map(summary.branches.map((branch) => [branch.seq, branch]))
  const props = { session, tips, leaf: summary.leaf }
  return (
    <>
      <h2>Branches</h2>
      <Branches data={data} summary={summary} session={session} />
      <h2>Entries</h2>
      {rows.size === 0 ? <p class="note">The session has no entries.</p> : null}
      <ol class="tree">
        {short.map((item) =>
          "row" in item ? (
            <Line key={item.row.seq} item={item} {...props} />
          ) : (
            <Omitted key={item[0]?.row.seq} items={item} {...props} />
          ),
        )}
      </ol>
    </>
  )
}

function Branches({ data, summary, session }: TreeProps): VNode {
  const { branches } = summary
  if (branches.length < 2) return <p class="note">One branch: nothing was left or written at the same time.</p>
  return (
    <ul class="entries">
      {branches.map((branch) => (
        <li key={branch.seq}>
          <a href={toHash({ ...(session === undefined ? {} : { session }), tab: "conversation", entry: branch.id })}>
            <StateBadge branch={branch} /> {data.rows.get(branch.seq)?.text ?? branch.id}
          </a>
          <span class="facts">
            {formatTime(branch.timestamp)}
            {branch.current ? null : (
              <>
                <span>
                  {formatCount(branch.messages, "message")} after {forkText(data, branch)}
                </span>
                <a
                  class="link"
                  href={toHash({
                    ...(session === undefined ? {} : { session }),
                    tab: "compare",
                    sides: [data.rows.get(summary.leaf)?.id ?? branch.id, branch.id],
                  })}
                >
                  what differs from the current branch
                </a>
                {branch.settled ? null : <Settle session={session} entry={branch.id} />}
              </>
            )}
          </span>
        </li>
      ))}
    </ul>
  )
}

function forkText({ rows }: SessionData, { fork }: Branch): string {
  const seq = fork === null ? undefined : seqOfId(rows, fork)
  return seq === undefined ? "a start of its own" : `“${rows.get(seq)?.text ?? ""}”`
}

function StateBadge({ branch: { current, settled } }: { readonly branch: Branch }): VNode {
  if (current) return <span class="badge good">current</span>
  return settled ? <span class="badge">left</span> : <span class="badge warn">open</span>
}

interface LineProps {
  readonly session: string | undefined
  readonly tips: ReadonlyMap<number, Branch>
  readonly leaf: number
}

function Line({ item, session, tips, leaf }: LineProps & { readonly item: TreeRow }): VNode {
  const { row, depth, onPath, starts } = item
  const tip = tips.get(row.seq)
  // Indentation by a class, and the rest by a number: deep trees stay on the screen.
  const classes = [
    "row",
    `depth-${Math.min(depth, MAX_DEPTH)}`,
    ...(onPath ? ["on-path"] : []),
    ...(starts ? ["starts"] : []),
  ]
  return (
    <li class={classes.join(" ")}>
      <a href={toHash({ ...(session === undefined ? {} : { session }), tab: "conversation", entry: row.id })}>
        {depth > MAX_DEPTH ? <span class="badge">level {depth}</span> : null}
        <span class="kind">{nameOf(row)}</span>
        {row.label === undefined ? null : <span class="badge label">{row.label}</span>}
        {row.deleted === true ? <span class="badge bad">deleted</span> : null}
        {tip === undefined ? null : <StateBadge branch={tip} />}
        {row.seq === leaf ? <span class="badge">leaf</span> : null} <span class="text">{row.text}</span>
      </a>
    </li>
  )
}

const MAX_DEPTH = 8
const STEP = 500

function Omitted({ items, ...props }: LineProps & { readonly items: readonly TreeRow[] }): VNode {
  const [count, setCount] = useState(0)
  const left = items.length - count
  return (
    <>
      {items.slice(0, count).map((item) => (
        <Line key={item.row.seq} item={item} {...props} />
      ))}
      {left === 0 ? null : (
        <li>
          <button type="button" class="more" onClick={() => setCount(Math.min(items.length, count + STEP))}>
            Show {formatNumber(Math.min(left, STEP))} of {formatCount(left, "entry", "entries")}
          </button>
        </li>
      )}
    </>
  )
}
