/** A path through the tree as lines to show: a tool's result stands with its call, a summary where it takes the place of what it tells. */
import type { ContentBlock, Entry, Message, ToolCallBlock, ToolResultMessage } from "@sessions/core"
import { callsOf, openCalls, shownText, textOf } from "../agent/messages.ts"
import type { ContextBar } from "./context-bar.ts"
import { newestBelow, type ShownNode, type ShownTree, siblingsOf } from "./tree.ts"

export interface Line {
  readonly id: string
  readonly kind: "user" | "assistant" | "summary" | "other"
  readonly text: string
  readonly calls: readonly CallLine[]
  readonly timestamp: string
  /** A model's name. */
  readonly by?: string
  readonly cutOff: boolean
  /** The model gets a summary of it. */
  readonly summarized: boolean
  /** Where to go on from to say it anew; null: the beginning. */
  readonly parentId: string | null
  readonly versions: Versions
}

export interface CallLine {
  readonly call: ToolCallBlock
  readonly result: { readonly text: string; readonly isError: boolean } | undefined
}

/** A line's place among those that stand on the same one, and the newest leaves of the ones before and after it. */
export interface Versions {
  readonly place: number
  readonly count: number
  readonly before: string | undefined
  readonly after: string | undefined
}

export interface Unfinished {
  readonly why: string
  /** To go on from. */
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
      text: summary ? String(entry["summary"]) : shownText(message ?? { role: "custom", content: contentOf(entry) }),
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
  return withSummaryInPlace(lines, bar)
}

/** A turn that ended before it was over. An answer that was cut off is asked for anew, beside it. */
export function unfinishedOf(
  path: readonly ShownNode[],
  entries: Entries,
  leaf: string | null,
): Unfinished | undefined {
  const said = path.map(({ seq, entry }) => entries[seq] ?? entry)
  const messages = said.map(messageOf).filter((message) => message !== undefined)
  const last = messages.at(-1)
  if (last === undefined || said.at(-1)?.type === "branch_summary") return undefined
  const { stopReason } = last as { stopReason?: unknown }
  if (stopReason === "aborted" || stopReason === "error") {
    const why = stopReason === "aborted" ? "You stopped this answer." : "This answer was cut off."
    return { why, from: said.findLast((entry) => messageOf(entry) === last)?.parentId ?? leaf }
  }
  const calls = openCalls(messages).length
  if (calls > 0)
    return { why: `This turn was cut off while it waited for ${calls === 1 ? "a tool" : "tools"}.`, from: leaf }
  if (last.role === "user") return { why: "This turn was cut off before it was answered.", from: leaf }
  if (last.role === "toolResult") return { why: "This turn was cut off after a tool had answered.", from: leaf }
  return undefined
}

export function messageOf(entry: Entry): Message | undefined {
  return entry.type === "message" ? (entry["message"] as Message) : undefined
}

function contentOf(entry: Entry): readonly ContentBlock[] {
  return Array.isArray(entry["content"]) ? (entry["content"] as readonly ContentBlock[]) : []
}

/** The summary in force goes before what it leaves standing, which is older than itself. */
function withSummaryInPlace(lines: readonly Line[], { compaction }: ContextBar): readonly Line[] {
  const summary = lines.find(({ id }) => id === compaction?.entryId)
  if (summary === undefined) return lines
  const rest = lines.filter((line) => line !== summary)
  const kept = rest.findIndex(({ summarized }) => !summarized)
  return kept < 0 ? [...rest, summary] : rest.toSpliced(kept, 0, summary)
}

function versionsOf(tree: ShownTree, node: ShownNode): Versions {
  const siblings = siblingsOf(tree, node)
  const place = siblings.indexOf(node)
  const leafOf = (sibling: ShownNode | undefined): string | undefined =>
    sibling === undefined ? undefined : newestBelow(sibling).tip
  return { place, count: siblings.length, before: leafOf(siblings[place - 1]), after: leafOf(siblings[place + 1]) }
}

/** Ids of calls may come again in later answers: a result belongs to the nearest answer before it that has its id. */
function resultsOf(path: readonly ShownNode[], entries: Entries) {
  const claimed = new Set<string>()
  const found = new Map<string, CallLine["result"]>()
  const caller = new Map<string, string>()
  for (const { seq, entry } of path) {
    const message = messageOf(entries[seq] ?? entry)
    if (message === undefined) continue
    for (const { id } of callsOf(message)) caller.set(id, entry.id)
    if (message.role !== "toolResult") continue
    const { toolCallId, isError, content } = message as ToolResultMessage
    const by = caller.get(toolCallId)
    if (by === undefined) continue
    claimed.add(entry.id)
    found.set(`${by} ${toolCallId}`, { text: textOf(content), isError })
  }
  return { claimed, of: (entry: string, call: ToolCallBlock) => found.get(`${entry} ${call.id}`) }
}
