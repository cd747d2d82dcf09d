/** The content of items, as OpenAI's APIs take it: without fields that only others know, and with images and parts that they have. */
import { fittedImages, ITEM_FORMS, PART_FIELDS, RESPONSES_RULES } from "@sessions/providers/rules"
import { isObject } from "./items.ts"

export type Fields = Readonly<Record<string, unknown>>

/** The SDK sends what is in `providerData` beside what it knows, and parts that it does not know it throws at. The same item if all of it is taken. */
export function takenItem(item: Fields, api: "responses" | "chat_completions"): Fields {
  const { type, role } = item
  const isSaid = (type === undefined || type === "message") && role !== "assistant"
  if (api === "chat_completions") {
    if (isSaid) return withParts(item, "content", takenImage)
    if (type === "function_call_result") return withParts(item, "output", takenImage)
    return role === "assistant" ? withParts(item, "content", withoutMessage) : item
  }
  if (type === "reasoning") return withKnown(item, ITEM_FORMS["reasoning"]?.fields ?? [])
  if (type === "function_call") return withKnown(item, ITEM_FORMS["function_call"]?.fields ?? [])
  if (type === "function_call_result") return withParts(item, "output", takenInput)
  if (isSaid) return withParts(item, "content", takenInput)
  if (role !== "assistant") return item
  return withParts(withKnown(item, ITEM_FORMS["message"]?.fields ?? []), "content", takenOutput)
}

/** Without what the API does not have of what a provider gave. The SDK writes its fields in camel case, too. */
function withKnown(holder: Fields, keys: readonly string[]): Fields {
  const data = holder["providerData"]
  if (!isObject(data)) return holder
  const known = Object.entries(data).filter(
    ([key]) => keys.includes(key) || keys.includes(key.replaceAll(/[A-Z]/g, "_$&").toLowerCase()),
  )
  return known.length === Object.keys(data).length ? holder : { ...holder, providerData: Object.fromEntries(known) }
}

function withParts(item: Fields, key: "content" | "output", taken: (part: Fields) => Fields): Fields {
  const value = item[key]
  if (!Array.isArray(value)) return isObject(value) ? changed(item, key, value, taken(value)) : item
  const parts = (value as readonly unknown[]).map((part) => (isObject(part) ? taken(part) : part))
  return parts.every((part, i) => part === (value as readonly unknown[])[i]) ? item : { ...item, [key]: parts }
}

function changed(item: Fields, key: string, before: unknown, after: unknown): Fields {
  return before === after ? item : { ...item, [key]: after }
}

/** The SDK keeps the fields of a message of Chat Completions, and those of a text of Responses, in the part, and sends them in the part. */
function withoutMessage(part: Fields): Fields {
  const { type, providerData: data } = part
  // What the SDK makes of audio has no content, and ends after an hour.
  if (type !== "output_text" && type !== "refusal") return takenOutput(part)
  if (!isObject(data)) return part
  return withKnown(
    part,
    Object.keys(data).filter((key) => !OF_MESSAGES.has(key)),
  )
}

const OF_MESSAGES: ReadonlySet<string> = new Set(
  "role refusal annotations logprobs audio tool_calls function_call reasoning reasoning_content reasoning_details".split(
    " ",
  ),
)

/** Of the parts of a text beside the text itself. */
const OF_TEXTS = PART_FIELDS.filter((key) => key !== "refusal")

function takenOutput(part: Fields): Fields {
  const { type, providerData } = part
  if (type === "output_text") return withKnown(part, OF_TEXTS)
  if (type === "refusal") return withKnown(part, [])
  const { transcript } = isObject(providerData) ? providerData : ({} as Fields)
  return { type: "output_text", text: typeof transcript === "string" ? transcript : `[${String(type)}]` }
}

const INPUTS: ReadonlySet<unknown> = new Set(["input_text", "input_image", "input_file", "text", "image", "file"])

function takenInput(part: Fields): Fields {
  const { type } = part
  return INPUTS.has(type) ? takenImage(part) : { type: "input_text", text: `[${String(type)}]` }
}

function takenImage(part: Fields): Fields {
  const { type, image } = part
  const url = isObject(image) ? `data:${String(image["mediaType"])};base64,${String(image["data"])}` : image
  const [, mimeType, data] = /^data:([^;,]*)[^,]*;base64,([^]*)$/.exec(String(url)) ?? []
  if (mimeType === undefined || data === undefined || (isObject(image) && typeof image["data"] !== "string"))
    return part
  const [fitted] = fittedImages([{ type: "image", mimeType, data }], RESPONSES_RULES)
  if (fitted?.block.type === "image") {
    const sent = `data:${fitted.block.mimeType};base64,${fitted.block.data}`
    return sent === url ? part : { ...part, image: sent }
  }
  const text = fitted?.block.type === "text" ? fitted.block.text : ""
  return type === "image" ? { type: "text", text } : { type: "input_text", text }
}
