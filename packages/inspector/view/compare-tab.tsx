/** What differs between two branches: the common part folded, the changes to it, and what each side has alone. */
import type { VNode } from "preact"
import { useId, useMemo, useState } from "preact/hooks"
import type { Row, Summary } from "../src/model/types.ts"
import { type Changed, compare, type Compared, countKinds, usageOf } from "./compare.ts"
import { More, STEP } from "./conversation.tsx"
import { Entries, useEntries } from "./entries.tsx"
import { nameOf } from "./entry.tsx"
import { formatCount, formatNumber, formatTime } from "./format.ts"
import { seqOfId } from "./paths.ts"
import { toHash } from "./route.ts"
import type { SessionData } from "./source.ts"
import { sumText } from "./usage.tsx"

interface CompareProps {
  readonly data: SessionData
  readonly summary: Summary
  readonly session: string | undefined
  /** Ids of entries. Undefined: the current branch and the newest other one. */
  readonly sides: readonly [left: string, right: string] | undefined
}

export function Compare(props: CompareProps): VNode {
  const { data, summary } = props
  const sides = props.sides ?? defaultSides(data, summary)
  return (
    <>
      <h2>What differs between two branches</h2>
      {sides === undefined ? (
        <p class="note">One branch: there is nothing to compare.</p>
      ) : (
        <TwoSides {...props} sides={sides} />
      )}
    </>
  )
}

function defaultSides({ rows }: SessionData, { branches, leaf }: Summary): readonly [string, string] | undefined {
  const left = rows.get(leaf)?.id ?? branches[0]?.id
  const right = branches.find(({ current, id }) => !current && id !== left)?.id
  return left === undefined || right === undefined ? undefined : [left, right]
}

function TwoSides(o: CompareProps & { readonly sides: readonly [string, string] }): VNode {
  const { data, session, sides } = o
  const { rows } = data
  const of = session === undefined ? {} : { session }
  const [left, right] = sides.map((id) => seqOfId(rows, id))
  const unknown = left === undefined ? sides[0] : sides[1]
  const compared = useMemo(
    () => (left === undefined || right === undefined ? undefined : compare(rows, left, right)),
    [rows, left, right],
  )
  return (
    <>
      <div class="choices" role="group" aria-label="Branches">
        <Choice {...o} side={0} name="Left" />
        <Choice {...o} side={1} name="Right" />
        <a href={toHash({ ...of, tab: "compare", sides: [sides[1], sides[0]] })}>Swap the sides</a>
        <a href={toHash({ ...of, tab: "compare", sides })}>Link to this comparison</a>
      </div>
      {compared === undefined ? (
        <p class="notice">The session has no entry {unknown}.</p>
      ) : (
        <Result key={`${left} ${right}`} data={data} session={session} compared={compared} />
      )}
    </>
  )
}

