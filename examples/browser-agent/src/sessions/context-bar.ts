/** How full the model's window is, and with what. */
import { type Entry, estimateMessage, type Header } from "@sessions/core"
import { buildSessionContext } from "@sessions/core/context"

export type Part = "summary" | "user" | "assistant" | "tools"

export interface ContextBar {
  /** Tokens, estimated. */
  readonly used: number
  readonly window: number
  readonly parts: readonly { readonly part: Part; readonly tokens: number }[]
  /** Entries that the model gets. */
  readonly inContext: ReadonlySet<string>
  readonly compaction: { readonly entryId: string; readonly tokensBefore: number } | undefined
}

const PARTS: Readonly<Record<string, Part>> = { user: "user", assistant: "assistant", toolResult: "tools" }

/** `entries` is the whole log. */
export function contextBar(
  entries: readonly (Entry | undefined)[],
  leaf: string | null,
  { header, window }: { readonly header: Header; readonly window: number },
): ContextBar {
  const { messages, compaction } = buildSessionContext(entries, leaf, { header })
  const tokens: Record<Part, number> = { summary: 0, user: 0, assistant: 0, tools: 0 }
  for (const { kind, message } of messages) {
    const part = kind === "compaction" || kind === "branch_summary" ? "summary" : (PARTS[message.role] ?? "user")
    tokens[part] += estimateMessage(message)
  }
  const parts = (["summary", "user", "assistant", "tools"] as const).map((part) => ({ part, tokens: tokens[part] }))
  return {
    used: parts.reduce((sum, { tokens }) => sum + tokens, 0),
    window,
    parts,
    inContext: new Set(messages.map(({ entryId }) => entryId)),
    compaction,
  }
}
