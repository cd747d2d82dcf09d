/** The messages of a context that a model does not accept as they are stored: rendered, converted to its roles, and repaired. Pure. */
import { cloneJson } from "../format/clone.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { Extensions } from "../format/names.ts"
import type { EntryLog } from "../log/entry-log.ts"
import { toModelMessages } from "./model-messages.ts"
import type { PlainMessages } from "./plain.ts"
import { renderMessages } from "./render.ts"
import { repairMessages } from "./repair.ts"
import { estimatesOf } from "./ruler.ts"
import type { RepairMode, SelectedEntry, SummaryStyle } from "./types.ts"
import { unknownNames } from "./unknown-names.ts"

export interface ConvertOptions {
  readonly repair: RepairMode
  readonly summaryAs: SummaryStyle | undefined
  readonly extensions: Extensions | undefined
}

/** `entries` have their blobs. */
export function convertedMessages(
  log: EntryLog,
  entries: readonly SelectedEntry[],
  { repair, summaryAs, extensions }: ConvertOptions,
): PlainMessages & { readonly diagnostics: readonly Diagnostic[] } {
  const rendered = renderMessages(entries)
  const model = toModelMessages(rendered.messages, summaryAs)
  const { messages, diagnostics } = repairMessages(model.messages, repair)
  const estimate = estimatesOf(log, rendered)
  return {
    tokens: messages.map(({ message }) => estimate(message)),
    messages: messages.map(({ message, ...item }) => ({ ...item, message: cloneJson(message) })),
    diagnostics: [
      ...rendered.diagnostics,
      ...unknownNames(rendered.messages, extensions),
      ...model.diagnostics,
      ...diagnostics,
    ],
  }
}