/** The ends of the branches, and the entry of the address if it is none of them. */
function Choice(
  o: CompareProps & { readonly sides: readonly [string, string]; readonly side: 0 | 1; readonly name: string },
): VNode {
  const { data, summary, session, sides, side, name } = o
  const tips = summary.branches.map(({ id, seq, current, settled }) => ({
    id,
    text: `${current ? "current" : settled ? "left" : "open"}: ${data.rows.get(seq)?.text ?? id}`,
  }))
  const chosen = sides[side]
  const seq = seqOfId(data.rows, chosen)
  const other = tips.some(({ id }) => id === chosen)
    ? []
    : [{ id: chosen, text: seq === summary.leaf ? "current leaf" : (data.rows.get(seq ?? -1)?.text ?? chosen) }]
  return (
    <label>
      {name}{" "}
      <select
        value={chosen}
        onChange={({ currentTarget: { value } }) => {
          const next: [string, string] = side === 0 ? [value, sides[1]] : [sides[0], value]
          location.hash = toHash({ ...(session === undefined ? {} : { session }), tab: "compare", sides: next })
        }}
      >
        {[...other, ...tips].map(({ id, text }) => (
          <option key={id} value={id}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}

interface ResultProps {
  readonly data: SessionData
  readonly session: string | undefined
  readonly compared: Compared
}

function Result({ data, session, compared }: ResultProps): VNode {
  const { common, left, right, changed } = compared
  const [open, setOpen] = useState(false)
  const paths = useMemo(() => ({ left: [...common, ...left], right: [...common, ...right] }), [compared])
  const last = data.rows.get(common.at(-1) ?? -1)
  return (
    <>
      {last === undefined ? (
        <p class="note">The branches have no entry in common.</p>
      ) : (
        <details class="fold common" open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
          <summary>
            In common: {formatCount(common.length, "entry", "entries")}, up to {nameOf(last)} “{last.text}”
          </summary>
          {open ? <Window data={data} session={session} seqs={common} path={common} fromEnd /> : null}
        </details>
      )}
      {changed.length === 0 ? null : <ChangedEntries changed={changed} session={session} />}
      <div class="sides">
        <Side name="Left" data={data} session={session} seqs={left} path={paths.left} />
        <Side name="Right" data={data} session={session} seqs={right} path={paths.right} />
      </div>
    </>
  )
}

function ChangedEntries({
  changed,
  session,
}: {
  readonly changed: readonly Changed[]
  readonly session: string | undefined
}): VNode {
  const link = (row: Row): string =>
    toHash({ ...(session === undefined ? {} : { session }), tab: "conversation", entry: row.id })
  const links = (side: string, rows: readonly Row[]): VNode[] =>
    rows.map((row) => (
      <li key={row.seq}>
        {side}:{" "}
        <a class="link" href={link(row)}>
          {nameOf(row)}
        </a>{" "}
        {row.text}
      </li>
    ))
  return (
    <>
      <h3>Common entries that a side has edited, deleted or labelled</h3>
      <ul class="entries changed">
        {changed.map(({ row, left, right }) => (
          <li key={row.seq}>
            <a href={link(row)}>
              <span class="kind">{nameOf(row)}</span> {row.text}
            </a>
            <ul>
              {links("left", left)}
              {links("right", right)}
            </ul>
          </li>
        ))}
      </ul>
    </>
  )
}

interface SideProps {
  readonly data: SessionData
  readonly session: string | undefined
  readonly seqs: readonly number[]
  /** The path that they are on. */
  readonly path: readonly number[]
}

function Side({ name, ...props }: SideProps & { readonly name: string }): VNode {
  const { data, seqs } = props
  const heading = useId()
  const last = data.rows.get(seqs.at(-1) ?? -1)
  const usage = usageOf(data.rows, seqs)
  return (
    <section aria-labelledby={heading}>
      <h3 id={heading}>
        {name}: {last === undefined ? "nothing after the common part" : formatCount(seqs.length, "entry", "entries")}
      </h3>
      {last === undefined ? null : (
        <p class="facts">
          {countKinds(data.rows, seqs, nameOf).map(([kind, count]) => (
            <span key={kind}>
              {kind}: {formatNumber(count)}
            </span>
          ))}
          {usage === undefined ? null : (
            <>
              <span>tokens in: {sumText(usage, "input")}</span>
              <span>out: {sumText(usage, "output")}</span>
              <span>cost: {sumText(usage, "cost")}</span>
            </>
          )}
          <span>until {formatTime(last.timestamp)}</span>
        </p>
      )}
      <Window {...props} />
    </section>
  )
}

/** The first entries, or with `fromEnd` the last ones, and a button for more. */
function Window({ data, session, seqs, path, fromEnd = false }: SideProps & { readonly fromEnd?: boolean }): VNode {
  const [count, setCount] = useState(STEP)
  const shown = fromEnd ? seqs.slice(-count) : seqs.slice(0, count)
  const stored = useEntries(data, shown)
  const more = (
    <More
      count={seqs.length - shown.length}
      label={fromEnd ? "older" : "newer"}
      onClick={() => setCount(count + STEP)}
    />
  )
  if (stored === undefined) return <p class="note">Reading…</p>
  return (
    <>
      {fromEnd ? more : null}
      <Entries data={data} session={session} path={path} shown={shown} stored={stored} />
      {fromEnd ? null : more}
    </>
  )
}
