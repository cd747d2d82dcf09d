/** Contexts that can be sent as their entries are, as most can. Apart from what makes the others so, which a page then need not load. */
import { mayRefer } from "../format/blob-refs.ts"
import type { ModelMessage } from "../format/messages.ts"
import { isObject } from "../format/shape.ts"
import { blocksOf } from "./content.ts"
import type { SelectedEntry } from "./select.ts"
import { isSendable } from "./sendable.ts"
import { compactionMessages, styleOf } from "./summary.ts"
import type { SummaryStyle } from "./summary.ts"
import type { ContextMessage, RepairMode } from "./types.ts"

/** Roles that a model knows. */
export const MODEL_ROLES: ReadonlySet<unknown> = new Set(["user", "assistant", "toolResult", "system"])
/** Entries beside messages and compactions that stand in a context, each by a rule of its own. */
const TOLD: ReadonlySet<string> = new Set(["custom_message", "branch_summary"])

/** The messages of these entries; undefined where anything must be done to them. */
export function plainMessages(
  selected: readonly SelectedEntry[],
  repair: RepairMode,
  summaryAs?: SummaryStyle,
): readonly ContextMessage<ModelMessage>[] | undefined {
  const messages: ContextMessage<ModelMessage>[] = []
  for (const { entry, edit } of selected) {
    if (edit !== undefined || TOLD.has(entry.type) || mayRefer(entry)) return undefined
    if (entry.type === "compaction") {
      const summary = entry["summary"]
      if (typeof summary !== "string") return undefined
      messages.push(...compactionMessages(entry.id, summary, summaryAs ?? styleOf(entry["summaryAs"])))
    }
    if (entry.type !== "message") continue
    const message = entry["message"]
    if (!isObject(message) || !MODEL_ROLES.has(message["role"])) return undefined
    if (!Array.isArray(message["content"]) || blocksOf(message["content"]) === undefined) return undefined
    messages.push({ entryId: entry.id, kind: "message", message: message as unknown as ModelMessage })
  }
  return repair === "none" || isSendable(messages) ? messages : undefined
}
