/** The messages of a session's current path in memory, for files that hold a conversation and nothing else. */
import type { Entry, ModelMessage } from "@sessions/core"
import { buildSessionContext, repairMessages, toModelMessages } from "@sessions/core/context"
import type { SessionToWrite } from "./format.ts"
import type { Contents } from "./list-format.ts"
import type { Losses } from "./losses.ts"
import { modelMessagesOf } from "./model-messages.ts"
import { indexLog, type LogIndex } from "./written-path.ts"

export interface ConversationItem {
  /** The entry that the message comes from; undefined for a result that a repair added. */
  readonly entry?: Entry
  readonly entryId: string
  readonly kind: ReturnType<typeof toModelMessages>["messages"][number]["kind"]
  readonly message: ModelMessage
  /** The seq of the compaction or the reset because of which the context begins here. */
  readonly begins?: number
  /** The message is among the items before. */
  readonly isCopy?: true
}

export interface Conversation {
  readonly items: readonly ConversationItem[]
  /** All entries of the path that were not deleted, with annotations. */
  readonly entries: readonly Entry[]
  /** All entries of the log. */
  readonly log: readonly Entry[]
  /** The seq of the last compaction or reset, if the items are those of a context. */
  readonly boundary: number
}

/**
 * The messages of the path that `contents` says. Those of other branches, edited ones and those before a compaction that are not among them
 * are reported as losses.
 */
export async function conversationOf(
  session: SessionToWrite,
  contents: Contents,
  losses: Losses,
): Promise<Conversation> {
  const index = await indexLog(session)
  const log: (Entry | undefined)[] = []
  for await (const entry of session.entries()) log[entry.seq] = entry
  const all = Array.from(log)
  const stored = all.filter((entry) => entry !== undefined)
  const entries = stored.filter(({ seq }) => index.isWritten(seq))
  const path = entries.filter(({ seq }) => index.isOnPath(seq))
  losses.add("branches", index.messagesOffPath, (n) => `${n} messages on other branches are not in the file.`)
  const edited = path.filter(({ seq, type }) => type === "message" && index.editOf(seq) !== undefined)
  losses.add("edits", edited.length, (n) => `${n} messages are in the file with their edited contents only, or not.`)
  const boundary = path.findLast(({ type }) => type === "compaction" || type === "reset_boundary")?.seq ?? 0
  if (contents !== "context") {
    const isAll = contents === "history" || boundary === 0
    const before = historyOf(isAll ? path : path.filter(({ seq }) => seq < boundary), index)
    const items = isAll ? before : [...before, ...begun(contextOf(all, path), boundary, losses)]
    return { items, entries, log: stored, boundary: 0 }
  }
  const items = contextOf(all, path)
  const shown = new Set(items.map(({ entryId }) => entryId))
  const gone = path.filter(({ id, type, seq }) => type === "message" && !shown.has(id) && !index.editOf(seq))
  losses.add("compacted", gone.length, (n) => `${n} messages before a compaction or a reset are not in the file.`)
  return { items, entries, log: stored, boundary }
}

/** The items of a context that begins behind messages: its summary first, with which it begins. */
function begun(items: readonly ConversationItem[], boundary: number, losses: Losses): readonly ConversationItem[] {
  const sorted = [...items.filter(isSummary), ...items.filter((item) => !isSummary(item))]
  if (sorted.length === 0)
    losses.add("resets", 1, () => "The reset at the end of the session is not in the file: nothing follows it there.")
  return sorted.map((item, i) => ({
    ...item,
    ...(i === 0 ? { begins: boundary } : {}),
    ...(isSummary(item) || (item.entry !== undefined && item.entry.seq > boundary) ? {} : { isCopy: true }),
  }))
}

function isSummary({ kind }: ConversationItem): boolean {
  return kind === "compaction"
}

function historyOf(path: readonly Entry[], index: LogIndex): readonly ConversationItem[] {
  return path.flatMap((entry) => {
    const edit = index.editOf(entry.seq)
    if (edit?.content === null) return []
    const alone = entry.type === "compaction" ? withoutSystem(entry) : entry
    const messages = modelMessagesOf(alone, edit?.content)
    return messages.map((message) => ({ entry, entryId: entry.id, kind: "message", message }) as const)
  })
}

/** The system messages that a compaction repeats are in a history, as they are now. */
function withoutSystem(entry: Entry & { readonly type: "compaction" }): Entry {
  return { ...entry, system: [] }
}

function contextOf(log: readonly (Entry | undefined)[], path: readonly Entry[]): readonly ConversationItem[] {
  const byId = new Map(path.map((entry) => [entry.id, entry]))
  const { messages, systemPromptOverride = "" } = buildSessionContext(log)
  const items = toModelMessages(messages).messages.map((item): ConversationItem => {
    const entry = byId.get(item.entryId)
    return entry === undefined ? item : { ...item, entry }
  })
  if (systemPromptOverride === "") return items
  const prompt = { role: "system", content: [{ type: "text", text: systemPromptOverride }] } as const
  return [{ entryId: "", kind: "message", message: prompt }, ...items]
}

/** Whether the message is the one in the log. */
export function isStored({ entry, message }: ConversationItem): boolean {
  return entry?.type === "message" && entry.message === message
}

/** The messages as an API of models takes them: each call has its result, each result its call. */
export function sendable(items: readonly ConversationItem[], losses: Losses): readonly ConversationItem[] {
  const { messages, diagnostics } = repairMessages(items, "synthesize")
  losses.add(
    "repairs",
    diagnostics.length,
    (n) =>
      `${n} repairs were made, because APIs of models refuse calls without results, results without calls, and empty messages.`,
  )
  return messages
}
