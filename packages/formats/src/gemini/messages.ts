/** Messages of a record: parts of the Gemini API, or the fields in which older versions keep thoughts and calls. */
import type { ContentBlock } from "@sessions/core"
import {
  argumentsOf,
  type Fields,
  fieldsOf,
  idTextOf,
  isObject,
  jsonOf,
  numberOf,
  stringOf,
  textBlock,
} from "../base/values.ts"

/** The parts of a content, which may be a text, a part, or a list of both. */
export function partsOf(content: unknown): readonly Fields[] {
  if (content === undefined || content === null || content === "") return []
  if (Array.isArray(content)) return partsOfList(content)
  if (typeof content === "string") return [{ text: content }]
  return isObject(content) ? [content] : [{ value: content }]
}

/** Lists may be nested deeper than the stack. */
function partsOfList(list: readonly unknown[]): readonly Fields[] {
  const parts: Fields[] = []
  const open = [list.values()]
  for (let values = open.at(-1); values !== undefined; values = open.at(-1)) {
    const { done, value } = values.next()
    if (done === true) open.pop()
    else if (Array.isArray(value)) open.push((value as readonly unknown[]).values())
    else parts.push(...partsOf(value))
  }
  return parts
}

/** A user's message; undefined if the record holds only responses of functions. */
export function userMessage(record: Fields): Fields | undefined {
  const parts = partsOf(record["content"]).filter((part) => !isObject(part["functionResponse"]))
  if (parts.length === 0 && partsOf(record["content"]).length > 0) return undefined
  const content = parts.map(blockOf)
  const text = (stringOf(parts[0]?.["text"]) ?? "").trimStart()
  const isMade = text.startsWith("<session_context>") || text.startsWith("<hook_context>")
  return { role: "user", content, ...(isMade ? { synthetic: true } : {}) }
}

export function blockOf(part: Fields): ContentBlock {
  if (typeof part["text"] === "string") return textBlock(part["text"])
  const { mimeType, data } = fieldsOf(part["inlineData"])
  if (typeof mimeType === "string" && mimeType.startsWith("image/") && typeof data === "string") {
    return { type: "image", mimeType, data }
  }
  return { type: "gemini:part", part }
}

export function assistantMessage(record: Fields): Fields {
  const parts = partsOf(record["content"])
  const calls = toolCallsOf(record)
  const isComplete = parts.some((part) => isObject(part["functionCall"]) || part["thought"] === true)
  const content = isComplete
    ? partBlocks(parts, record, calls)
    : [
        ...thoughtsOf(record),
        ...parts.map(blockOf),
        ...calls.map((call, i) => callBlock(call, callIdOf(record, call, i))),
      ]
  const model = stringOf(record["model"])
  const usage = usageOf(record["tokens"])
  return {
    role: "assistant",
    content,
    ...(model === undefined ? {} : { provider: "google", model }),
    ...(usage === undefined ? {} : { usage }),
  }
}

/** Calls in parts need no id: theirs is that of the record's call at the same place. */
function partBlocks(parts: readonly Fields[], record: Fields, calls: readonly Fields[]): readonly ContentBlock[] {
  let count = 0
  return parts.map((part) => {
    const call = part["functionCall"]
    if (isObject(call)) {
      const i = count++
      return callBlock(call, stringOf(call["id"]) ?? callIdOf(record, calls[i] ?? {}, i))
    }
    if (part["thought"] === true && typeof part["text"] === "string")
      return { type: "thinking", thinking: part["text"] }
    return blockOf(part)
  })
}

function thoughtsOf({ thoughts }: Fields): readonly ContentBlock[] {
  if (!Array.isArray(thoughts)) return []
  return (thoughts as readonly unknown[]).map((thought) => {
    const { subject, description } = fieldsOf(thought)
    const text = stringOf(description) ?? ""
    return {
      type: "thinking",
      thinking: typeof subject === "string" && subject !== "" ? `**${subject}** ${text}` : text,
    }
  })
}

export function toolCallsOf({ toolCalls }: Fields): readonly Fields[] {
  return Array.isArray(toolCalls) ? (toolCalls as readonly unknown[]).filter(isObject) : []
}

function callIdOf(record: Fields, call: Fields, i: number): string {
  return stringOf(call["id"]) ?? `${idTextOf(record["id"])}:call-${i + 1}`
}

export function callBlock({ name, args }: Fields, id: string): ContentBlock {
  return { type: "toolCall", id, name: stringOf(name) ?? "unknown", arguments: argumentsOf(args ?? {}) }
}

/** The results of a record's calls, in their order. */
export function toolResults(record: Fields): readonly Fields[] {
  return toolCallsOf(record).flatMap((call, i) => {
    const { result, status, name } = call
    if (result === undefined || result === null) return []
    const isError = typeof status === "string" && status !== "success"
    return [resultOf(partsOf(result), callIdOf(record, call, i), stringOf(name), isError)]
  })
}

/** The results in a user's record, each by the id of its call. */
export function responsesOf(record: Fields): readonly { readonly id: string; readonly message: Fields }[] {
  return partsOf(record["content"]).flatMap((part) => {
    const response = fieldsOf(part["functionResponse"])
    const id = stringOf(response["id"])
    return id === undefined ? [] : [{ id, message: resultOf([part], id, stringOf(response["name"]), false) }]
  })
}

/** The result of a call from its parts, most of which are responses of functions. */
export function resultOf(parts: readonly Fields[], id: string, name: string | undefined, isError: boolean): Fields {
  const content = parts.flatMap((part) => {
    const { response, parts: more } = fieldsOf(part["functionResponse"])
    return isObject(response) ? [textBlock(textOfResponse(response)), ...partsOf(more).map(blockOf)] : [blockOf(part)]
  })
  const failed = parts.some((part) => fieldsOf(fieldsOf(part["functionResponse"])["response"])["error"] !== undefined)
  const toolName = name === undefined ? {} : { toolName: name }
  return { role: "toolResult", toolCallId: id, ...toolName, isError: isError || failed, content }
}

function textOfResponse(response: Fields): string {
  const { output, error } = response
  if (Object.keys(response).length === 1) {
    if (typeof output === "string") return output
    if (typeof error === "string") return error
  }
  return jsonOf(response)
}

/** Thoughts are not part of Gemini's output tokens, cached tokens are part of its input. */
function usageOf(tokens: unknown): Fields | undefined {
  if (!isObject(tokens)) return undefined
  const count = (name: string): number => numberOf(tokens[name]) ?? 0
  return {
    input: Math.max(0, count("input") + count("tool") - count("cached")),
    output: count("output") + count("thoughts"),
    cacheRead: count("cached"),
    totalTokens: count("total"),
  }
}
