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
  const { said: parts, responses } = splitParts(partsOf(record["content"]))
  if (parts.length === 0 && responses.length > 0) return undefined
  const content = parts.map(blockOf)
  const text = (stringOf(parts[0]?.["text"]) ?? "").trimStart()
  const isMade = text.startsWith("<session_context>") || text.startsWith("<hook_context>")
  return { role: "user", content, ...(isMade ? { synthetic: true } : {}) }
}

interface SplitParts {
  /** Each response of a function, and the pictures and files that it gave: most models of Gemini take these behind the response, not in it. */
  readonly responses: readonly (readonly Fields[])[]
  readonly said: readonly Fields[]
}

function splitParts(parts: readonly Fields[]): SplitParts {
  const [responses, said]: [Fields[][], Fields[]] = [[], []]
  let open: Fields[] | undefined
  for (const part of parts) {
    if (isObject(part["functionResponse"])) {
      open = [part]
      responses.push(open)
    } else {
      if (!isObject(part["inlineData"]) && !isObject(part["fileData"])) open = undefined
      ;(open ?? said).push(part)
    }
  }
  return { responses, said }
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
    const id = callIdOf(record, call, i)
    return [resultOf(ownParts(partsOf(result), id), id, stringOf(name), isError)]
  })
}

/** A chat whose list of messages was replaced has the responses of all calls at once in each of them. */
function ownParts(parts: readonly Fields[], id: string): readonly Fields[] {
  const { responses } = splitParts(parts)
  return responses.length > 1 ? (responses.find(([part]) => idOf(part) === id) ?? parts) : parts
}

function idOf(part: Fields | undefined): string | undefined {
  return stringOf(fieldsOf(part?.["functionResponse"])["id"])
}

/** The results in a user's record, each by the id of its call. */
export function responsesOf(record: Fields): readonly { readonly id: string; readonly message: Fields }[] {
  return splitParts(partsOf(record["content"])).responses.flatMap((parts) => {
    const id = idOf(parts[0])
    const name = stringOf(fieldsOf(parts[0]?.["functionResponse"])["name"])
    return id === undefined ? [] : [{ id, message: resultOf(parts, id, name, false) }]
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
