/** Diagnostics of a session, and the lines of its log that are no entries. */
import type { Diagnostic } from "@sessions/core"
import type { VNode } from "preact"
import type { DamagedLine } from "../src/model/types.ts"
import { toHash } from "./route.ts"
import { verbatim } from "./verbatim.tsx"

interface DiagnosticsProps {
  readonly diagnostics: readonly Diagnostic[]
  readonly session: string | undefined
}

export function Diagnostics({ diagnostics, session }: DiagnosticsProps): VNode | null {
  if (diagnostics.length === 0) return null
  return (
    <ul class="diagnostics">
      {diagnostics.map(({ code, message, seq, entryId }, index) => (
        <li key={index}>
          <code>{code}</code> {message}{" "}
          {entryId === undefined ? (
            seq === undefined ? null : (
              <span class="facts">line {seq}</span>
            )
          ) : (
            <a href={toHash({ ...(session === undefined ? {} : { session }), tab: "conversation", entry: entryId })}>
              entry
            </a>
          )}
        </li>
      ))}
    </ul>
  )
}

export function DiagnosticsTab(o: DiagnosticsProps & { readonly damaged: readonly DamagedLine[] }): VNode {
  return (
    <>
      <h2>Diagnostics</h2>
      {o.diagnostics.length === 0 ? <p class="note">Nothing is wrong with this session.</p> : null}
      <Diagnostics diagnostics={o.diagnostics} session={o.session} />
      {o.damaged.length === 0 ? null : (
        <>
          <h2>Lines that are no entries</h2>
          <ul class="damaged">
            {o.damaged.map(({ seq, raw }) => (
              <li key={seq}>
                Line {seq}
                <pre>{verbatim(raw ?? "left out: what is no record cannot be redacted")}</pre>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  )
}
