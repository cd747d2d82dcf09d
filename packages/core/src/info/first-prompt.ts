/**
 * The first prompt: the first user message of a session, which a list shows in place of a title. Entry by entry it can only be known that
 * it changes; which prompt takes over, and with what text, is found in the whole log.
 */
import { replacementOf } from "../context/content.ts"
import { FIRST_PROMPT_UNITS } from "../format/limits.ts"
import type { Entry } from "../format/entry.ts"
import { type Fields, isObject } from "../format/shape.ts"
import type { EntryLog } from "../log/entry-log.ts"
import type { Seq } from "../storage/contract.ts"

export interface PromptProjection {
  readonly firstPrompt?: { readonly id: string; readonly text: string }
  /** The text of an earlier prompt was edited away; another edit may bring it back. */
  readonly promptHidden?: true
}

/** The projection with one more entry; undefined if only the whole log shows the first prompt. */
export function promptAfter(known: PromptProjection, entry: Entry): PromptProjection | undefined {
  const { firstPrompt, promptHidden } = known
  const isEdit = entry.type === "context_edit"
  if (isEdit || entry.type === "tombstone") {
    const isTarget = firstPrompt !== undefined && entry["targetId"] === firstPrompt.id
    return isTarget || (isEdit && promptHidden) ? undefined : NOTHING
  }
  if (firstPrompt !== undefined || !isPrompt(entry)) return NOTHING
  if (isTextInBlob(entry)) return undefined
  const text = promptText(entry)
  return text === "" ? NOTHING : { firstPrompt: { id: entry.id, text } }
}

const NOTHING: PromptProjection = {}

/**
 * The first prompt of a whole log up to `end`. `unread`: the entry that has it, if its text is in the blob store and not in `texts`; the
 * texts of such entries may be given.
 */
export function firstPromptOf(
  log: EntryLog,
  end: Seq = log.end,
  texts: ReadonlyMap<Entry, string> = new Map(),
): PromptProjection & { readonly unread?: Entry } {
  const changes = changesOf(log, end)
  let hidden: { readonly promptHidden?: true } = {}
  for (let seq = 0; seq < end; seq++) {
    const entry = log.at(seq)
    if (entry === undefined || !isPrompt(entry) || (!isTextInBlob(entry) && promptText(entry) === "")) continue
    const holder = changes.get(seq) ?? entry
    if (holder.type === "tombstone") continue
    const text = isTextInBlob(holder) ? texts.get(holder) : promptText(holder)
    if (text === undefined) return { ...hidden, unread: holder }
    if (text !== "") return { ...hidden, firstPrompt: { id: entry.id, text } }
    hidden = { promptHidden: true }
  }
  return hidden
}

/** The tombstone, or else the latest edit, of each entry that has one. */
function changesOf(log: EntryLog, end: Seq): ReadonlyMap<Seq, Entry> {
  const changes = new Map<Seq, Entry>()
  for (let seq = 0; seq < end; seq++) {
    const entry = log.at(seq)
    const isDeletion = entry?.type === "tombstone"
    if (!isDeletion && (entry?.type !== "context_edit" || replacementOf(entry) === undefined)) continue
    const { targetId } = entry as Fields
    const target = typeof targetId === "string" ? log.find(targetId, seq) : undefined
    if (target !== undefined && changes.get(target)?.type !== "tombstone") changes.set(target, entry)
  }
  return changes
}

/** The start of the first text in the content of a message, or in the one that an edit puts in place of it. */
export function promptText(entry: Entry): string {
  const content = contentOf(entry)
  const blocks = typeof content === "string" ? [{ type: "text", text: content }] : Array.isArray(content) ? content : []
  for (const block of blocks as readonly unknown[]) {
    if (!isObject(block) || block["type"] !== "text" || typeof block["text"] !== "string") continue
    const text = cut(block["text"])
    // A copy, because a slice keeps the whole prompt in memory, and makes the JSON that each append stores cost 1.6 us instead of 0.8.
    if (text !== "") return JSON.parse(JSON.stringify(text)) as string
  }
  return ""
}

/** Never inside a surrogate pair. */
function cut(text: string): string {
  const start = text.trim().slice(0, FIRST_PROMPT_UNITS)
  return start.length === FIRST_PROMPT_UNITS && /[\uD800-\uDBFF]$/.test(start) ? start.slice(0, -1) : start
}

/** Whether a text of the entry's content is in the blob store. */
export function isTextInBlob(entry: Entry): boolean {
  const { blobs } = entry as { blobs?: unknown }
  return isObject(blobs) && Object.keys(blobs).some((pointer) => /\/content(?:\/\d+\/text)?$/.test(pointer))
}

/** Whether an entry is a user message that neither the program nor a summary made. */
function isPrompt(entry: Entry): boolean {
  if (entry.type !== "message") return false
  const message = entry["message"]
  return isObject(message) && message["role"] === "user" && message["synthetic"] !== true && message["summary"] !== true
}

function contentOf(entry: Entry): unknown {
  const holder = entry.type === "context_edit" ? entry["replacement"] : entry["message"]
  return isObject(holder) ? holder["content"] : undefined
}
