/** Reads the path of a session for extraction: the gates, and the messages since the last one. */
import type { ContentBlock, ContextMessage, Entry, Message, Session } from "@sessions/core"
import type { ContextEditEntry } from "@sessions/core/format"
import type { CallOptions } from "@sessions/core/storage"
import { signalOf } from "../signal.ts"

/** The key of the metadata entry with the progress of a session. */
export const PROGRESS_KEY = "recall"

/** How far a session was read, as its metadata entry has it. */
export interface Progress {
  /** Id of the newest message that was read. */
  readonly entry: string
  /** ISO 8601. */
  readonly at: string
  /** The facts that were written. */
  readonly facts: number
}

/** Why nothing is extracted now. */
export type Gate = "few_messages" | "few_calls" | "pending_call"

export interface GateOptions extends CallOptions {
  readonly minMessages: number
  readonly minCalls: number
}

export async function progressOf(session: Session, o: CallOptions): Promise<Progress | undefined> {
  const { metadata } = await session.info(signalOf(o))
  const value = metadata[PROGRESS_KEY] as Partial<Progress> | null | undefined
  return typeof value?.entry === "string" ? (value as Progress) : undefined
}

/** The first gate that is closed. The number of messages in the session information decides most cases without reading the log. */
export async function closedGate(session: Session, o: GateOptions): Promise<Gate | undefined> {
  const { messageCount } = await session.info(signalOf(o))
  if (messageCount < o.minMessages) return "few_messages"
  const progress = await progressOf(session, o)
  let messages = 0
  let calls = 0
  let isRead = false
  let isPending: boolean | undefined
  const results = new Set<string>()
  for await (const { id, message } of backwards(session, ["message"], o.minMessages, o)) {
    messages++
    if (id === progress?.entry) isRead = true
    if (message?.role === "toolResult") results.add(message.toolCallId)
    if (message?.role === "assistant") {
      const ids = callsOf(message)
      isPending ??= ids.some((call) => !results.has(call))
      if (!isRead) calls += ids.length
    }
    if (messages >= o.minMessages && (isRead || calls >= o.minCalls) && isPending !== undefined) break
  }
  if (messages < o.minMessages) return "few_messages"
  if (calls < o.minCalls) return "few_calls"
  return isPending === true ? "pending_call" : undefined
}

/**
 * The messages of the path behind the one that was read last, oldest first, with their edits. All of the path if that message is not on it
 * any more: known facts are not written again. Only what people and the model said, and with `toolResults` the results of tools.
 */
export async function unreadMessages(
  session: Session,
  since: string | undefined,
  { toolResults, ...o }: CallOptions & { readonly toolResults: boolean },
): Promise<readonly ContextMessage[]> {
  const roles = new Set(["user", "assistant", ...(toolResults ? ["toolResult"] : [])])
  const found: ContextMessage[] = []
  const edits = new Map<string, readonly ContentBlock[] | null>()
  for await (const { id, message, edit } of backwards(session, ["message", "context_edit"], PAGE, o)) {
    if (id === since) break
    if (edit !== undefined) {
      // Read from the end, so the first one is the latest.
      if (!edits.has(edit.target)) edits.set(edit.target, edit.content)
      continue
    }
    if (message === undefined) continue
    const content = edits.has(id) ? edits.get(id) : blocksOf(message.content)
    // What a program has put in: it may be from a web page or a file.
    if (content === null || content === undefined || message.synthetic === true || !roles.has(message.role)) continue
    found.push({ entryId: id, kind: "message", message: { ...message, content } })
  }
  return found.reverse()
}

/** Entries of a page: a turn has a few dozen messages. */
const PAGE = 200

/** The fields of the entries of both types, if they are valid. */
interface Fields {
  readonly id: string
  readonly message?: Message
  readonly targetId?: string
  readonly replacement?: ContextEditEntry["replacement"]
}

interface PathEntry {
  readonly id: string
  /** Missing for an edit. */
  readonly message?: Message
  readonly edit?: { readonly target: string; readonly content: readonly ContentBlock[] | null }
}

/** From the leaf to the root. Deleted entries are left out. */
async function* backwards(
  session: Session,
  types: readonly string[],
  limit: number,
  o: CallOptions,
): AsyncGenerator<PathEntry, void, undefined> {
  let before: string | undefined
  do {
    const page = await session.path({ ...signalOf(o), types, limit, ...(before !== undefined && { before }) })
    for (const entry of page.entries.toReversed()) {
      const found = toPathEntry(entry)
      if (found !== undefined) yield found
    }
    before = page.before
  } while (before !== undefined)
}

/** Undefined for an entry that a damaged log has without the fields of its type. */
function toPathEntry(entry: Entry): PathEntry | undefined {
  const { id, message, targetId, replacement }: Fields = entry
  if (entry.type === "message") return typeof message?.role === "string" ? { id, message } : undefined
  if (typeof targetId !== "string" || replacement === undefined) return undefined
  return { id, edit: { target: targetId, content: replacement === null ? null : blocksOf(replacement.content) } }
}

/** A log of another program may have a text in place of blocks. */
function blocksOf(content: unknown): readonly ContentBlock[] {
  if (typeof content === "string") return [{ type: "text", text: content }]
  return Array.isArray(content) ? content.filter((block) => typeof block === "object" && block !== null) : []
}

function callsOf({ content }: Message): readonly string[] {
  return blocksOf(content).flatMap((block) => (block.type === "toolCall" ? [block.id] : []))
}
