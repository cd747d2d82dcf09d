/** Reads UI messages from the entries of a path. Entries that are not from this package, or are damaged, are left out. */
import type { ContentBlock, Entry } from "@sessions/core"
import { type ResultFields, type StepFields, UPDATE, type UpdateData } from "./entries.ts"
import { applyChange, type Change, type Fields, isObject } from "./json.ts"
import { type Part, restore, RESULT_FIELDS, resultFields, type ResultField } from "./parts.ts"
import type { ChatMessage } from "./types.ts"

/** The fields of an entry that are read; the drafts of a message have it too. */
export type Readable = Pick<Entry, "type"> & { readonly ui?: unknown; readonly [key: string]: unknown }

/** A message with its entries in order. */
export interface StoredMessage<E extends Readable> {
  readonly message: ChatMessage
  readonly entries: readonly E[]
  /** Index of its first entry in the list that was read. */
  readonly start: number
}

/** Names the same step or result in an entry and in a draft. */
export function keyOf({ ui }: Readable): string | undefined {
  if (isStep(ui)) return `step ${ui.from}`
  return isResult(ui) ? `result ${ui.of}` : undefined
}

/** In the order of the first entries of the messages. An id that comes again begins another message, which later entries belong to. */
export function readMessages<E extends Readable>(path: readonly E[]): readonly StoredMessage<E>[] {
  const list: Reading<E>[] = []
  const byId = new Map<string, Reading<E>>()
  for (const [start, entry] of path.entries()) {
    const content = chatContentOf(entry)
    if (content === undefined) continue
    if (content.kind === "step" && content.fields.from === 0) {
      const { id, role, metadata, fields } = content.fields
      const parts = partsOf(entry, content.fields)
      const reading = {
        message: { ...fields, id, role, ...(metadata === undefined ? {} : { metadata }), parts },
        entries: [entry],
        start,
      }
      list.push(reading)
      byId.set(id, reading)
      continue
    }
    const reading = byId.get(content.fields.id)
    if (reading !== undefined && addTo(reading, entry, content)) reading.entries.push(entry)
  }
  return list
}

interface Reading<E> {
  message: ChatMessage
  readonly entries: E[]
  readonly start: number
}

/** The fields of a message that an entry of this package has. */
type ChatContent =
  | { readonly kind: "step"; readonly fields: StepFields }
  | { readonly kind: "result"; readonly fields: ResultFields }
  | { readonly kind: "update"; readonly fields: UpdateData }

/** Undefined for every other entry. A message may have the id `""`, so no id can stand for such an entry. */
function chatContentOf({ type, ui, ...entry }: Readable): ChatContent | undefined {
  if (type === "message") {
    if (isStep(ui)) return { kind: "step", fields: ui }
    return isResult(ui) ? { kind: "result", fields: ui } : undefined
  }
  const { customType, data } = entry
  return type === "custom" && customType === UPDATE && isUpdate(data) ? { kind: "update", fields: data } : undefined
}

/** Returns whether the entry belongs to the message as it is so far. */
function addTo(reading: Reading<unknown>, entry: Readable, content: ChatContent): boolean {
  const { message } = reading
  const { id, role, parts } = message
  if (content.kind === "step") {
    if (content.fields.from !== parts.length) return false
    parts.push(...partsOf(entry, content.fields))
    return true
  }
  if (content.kind === "result") return changePart(parts, content.fields.of, resultChange(entry, content.fields))
  const { parts: changes = {}, metadata, fields } = content.fields
  for (const [index, change] of Object.entries(changes)) changePart(parts, Number(index), change)
  if (metadata?.value !== undefined) message.metadata = metadata.value
  else if (metadata !== undefined) delete message.metadata
  if (fields !== undefined) reading.message = { ...applyChange(message, fields), id, role, parts }
  return true
}

function changePart(parts: ChatMessage["parts"], index: number, change: Change): boolean {
  const part = parts[index]
  if (part === undefined) return false
  parts[index] = applyChange(part, change)
  return true
}

function resultChange(entry: Readable, { set, field }: ResultFields): Change {
  const [block] = contentOf(entry)
  const text = block?.type === "text" ? block.text : ""
  return { unset: RESULT_FIELDS, set: { ...set, ...resultFields(text, field) } }
}

function partsOf(entry: Readable, { parts, blocks = {} }: StepFields): Part[] {
  const content = contentOf(entry)
  return parts.map((part, index) => {
    const block = content[blocks[String(index)] ?? -1]
    return block === undefined ? part : restore(part, block)
  })
}

function contentOf({ message }: Readable): readonly ContentBlock[] {
  const content = isObject(message) ? message["content"] : undefined
  return Array.isArray(content) ? (content as readonly ContentBlock[]) : []
}

function isStep(ui: unknown): ui is StepFields {
  return (
    isOf(ui, "from") &&
    (ui["role"] === "user" || ui["role"] === "assistant" || ui["role"] === "system") &&
    Array.isArray(ui["parts"]) &&
    ui["parts"].every((part) => isObject(part) && typeof part["type"] === "string") &&
    (ui["blocks"] === undefined || isObject(ui["blocks"])) &&
    (ui["fields"] === undefined || isObject(ui["fields"]))
  )
}

export function isResult(ui: unknown): ui is ResultFields & { readonly field?: ResultField } {
  return isOf(ui, "of") && isObject(ui["set"])
}

function isUpdate(data: unknown): data is UpdateData {
  if (!isObject(data) || typeof data["id"] !== "string") return false
  const { parts, metadata, fields } = data
  return (
    (parts === undefined || (isObject(parts) && Object.values(parts).every(isObject))) &&
    (metadata === undefined || isObject(metadata)) &&
    (fields === undefined || isObject(fields))
  )
}

function isOf(ui: unknown, place: "from" | "of"): ui is Fields & { readonly id: string } {
  return isObject(ui) && typeof ui["id"] === "string" && Number.isSafeInteger(ui[place])
}
