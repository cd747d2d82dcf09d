/** The messages of a context that a model does not accept as they are stored: rendered, converted to its roles, and repaired. Pure. */
import { cloneJson } from "../format/clone.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { Entry } from "../format/entry.ts"
import type { ModelMessage } from "../format/message.ts"
import type { Extensions } from "../format/names.ts"
import { isObject } from "../format/shape.ts"
import type { EntryLog } from "../log/entry-log.ts"
import { isOlder, type NeedsOlder } from "../log/path.ts"
import type { Seq } from "../storage/contract.ts"
import { CallRecords, placesOf, shownCalls } from "./call-states.ts"
import { toModelMessages } from "./model-messages.ts"
import { isOfOtherMessage, namedTarget } from "./named-call.ts"
import { estimatesOf, renderMessages } from "./render.ts"
import { type MissingResult, missingResultText, repairMessages } from "./repair.ts"
import type { ContextMessage, RepairMode, SelectedEntry, SummaryStyle } from "./types.ts"
import { unknownNames } from "./unknown-names.ts"

export interface ConvertOptions {
  readonly repair: RepairMode
  readonly summaryAs: SummaryStyle | undefined
  readonly extensions: Extensions | undefined
  /** The end of the log whose starts of tool calls count. */
  readonly end: Seq
}

export interface Converted {
  /** Copies. */
  readonly messages: readonly ContextMessage<ModelMessage>[]
  /** The tokens of each of them. */
  readonly tokens: readonly number[]
  readonly diagnostics: readonly Diagnostic[]
}

/** `entries` have their blobs. Older lines may be needed to know what a call without a result has done. */
export function convertedMessages(
  log: EntryLog,
  entries: readonly SelectedEntry[],
  { repair, summaryAs, extensions, end }: ConvertOptions,
): Converted | NeedsOlder {
  const rendered = renderMessages(repair === "none" ? entries : withoutStrays(entries))
  const model = toModelMessages(rendered.messages, summaryAs)
  const missing = missingResults(log, entries, end)
  const { messages, diagnostics } = repairMessages(model.messages, repair, missing.textOf)
  if (missing.older !== undefined) return missing.older
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

/** Without late results of calls that a compaction has left out: they must not be taken for those of later calls with the same ids. */
function withoutStrays(entries: readonly SelectedEntry[]): readonly SelectedEntry[] {
  const ids = new Set(entries.map(({ entry }) => entry.id))
  return entries.filter(({ entry }) => {
    const target = isResult(entry) ? namedTarget(entry.id) : undefined
    return target === undefined || ids.has(target) || !isOfOtherMessage(entry, undefined)
  })
}

function isResult({ message }: Entry): boolean {
  return isObject(message) && message["role"] === "toolResult"
}

function missingResults(
  log: EntryLog,
  entries: readonly SelectedEntry[],
  end: Seq,
): { readonly textOf: MissingResult; older: NeedsOlder | undefined } {
  let records: CallRecords | undefined
  const byId = new Map(entries.flatMap((item) => (item.included === undefined ? [[item.entry.id, item] as const] : [])))
  /** The message that was asked for last, and the places of its calls. */
  let last: SelectedEntry | undefined
  let calls: ReturnType<typeof shownCalls> = []
  let places = placesOf([])
  const textOf: MissingResult = (entryId, callId, nth) => {
    const selected = byId.get(entryId)
    if (selected && selected !== last) {
      last = selected
      calls = shownCalls(selected.entry, selected.edit)
      places = placesOf(calls.map(({ block }) => block))
    }
    const found = calls[places.get(callId)?.at(-1 - nth) ?? -1]
    if (selected === undefined || found === undefined) return missingResultText({ state: "unrecorded" })
    records ??= recordsOf(log, entries, end)
    const known = records.of(selected.seq, found.call, found.block)
    if (isOlder(known)) {
      missing.older = known
      return ""
    }
    const key = known.start?.["key"]
    return missingResultText({ state: known.state, ...(typeof key === "string" ? { key } : {}) })
  }
  const missing = { textOf, older: undefined as NeedsOlder | undefined }
  return missing
}

function recordsOf(log: EntryLog, entries: readonly SelectedEntry[], end: Seq): CallRecords {
  const shown = new Set(entries.map(({ seq }) => seq))
  return new CallRecords(log, end, (seq) => shown.has(seq))
}
