/** How many tokens of the context window are used, and by which kinds of messages. */
import { type Entry, estimateMessage, type Header } from "@sessions/core"
import { buildSessionContext } from "@sessions/core/context"

export type Part = "summary" | "user" | "assistant" | "tools"

export interface ContextBar {
  /** Estimated tokens. */
  readonly used: number
  readonly window: number
  readonly parts: readonly { readonly part: Part; readonly tokens: number }[]
  /** The ids of the entries in the context. */
  readonly inContext: ReadonlySet<string>
  readonly compaction: { readonly entryId: string; readonly tokensBefore: number } | undefined
}

const PARTS: Readonly<Record<string, Part>> = { user: "user", assistant: "assistant", toolResult: "tools" }

/** @param entries the whole log, by seq */
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
