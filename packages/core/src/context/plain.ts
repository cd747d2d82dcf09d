/**
 * The path of `context()` for messages that a model accepts as they are stored, as in most contexts. A page loads the code that renders,
 * converts and repairs only when a context needs it: without this path, every page would load it, and none could make a context offline
 * before it has. It is also faster: for 100,000 messages 64 ms in place of 79 (Node 26, medians of 7 rounds).
 */
import { blobRefs } from "../format/blobs.ts"
import { hasMessage } from "../format/entry-types.ts"
import { cloneJson } from "../format/clone.ts"
import type { ModelMessage } from "../format/message.ts"
import { type Extensions, isKnownName } from "../format/names.ts"
import { isObject } from "../format/shape.ts"
import type { EntryLog } from "../log/entry-log.ts"
import type { Seq } from "../storage/contract.ts"
import { MODEL_ROLES } from "./content.ts"
import { isOfOtherMessage } from "./named-call.ts"
import { compactionMessages } from "./summary-messages.ts"
import type { KnownUnits } from "./ruler.ts"
import { Sendable } from "./sendable.ts"
import type { ContextMessage, RepairMode, SelectedEntry, SummaryStyle } from "./types.ts"

const FOREIGN = { foreign: true } as const

/**
 * The messages of these entries; undefined if any of them must be changed first. Each message is checked and copied while it is
 * in the processor's cache: with a second loop for the copies, `context()` with 114,000 messages takes a fifth longer.
 */
export function plainMessages(
  selected: readonly SelectedEntry[],
  repair: RepairMode,
  summaryAs?: SummaryStyle,
  extensions?: Extensions,
): readonly ContextMessage<ModelMessage>[] | undefined {
  const messages: ContextMessage<ModelMessage>[] = []
  const sendable = repair === "none" ? undefined : new Sendable()
  let answer: string | undefined
  for (const { entry, edit } of selected) {
    if (edit !== undefined || mustBeConverted(entry.type)) return undefined
    if (entry.type === "compaction") {
      if (entry.blobs !== undefined) return undefined
      const summary = entry["summary"]
      if (typeof summary !== "string") return undefined
      for (const item of compactionMessages(entry.id, summary, summaryAs ?? entry["summaryAs"])) {
        if (sendable?.takes(item.message) === false) return undefined
        messages.push(item)
      }
    }
    if (entry.type !== "message") continue
    const stored = entry["message"]
    if (!isObject(stored) || !MODEL_ROLES.has(stored["role"])) return undefined
    const { content } = stored
    if (!Array.isArray(content)) return undefined
    // The data of an image may be a reference although the entry names none.
    let mayRefer = entry.blobs !== undefined
    for (const block of content as readonly unknown[]) {
      if (!isObject(block)) return undefined
      const { type } = block
      // Unknown types are reported.
      if (typeof type !== "string" || !isKnownName("blocks", type, extensions)) return undefined
      mayRefer ||= type === "image"
    }
    if (mayRefer && blobRefs(entry, FOREIGN).length > 0) return undefined
    const message = stored as unknown as ModelMessage
    if (message.role === "assistant") answer = entry.id
    if (sendable !== undefined && (!sendable.takes(message) || isOfOtherMessage(entry, answer))) return undefined
    messages.push({ entryId: entry.id, kind: "message", message: cloneJson(message) })
  }
  return sendable?.isWhole === false ? undefined : messages
}

function mustBeConverted(type: string): boolean {
  return type !== "message" && hasMessage(type)
}

/** The same messages as the log has them, and their estimates. */
export function plainUnits(
  log: EntryLog,
  selected: readonly SelectedEntry[],
  summaryAs?: SummaryStyle,
): Required<KnownUnits> {
  const messages: ContextMessage[] = []
  const tokens: number[] = []
  const add = (item: ContextMessage, seq: Seq): void => {
    messages.push(item)
    tokens.push(log.tokensOf(item.message, seq))
  }
  for (const { seq, entry } of selected) {
    const { id: entryId, type } = entry
    if (type === "message") add({ entryId, kind: "message", message: entry["message"] }, seq)
    if (type !== "compaction") continue
    const items = compactionMessages(entryId, entry["summary"], summaryAs ?? entry["summaryAs"])
    for (const item of items) add(item, seq)
  }
  return { messages, tokens }
}
