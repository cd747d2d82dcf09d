/** Finds words in the entries of a session, on all branches. */
import type { VNode } from "preact"
import { useEffect, useState } from "preact/hooks"
import type { Row } from "../src/model/types.ts"
import { nameOf } from "./entry.tsx"
import { formatCount, formatTime } from "./format.ts"
import { toHash } from "./route.ts"
import type { SessionData } from "./source.ts"

const MAX_HITS = 200

interface Found {
  readonly words: string
  readonly rows: readonly Row[]
  readonly done: boolean
}

interface FindProps {
  readonly data: SessionData
  readonly session: string | undefined
  readonly words: string
  /** An entry was chosen, perhaps the one that the address names already. */
  readonly onOpen: (row: Row) => void
}

export function Find({ data, session, words, onOpen }: FindProps): VNode {
  const [{ words: of, rows, done }, setFound] = useState<Found>({ words: "", rows: [], done: false })
  useEffect(() => {
    const stop = new AbortController()
    const rows: Row[] = []
    const show = (done: boolean): void => {
      if (!stop.signal.aborted) setFound({ words, rows: [...rows], done })
    }
    const found = (row: Row): boolean => {
      rows.push(row)
      if (rows.length === 1) show(false)
      return rows.length < MAX_HITS
    }
    void data.find(words, found, stop.signal).then(
      () => show(true),
      () => show(true),
    )
    return () => stop.abort()
  }, [data, words])
  const shown = of === words ? rows : []
  const isDone = of === words && done
  return (
    <>
      <h2>Found</h2>
      <p role="status" class="note">
        {isDone
          ? `${rows.length === MAX_HITS ? "The newest " : ""}${formatCount(rows.length, "entry", "entries")} with “${words}”`
          : "Looking…"}
      </p>
      <ul class="entries">
        {shown.map((row) => (
          <li key={row.seq}>
            <a
              href={toHash({ ...(session === undefined ? {} : { session }), tab: "conversation", entry: row.id })}
              onClick={() => onOpen(row)}
            >
              <span class="kind">{nameOf(row)}</span> {row.text}
            </a>
            <span class="facts">{formatTime(row.timestamp)}</span>
          </li>
        ))}
      </ul>
    </>
  )
}
