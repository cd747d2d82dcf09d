/**
 * The fast path of `context()`: messages that a model accepts as they are stored, as in most contexts. Rendering, converting and
 * repairing them gives the same and takes longer: for 100,000 messages 79 ms in place of 64, for a compacted context of 60 messages
 * 0.046 ms in place of 0.026 (Node 26, medians of 7 rounds).
 */
import { blobRefs } from "../format/blobs.ts"
import type { ContentBlock, ModelMessage } from "../format/message.ts"
import type { Extensions } from "../format/names.ts"
import { isObject } from "../format/shape.ts"
import { blocksOf, MODEL_ROLES } from "./content.ts"
import { compactionMessages } from "./model-messages.ts"
import { isSendable } from "./repair.ts"
import type { SelectedEntry } from "./select.ts"
import type { ContextMessage, RepairMode, SummaryStyle } from "./types.ts"
import { hasUnknownBlock } from "./unknown-names.ts"

/** Entries of a context, other than messages and compactions, that must be converted to messages. */
const CONVERTED: ReadonlySet<string> = new Set(["custom_message", "branch_summary"])

const FOREIGN = { foreign: true } as const

/** Its data may be a reference although the entry names none. */
function isImage({ type }: ContentBlock): boolean {
  return type === "image"
}

/** The messages of these entries; undefined if any of them must be changed first. */
export function plainMessages(
  selected: readonly SelectedEntry[],
  repair: RepairMode,
  summaryAs?: SummaryStyle,
  extensions?: Extensions,
): readonly ContextMessage<ModelMessage>[] | undefined {
  const messages: ContextMessage<ModelMessage>[] = []
  for (const { entry, edit } of selected) {
    if (edit !== undefined || CONVERTED.has(entry.type)) return undefined
    if (entry.type === "compaction") {
      if (entry.blobs !== undefined) return undefined
      const summary = entry["summary"]
      if (typeof summary !== "string") return undefined
      messages.push(...compactionMessages(entry.id, summary, summaryAs ?? entry["summaryAs"]))
    }
    if (entry.type !== "message") continue
    const message = entry["message"]
    if (!isObject(message) || !MODEL_ROLES.has(message["role"])) return undefined
    const { content } = message
    if (!Array.isArray(content) || blocksOf(content) === undefined) return undefined
    if ((entry.blobs !== undefined || content.some(isImage)) && blobRefs(entry, FOREIGN).length > 0) return undefined
    // They are reported.
    if (hasUnknownBlock(content, extensions)) return undefined
    messages.push({ entryId: entry.id, kind: "message", message: message as unknown as ModelMessage })
  }
  return repair === "none" || isSendable(messages) ? messages : undefined
}
