/** The compactions of all branches, newest first, with what they replaced. */
import type { VNode } from "preact"
import { Replaced } from "./entry.tsx"
import { formatNumber, formatTime } from "./format.ts"
import { replacedBy } from "./paths.ts"
import { toHash } from "./route.ts"
import type { SessionData } from "./source.ts"

export function Compactions(o: { readonly data: SessionData; readonly session: string | undefined }): VNode {
  const { data, session } = o
  const found = [...data.rows.values()].filter(({ type }) => type === "compaction").reverse()
  return (
    <>
      <h2>Compactions</h2>
      {found.length === 0 ? <p class="note">The session was never compacted.</p> : null}
      {found.map((row) => (
        <section key={row.seq} class="entry summary">
          <header>
            <a href={toHash({ ...(session === undefined ? {} : { session }), tab: "conversation", entry: row.id })}>
              {formatTime(row.timestamp)}
            </a>
            <span class="facts">
              Tokens before: {row.tokensBefore === undefined ? "unknown" : formatNumber(row.tokensBefore)}
            </span>
          </header>
          <p>{row.text}</p>
          <Replaced rows={replacedBy(data.rows, row)} session={session} />
        </section>
      ))}
    </>
  )
}
