/** The entries that turn the stored messages of a chat into those that are saved. Pure. */
import type { Entry, NewEntry } from "@sessions/core"
import { type Draft, draftsOf, fieldsOf, updateEntry, type UpdateData } from "./entries.ts"
import { type Change, changeBetween, type Fields, isEqual } from "./json.ts"
import { keyOf, readMessages, type StoredMessage } from "./read.ts"
import type { OpenCalls } from "./results.ts"
import type { ChatMessage } from "./types.ts"

export interface Difference {
  readonly entries: readonly NewEntry[]
  /** The entry behind which they belong, null for the start; undefined: behind the last of the path. */
  readonly at?: string | null
}

/**
 * Finds what to append behind the path, or behind one of its entries, so that `readMessages` gives these messages. Stored content is never
 * repeated if it stays: new steps and results follow the last message, other fields are changed by an update. If content changes, a branch
 * begins before the first entry that has changed.
 */
export function difference(path: readonly Entry[], messages: readonly ChatMessage[], open?: OpenCalls): Difference {
  const stored = readMessages(path)
  const entries: NewEntry[] = []
  for (const [index, one] of stored.entries()) {
    const message = messages[index]
    const isLatest = stored.findLastIndex(({ message: { id } }) => id === one.message.id) === index
    const added =
      message === undefined ? undefined : additions(one, message, { isLast: index === stored.length - 1, open })
    if (added === undefined || (added.length > 0 && !isLatest)) return branchBefore(path, one, messages, message, open)
    entries.push(...added)
  }
  for (const message of messages.slice(stored.length)) entries.push(...draftsOf(message))
  return { entries }
}

/**
 * Leaves the last entry of the message out, or all of another message, and what follows. Messages before the branch may have updates behind
 * it, which the branch needs again.
 */
function branchBefore(
  path: readonly Entry[],
  { message: { id }, entries, start }: StoredMessage<Entry>,
  messages: readonly ChatMessage[],
  message: ChatMessage | undefined,
  open: OpenCalls | undefined,
): Difference {
  const last = entries.at(-1)
  const end = message?.id === id && last !== undefined ? path.lastIndexOf(last) : start
  return { at: path[end]?.parentId ?? null, ...difference(path.slice(0, end), messages, open) }
}

/** The edits that a stored message needs to become this one. Undefined if its content changes, or gets more and others follow it. */
function additions(
  { message: stored, entries }: StoredMessage<Entry>,
  message: ChatMessage,
  { isLast, open }: { readonly isLast: boolean; readonly open: OpenCalls | undefined },
): NewEntry[] | undefined {
  if (isEqual(stored, message)) return []
  if (stored.id !== message.id || stored.role !== message.role) return undefined
  const missing = missingDrafts(entries, draftsOf(message), open)
  if (missing === undefined || (missing.length > 0 && !isLast)) return undefined
  const [after] = readMessages<Entry | Draft>([...entries, ...missing])
  const update = after === undefined ? undefined : updateBetween(after.message, message)
  return update === undefined ? undefined : [...missing, ...update]
}

/** The drafts that are not stored. Undefined if a stored entry has other content, or a draft belongs before one of a later step. */
function missingDrafts(
  entries: readonly Entry[],
  drafts: readonly Draft[],
  open: OpenCalls | undefined,
): Draft[] | undefined {
  const byKey = new Map(entries.flatMap((entry) => (keyOf(entry) === undefined ? [] : [[keyOf(entry), entry]])))
  const lastStep = drafts.findLastIndex((draft) => isStep(draft) && byKey.has(keyOf(draft)))
  const hasOpen = entries.some(({ id }) => id === open?.entryId)
  const missing: Draft[] = []
  let found = 0
  for (const [index, draft] of drafts.entries()) {
    const entry = byKey.get(keyOf(draft))
    if (entry === undefined && hasOpen && isOf(open, draft)) continue
    if (entry === undefined && index < lastStep) return undefined
    if (entry === undefined) missing.push(draft)
    else if (!isEqual(entry["message"], draft.message)) return undefined
    else found++
  }
  return found === byKey.size ? missing : undefined
}

/** Whether it is what a request has in the place of a result. */
function isOf(open: OpenCalls | undefined, { message }: Draft): boolean {
  return message.role === "toolResult" && open?.callIds.has(message.toolCallId) === true
}

function isStep(draft: Draft): boolean {
  return keyOf(draft)?.startsWith("step") === true
}

/** An update of what is no content. Undefined if the messages have different numbers of parts. */
function updateBetween(from: ChatMessage, to: ChatMessage): NewEntry[] | undefined {
  if (from.parts.length !== to.parts.length) return undefined
  const parts: Record<string, Change> = {}
  for (const [index, part] of to.parts.entries()) {
    const change = changeBetween(from.parts[index] as unknown as Fields, part)
    if (change.set !== undefined || change.unset !== undefined) parts[String(index)] = change
  }
  const { metadata } = to
  const fields = changeBetween(fieldsOf(from), fieldsOf(to))
  const update: UpdateData = {
    id: to.id,
    ...(Object.keys(parts).length === 0 ? {} : { parts }),
    ...(isEqual(from.metadata, metadata) ? {} : { metadata: metadata === undefined ? {} : { value: metadata } }),
    ...(Object.keys(fields).length === 0 ? {} : { fields }),
  }
  return Object.keys(update).length === 1 ? [] : [updateEntry(update)]
}
