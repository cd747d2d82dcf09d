/** Finds words in the entries of a session, on all branches. */
import type { VNode } from "preact"
import { useEffect, useState } from "preact/hooks"
import { nameOf } from "./entry.tsx"
import { formatCount, formatTime } from "./format.ts"
import { toHash } from "./route.ts"
import type { SessionData } from "./source.ts"

const MAX_HITS = 200

interface Found {
  readonly words: string
  readonly seqs: readonly number[]
  readonly done: boolean
}

interface FindProps {
  readonly data: SessionData
  readonly session: string | undefined
  readonly words: string
  /** An entry was chosen, perhaps the one that the address names already. */
  readonly onOpen: () => void
}

export function Find({ data, session, words, onOpen }: FindProps): VNode {
  const [{ words: of, seqs, done }, setFound] = useState<Found>({ words: "", seqs: [], done: false })
  useEffect(() => {
    const stop = new AbortController()
    const seqs: number[] = []
    const show = (done: boolean): void => {
      if (!stop.signal.aborted) setFound({ words, seqs: [...seqs], done })
    }
    const found = (seq: number): boolean => {
      seqs.push(seq)
      return seqs.length < MAX_HITS
    }
    void data.find(words, found, stop.signal).then(() => show(true))
    return () => stop.abort()
  }, [data, words])
  const isReady = of === words && done
  return (
    <>
      <h2>Found</h2>
      <p role="status" class="note">
        {isReady
          ? `${seqs.length === MAX_HITS ? "The newest " : ""}${formatCount(seqs.length, "entry", "entries")} with “${words}”`
          : "Looking…"}
      </p>
      <ul class="entries">
        {(isReady ? seqs : []).map((seq) => {
          const row = data.rows.get(seq)
          return row === undefined ? null : (
            <li key={seq}>
              <a
                href={toHash({ ...(session === undefined ? {} : { session }), tab: "conversation", entry: row.id })}
                onClick={onOpen}
              >
                <span class="kind">{nameOf(row)}</span> {row.text}
              </a>
              <span class="facts">{formatTime(row.timestamp)}</span>
            </li>
          )
        })}
      </ul>
    </>
  )
}
