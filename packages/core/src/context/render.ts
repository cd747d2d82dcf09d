/** Renders selected entries as messages, with custom roles kept and edits applied. `model-messages.ts` converts the roles. */
import { blobRefs } from "../format/blobs.ts"
import type { Diagnostic } from "../format/diagnostics.ts"
import type { Message } from "../format/message.ts"
import type { Entry } from "../format/entry.ts"
import { type Fields, isObject } from "../format/shape.ts"
import type { EntryLog } from "../log/entry-log.ts"
import type { Seq } from "../storage/contract.ts"
import { blocksOf, MODEL_ROLES, replacementOf } from "./content.ts"
import { withoutReferences } from "./missing-blobs.ts"
import type { ContextMessage, SelectedEntry } from "./types.ts"

export interface Rendered {
  readonly messages: readonly ContextMessage[]
  /** The seq of each message's entry. */
  readonly seqs: readonly Seq[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Roles of the messages that represent other entries. */
export const BRANCH_SUMMARY_ROLE = "branchSummary"
const COMPACTION_ROLE = "compactionSummary"
const CUSTOM_ROLE = "custom"

/** Roles of the messages that report a command run by the user. They have fields of their own in place of content. */
export const EXECUTION_ROLES: ReadonlySet<string> = new Set(["bashExecution", "pythonExecution"])

export function renderMessages(selected: readonly SelectedEntry[]): Rendered {
  const messages: ContextMessage[] = []
  const seqs: Seq[] = []
  const diagnostics: Diagnostic[] = []
  for (const { seq, entry: stored, edit: storedEdit } of selected) {
    const entry = withoutReferences(stored)
    const edit = storedEdit === undefined ? undefined : withoutReferences(storedEdit)
    const rendered = renderEntry(entry)
    if (rendered === undefined) continue
    if (entry !== stored) diagnostics.push(...missingBlobs(stored))
    if (storedEdit !== undefined && edit !== storedEdit) diagnostics.push(...missingBlobs(storedEdit))
    if (typeof rendered === "string") {
      const message = `Entry ${entry.id} (line ${seq}) is left out of the context: ${rendered}.`
      diagnostics.push({ code: "invalid_record", seq, entryId: entry.id, message })
      continue
    }
    const message = applyEdit(rendered, edit)
    if (message === undefined) continue
    messages.push(message === rendered.message ? rendered : { ...rendered, message })
    seqs.push(seq)
  }
  return { messages, seqs, diagnostics }
}

/** Estimates of messages. One that nothing has changed since it was rendered is that of the log, which is estimated once. */
export function estimatesOf(log: EntryLog, { messages, seqs }: Rendered): (message: Message) => number {
  const places = new Map(messages.map(({ message }, index) => [message, seqs[index]]))
  return (message) => log.tokensOf(message, places.get(message) ?? -1)
}

function missingBlobs(entry: Entry): readonly Diagnostic[] {
  const hashes = new Set(blobRefs(entry, { foreign: true }).map(({ hash }) => hash))
  return [...hashes].map((hash) => {
    const message = `Entry ${entry.id} refers to the blob ${hash}, which is missing from the blob store.`
    return { code: "missing_blob", seq: entry.seq, entryId: entry.id, message }
  })
}

/** Undefined for an entry that never has a message; a string is the problem of an entry that should have one. */
function renderEntry(entry: Entry): ContextMessage | string | undefined {
  switch (entry.type) {
    case "message":
      return renderMessage(entry.id, entry["message"])
    case "custom_message": {
      const content = blocksOf(entry["content"])
      if (content === undefined) return "its content is not a list of blocks"
      const { customType, display, details } = entry as Fields
      const kept = { customType, display, ...(details === undefined ? {} : { details }) }
      return { entryId: entry.id, kind: "custom", message: { role: CUSTOM_ROLE, content, ...kept } }
    }
    case "branch_summary": {
      const { summary, fromId } = entry as Fields
      if (typeof summary !== "string") return "it has no summary"
      const message: Message = { role: BRANCH_SUMMARY_ROLE, summaryText: summary, fromId }
      return { entryId: entry.id, kind: "branch_summary", message }
    }
    case "compaction": {
      const { summary, tokensBefore, summaryAs } = entry as Fields
      if (typeof summary !== "string") return "it has no summary"
      return compactionMessage(entry.id, summary, { tokensBefore, ...(summaryAs === undefined ? {} : { summaryAs }) })
    }
    default:
      return undefined
  }
}

/** The summary of a compaction as a message. */
export function compactionMessage(entryId: string, summaryText: string, fields: Fields): ContextMessage {
  return { entryId, kind: "compaction", message: { role: COMPACTION_ROLE, summaryText, ...fields } }
}

function renderMessage(entryId: string, stored: unknown): ContextMessage | string {
  if (!isObject(stored) || typeof stored["role"] !== "string") return "it holds no message"
  const message = stored as unknown as Message
  const kind = "message"
  const { content } = message
  if (content !== undefined && content !== null) {
    const blocks = blocksOf(content)
    if (blocks === undefined) return "its content is not a list of blocks"
    return { entryId, kind, message: blocks === content ? message : { ...message, content: blocks } }
  }
  if (MODEL_ROLES.has(message.role)) return "its message has no content"
  // Other programs write null for missing content.
  const { content: _, ...rest } = message
  return { entryId, kind, message: content === undefined ? message : (rest as Message) }
}

/** An edited branch summary or execution becomes a custom message, because their own text is not in `content`. */
function applyEdit({ kind, message }: ContextMessage, edit: Entry | undefined): Message | undefined {
  const content = edit === undefined || kind === "compaction" ? undefined : replacementOf(edit)
  if (content === undefined) return message
  if (content === null) return undefined
  const hasContent = kind !== "branch_summary" && !EXECUTION_ROLES.has(message.role)
  if (hasContent) return { ...message, content }
  return message["excludeFromContext"] === true ? message : { role: CUSTOM_ROLE, content }
}
