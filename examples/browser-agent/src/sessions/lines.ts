/** The lines to display for a path through the tree. Tool results are shown with their calls, summaries before the entries they leave. */
import type { ContentBlock, Entry, Message, ToolCallBlock } from "@sessions/core"
import { callsOf, openCalls, shownText, textOf } from "../agent/messages.ts"
import type { ContextBar } from "./context-bar.ts"
import { newestBelow, type ShownNode, type ShownTree, siblingsOf } from "./tree.ts"

export interface Line {
  readonly id: string
  readonly kind: "user" | "assistant" | "summary" | "other"
  readonly text: string
  readonly calls: readonly CallLine[]
  readonly timestamp: string
  /** The name of the model. */
  readonly by?: string
  readonly cutOff: boolean
  /** Whether the model gets a summary in its index. */
  readonly summarized: boolean
  /** The entry to continue from for another version of it; null for the beginning. */
  readonly parentId: string | null
  readonly versions: Versions
}

export interface CallLine {
  readonly call: ToolCallBlock
  readonly result: { readonly text: string; readonly isError: boolean } | undefined
}

/** The position of a line among its siblings, and the newest leaves of the siblings before and after it. */
export interface Versions {
  readonly index: number
  readonly count: number
  readonly before: string | undefined
  readonly after: string | undefined
}

export interface Unfinished {
  readonly why: string
  /** The entry to continue from. */
  readonly from: string | null
}

type Entries = readonly (Entry | undefined)[]

export function linesOf(
  tree: ShownTree,
  path: readonly ShownNode[],
  { entries, bar }: { readonly entries: Entries; readonly bar: ContextBar },
): readonly Line[] {
  const results = resultsOf(path, entries)
  const lines: Line[] = []
  for (const node of path) {
    const entry = entries[node.seq] ?? node.entry
    const message = messageOf(entry)
    if (message?.role === "toolResult" && results.claimed.has(entry.id)) continue
    const summary = entry.type === "compaction" || entry.type === "branch_summary"
    const cut = message?.["stopReason"] === "aborted" || message?.["stopReason"] === "error"
    lines.push({
      id: entry.id,
      kind: summary ? "summary" : message?.role === "user" || message?.role === "assistant" ? message.role : "other",
      text: summary ? entry.summary : shownText(message ?? { role: "custom", content: contentOf(entry) }),
      calls: (message === undefined ? [] : callsOf(message)).map((call) => ({
        call,
        result: results.of(entry.id, call),
      })),
      timestamp: entry.timestamp,
      ...(typeof message?.["model"] === "string" ? { by: message["model"] } : {}),
      cutOff: cut,
      summarized: bar.compaction !== undefined && !bar.inContext.has(entry.id),
      parentId: entry.parentId,
      versions: versionsOf(tree, node),
    })
  }
  return withSummaryAtCut(lines, bar)
}

/** An interrupted turn at the end of the path. A partial answer is asked for again as a sibling. */
export function unfinishedOf(
  path: readonly ShownNode[],
  entries: Entries,
  leaf: string | null,
): Unfinished | undefined {
  const shown = path.map(({ seq, entry }) => entries[seq] ?? entry)
  const messages = shown.map(messageOf).filter((message) => message !== undefined)
  const last = messages.at(-1)
  if (last === undefined || shown.at(-1)?.type === "branch_summary") return undefined
  const { stopReason } = last as { stopReason?: unknown }
  if (stopReason === "aborted" || stopReason === "error") {
    const why = stopReason === "aborted" ? "You stopped this answer." : "This answer was cut off."
    return { why, from: shown.findLast((entry) => messageOf(entry) === last)?.parentId ?? leaf }
  }
  const calls = openCalls(messages).length
  if (calls > 0)
    return { why: `This turn was cut off while it waited for ${calls === 1 ? "a tool" : "tools"}.`, from: leaf }
  if (last.role === "user") return { why: "This turn was cut off before it was answered.", from: leaf }
  if (last.role === "toolResult") return { why: "This turn was cut off after a tool had answered.", from: leaf }
  return undefined
}

export function messageOf(entry: Entry): Message | undefined {
  return entry.type === "message" ? entry.message : undefined
}

function contentOf(entry: Entry): readonly ContentBlock[] {
  return Array.isArray(entry["content"]) ? (entry["content"] as readonly ContentBlock[]) : []
}

/** Moves the current summary before the entries that it keeps, although they are older than the summary. */
function withSummaryAtCut(lines: readonly Line[], { compaction }: ContextBar): readonly Line[] {
  const summary = lines.find(({ id }) => id === compaction?.entryId)
  if (summary === undefined) return lines
  const rest = lines.filter((line) => line !== summary)
  const kept = rest.findIndex(({ summarized }) => !summarized)
  return kept < 0 ? [...rest, summary] : rest.toSpliced(kept, 0, summary)
}

function versionsOf(tree: ShownTree, node: ShownNode): Versions {
  const siblings = siblingsOf(tree, node)
  const index = siblings.indexOf(node)
  const leafOf = (sibling: ShownNode | undefined): string | undefined =>
    sibling === undefined ? undefined : newestBelow(sibling).tip
  return { index, count: siblings.length, before: leafOf(siblings[index - 1]), after: leafOf(siblings[index + 1]) }
}

/** Call ids may repeat: a result belongs to the nearest answer before it with that call id. */
function resultsOf(path: readonly ShownNode[], entries: Entries) {
  const claimed = new Set<string>()
  const found = new Map<string, CallLine["result"]>()
  const caller = new Map<string, string>()
  for (const { seq, entry } of path) {
    const message = messageOf(entries[seq] ?? entry)
    if (message === undefined) continue
    for (const { id } of callsOf(message)) caller.set(id, entry.id)
    if (message.role !== "toolResult") continue
    const { toolCallId, isError, content } = message
    const by = caller.get(toolCallId)
    if (by === undefined) continue
    claimed.add(entry.id)
    found.set(`${by} ${toolCallId}`, { text: textOf(content), isError })
  }
  return { claimed, of: (entry: string, call: ToolCallBlock) => found.get(`${entry} ${call.id}`) }
}
