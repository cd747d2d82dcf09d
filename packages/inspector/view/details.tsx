/** Facts about a session: its information, metadata and header. */
import type { VNode } from "preact"
import type { Summary } from "../src/model/types.ts"
import { Json } from "./blocks.tsx"
import { Fact } from "./context.tsx"
import { formatBytes, formatNumber, formatTime } from "./format.ts"

export function Details({ summary }: { readonly summary: Summary }): VNode {
  const { id, info, lines, header, redacted } = summary
  const parent = info.parentSession
  return (
    <>
      <h2>Details</h2>
      <dl class="facts-list">
        <Fact name="Session" value={id} />
        <Fact name="Created" value={formatTime(info.createdAt)} />
        <Fact name="Last message" value={formatTime(info.lastMessageAt)} />
        <Fact name="Folder" value={info.cwd ?? "none"} />
        <Fact name="Kind" value={info.kind ?? "none"} />
        <Fact name="Parent session" value={parent === undefined ? "none" : "id" in parent ? parent.id : parent.ref} />
        <Fact name="Messages" value={formatNumber(info.messageCount)} />
        <Fact name="Lines" value={formatNumber(lines)} />
        <Fact name="Size" value={formatBytes(info.bytes)} />
        <Fact name="Redacted" value={redacted ? "yes" : "no"} />
      </dl>
      <h3>Metadata</h3>
      <Json value={info.metadata} />
      <h3>Header of the log</h3>
      <pre class="plain">{header}</pre>
    </>
  )
}
