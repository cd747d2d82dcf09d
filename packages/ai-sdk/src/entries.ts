/**
 * A UI message as entries of a log. A step of an answer is an assistant message, behind it the results of its tools. The field `ui` of an
 * entry says which parts of which UI message it has:
 *
 * - `{id, role, from, parts, blocks}`: a step. `from` is the index of its first part; `blocks` maps the places of its parts to blocks of the
 *   content, whose text they have. The first step has the `metadata` of the message, and in `fields` its other keys.
 * - `{id, of, set, field}`: the result of the tool part with this index, with the fields that the result changes.
 *
 * A `custom` entry `ai-sdk:update` changes fields of parts and of the message, and the metadata, that are no content of the conversation.
 */
import type { ContentBlock, NewEntry, NewMessage } from "@sessions/core"
import { type Change, changeBetween, type Fields } from "./json.ts"
import { isFinished, lift, type Part, type ResultField, resultOf, toolName, withoutResult } from "./parts.ts"
import type { ChatMessage } from "./types.ts"

export const UPDATE = "ai-sdk:update"

export interface StepFields {
  readonly id: string
  readonly role: ChatMessage["role"]
  readonly from: number
  readonly parts: readonly Part[]
  readonly blocks?: Readonly<Record<string, number>>
  readonly metadata?: unknown
  readonly fields?: Fields
}

export interface ResultFields {
  readonly id: string
  readonly of: number
  readonly set: Fields
  readonly field?: ResultField
}

export interface UpdateData {
  readonly id: string
  readonly parts?: Readonly<Record<string, Change>>
  /** `{}` removes it. */
  readonly metadata?: { readonly value?: unknown }
  readonly fields?: Change
}

/** An entry to append, for a step or a result. */
export interface Draft {
  readonly type: "message"
  readonly message: NewMessage
  readonly ui: StepFields | ResultFields
  readonly [key: string]: unknown
}

/** The entries of a message that has parts. */
export function draftsOf(message: ChatMessage): Draft[] {
  const { id, role, metadata, parts } = message
  const fields = fieldsOf(message)
  const whole = {
    ...(metadata === undefined ? {} : { metadata }),
    ...(Object.keys(fields).length === 0 ? {} : { fields }),
  }
  const drafts: Draft[] = []
  for (const { from, parts: step } of stepsOf(parts)) {
    drafts.push(stepDraft({ id, role, from, ...(from === 0 ? whole : {}) }, step))
    for (const [index, part] of step.entries()) if (isFinished(part)) drafts.push(resultDraft(id, from + index, part))
  }
  return drafts
}

/** The keys of a message that the AI SDK does not know. */
export function fieldsOf({ id: _id, role: _role, metadata: _metadata, parts: _parts, ...fields }: ChatMessage): Fields {
  return fields
}

interface Step {
  readonly from: number
  readonly parts: Part[]
}

/** A step begins with a `step-start`. A message of the user in the middle of an answer is one of its own. */
function stepsOf(parts: readonly Part[]): readonly Step[] {
  const steps: Step[] = []
  let isOpen = false
  for (const [from, part] of parts.entries()) {
    const last = steps.at(-1)
    const isSteering = part.type === "steering-message"
    if (last === undefined || !isOpen || isSteering || part.type === "step-start") steps.push({ from, parts: [part] })
    else last.parts.push(part)
    isOpen = !isSteering
  }
  return steps
}

function stepDraft(place: Omit<StepFields, "parts" | "blocks">, step: readonly Part[]): Draft {
  const [first] = step
  if (first?.type === "steering-message" && Array.isArray(first["parts"])) {
    const content = contentOf(first["parts"] as Part[]).content
    return { type: "message", message: { role: "user", content }, ui: { ...place, parts: step } }
  }
  const { content, parts, blocks } = contentOf(step.map((part) => (isFinished(part) ? withoutResult(part) : part)))
  return {
    type: "message",
    message: { role: place.role, content },
    ui: { ...place, parts, ...(Object.keys(blocks).length === 0 ? {} : { blocks }) },
  }
}

function contentOf(step: readonly Part[]): { content: ContentBlock[]; parts: Part[]; blocks: Record<string, number> } {
  const content: ContentBlock[] = []
  const blocks: Record<string, number> = {}
  const parts = step.map((whole, index) => {
    const { part, block, isLifted } = lift(whole)
    if (isLifted) blocks[String(index)] = content.length
    if (block !== undefined) content.push(block)
    return part
  })
  return { content, parts, blocks }
}

export function resultDraft(id: string, of: number, part: Part): Draft {
  const { text, isError, field } = resultOf(part)
  const lifted = field === "outputJson" ? "output" : field
  const set = Object.entries(changeBetween(withoutResult(part), part).set ?? {}).filter(([key]) => key !== lifted)
  return {
    type: "message",
    message: {
      role: "toolResult",
      toolCallId: part["toolCallId"] as string,
      toolName: toolName(part),
      content: [{ type: "text", text }],
      isError,
    },
    ui: { id, of, set: Object.fromEntries(set), ...(field === undefined ? {} : { field }) },
  }
}

export function updateEntry(data: UpdateData): NewEntry {
  return { type: "custom", customType: UPDATE, data }
}
