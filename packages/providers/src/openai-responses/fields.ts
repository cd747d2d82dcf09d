/** An item of an answer as the API takes it back: with an id that it knows, once, and without fields that only answers have. */
import { type Fields, fieldsOf } from "@sessions/formats/messages/values"
import type { Lost } from "../shared/lost.ts"
import { ANSWER_ONLY, ID_OPTIONAL, ITEM_FORMS, ITEM_ID, PART_FIELDS, SEARCH_ACTIONS } from "./rules.ts"

export interface ItemReceiver {
  /** The name of the provider in the log. Only OpenAI is known to refuse other ids and fields than its own. */
  readonly provider: string | undefined
  /** The ids of the items so far. */
  readonly ids: Set<unknown>
  readonly lost: Lost
}

/** Undefined if the API does not take the item at all. `mayChange`: it may go without its id, if its type may. */
export function sentItem(item: Fields, mayChange: boolean, entryId: string, to: ItemReceiver): Fields | undefined {
  const { provider, ids, lost } = to
  const sent = knownFields(withoutAnswerOnly(item), provider)
  const { type, id } = sent
  const refused =
    refusal(sent, provider) ?? (id !== undefined && ids.has(id) ? "its id is that of an item before it" : undefined)
  if (refused === undefined) {
    if (id !== undefined) ids.add(id)
    return sent
  }
  if (mayChange && ID_OPTIONAL.has(type)) return withoutId(sent)
  lost.add(type === "reasoning" ? "thinking" : "hosted_calls", entryId, 1, refused)
  return undefined
}

/** Why OpenAI refuses the item with its id. */
function refusal({ type, id, action }: Fields, provider: string | undefined): string | undefined {
  if (provider !== "openai") return undefined
  if (type === "web_search_call" && action !== undefined && !SEARCH_ACTIONS.has(fieldsOf(action)["type"]))
    return "OpenAI does not take what the search did"
  if (id === undefined) return ID_OPTIONAL.has(type) ? undefined : "it has no id"
  return isItemId(String(type), id) ? undefined : "its id is none of OpenAI's"
}

/** Whether OpenAI takes this id of an item of this type. */
export function isItemId(type: string, id: unknown): boolean {
  const { prefix = "" } = ITEM_FORMS[type] ?? {}
  return typeof id === "string" && ITEM_ID.test(id) && id.startsWith(prefix)
}

function knownFields(item: Fields, provider: string | undefined): Fields {
  const form = ITEM_FORMS[String(item["type"])]
  return form === undefined || provider !== "openai" ? item : only(item, form.fields)
}

/** The part of a text. */
export function sentPart(part: Fields, provider: string | undefined): Fields {
  const known = withoutAnswerOnly(part)
  return provider === "openai" ? only(known, PART_FIELDS) : known
}

function only(item: Fields, keys: readonly string[]): Fields {
  if (Object.keys(item).every((key) => keys.includes(key))) return item
  return Object.fromEntries(Object.entries(item).filter(([key]) => keys.includes(key)))
}

function withoutAnswerOnly(item: Fields): Fields {
  const { action } = item
  const isPlain = !Object.keys(item).some((key) => ANSWER_ONLY.has(key))
  if (isPlain && !Object.keys(fieldsOf(action)).some((key) => ANSWER_ONLY.has(key))) return item
  const kept = Object.entries(item).filter(([key]) => !ANSWER_ONLY.has(key))
  return Object.fromEntries(
    kept.map(([key, value]) => [key, key === "action" ? withoutAnswerOnly(fieldsOf(value)) : value]),
  )
}

export function withoutId(item: Fields): Fields {
  const { id: _, ...rest } = item
  if (item["type"] !== "message") return rest
  // A message without an id is one of the program's, which has no status.
  const { status: __, ...message } = rest
  return message
}
