/** Messages of a line: its `message` is a content of the Gemini API, whichever API the model has. */
import type { ContentBlock } from "@sessions/core"
import type { JsonLine } from "../base/json-lines.ts"
import { type Fields, fieldsOf, isObject, numberOf, stringOf } from "../base/values.ts"
import { blockOf, callBlock, resultOf } from "../gemini/messages.ts"

/** One record of the lines of a message: its parts are those of all of them, and the last one knows the usage. */
export function joined(lines: readonly JsonLine[]): Fields {
  const [first, ...more] = lines.map(({ value }) => value)
  if (first === undefined || more.length === 0) return first ?? {}
  const { role } = fieldsOf(first["message"])
  const parts = lines.flatMap(({ value }) => partsOf(value["message"]))
  const last = (name: string): unknown => lines.findLast(({ value }) => value[name] !== undefined)?.value[name]
  return {
    ...first,
    message: { role, parts },
    usageMetadata: last("usageMetadata"),
    model: first["model"] ?? last("model"),
  }
}

/** The objects among the parts of a content. */
export function partsOf(content: unknown): readonly Fields[] {
  const { parts } = fieldsOf(content)
  return Array.isArray(parts) ? (parts as readonly unknown[]).filter(isObject) : []
}

/** The messages of contents that one line has; none if it has no parts. `id`: of the line, from which calls without an id get theirs. */
export function messagesOf(record: Fields, id: string, toolNames: Map<string, string>): readonly Fields[] {
  const parts = partsOf(record["message"])
  if (record["type"] === "assistant" || fieldsOf(record["message"])["role"] === "model")
    return [assistantMessage(record, parts, id, toolNames)]
  const results = parts.flatMap((part) => resultsOf(part, record, toolNames))
  const said = parts.filter((part) => !isObject(part["functionResponse"]))
  const user = { role: "user", content: said.map(blockOf), ...(isTyped(record) ? {} : { synthetic: true }) }
  return said.length === 0 ? results : [...results, user]
}

/** A person typed it: it has no subtype, or one of a prompt that came while the agent worked. */
function isTyped({ type, subtype, provenance }: Fields): boolean {
  if (subtype === "mid_turn_user_message") return true
  return type !== "tool_result" && subtype === undefined && (provenance === undefined || provenance === "real_user")
}

function assistantMessage(
  { model, usageMetadata }: Fields,
  parts: readonly Fields[],
  id: string,
  toolNames: Map<string, string>,
): Fields {
  let count = 0
  const content = parts.map((part): ContentBlock => {
    const { functionCall: call, thought, text, thoughtSignature: signature } = part
    if (isObject(call)) {
      const callId = stringOf(call["id"]) ?? `${id}:call-${++count}`
      toolNames.set(callId, stringOf(call["name"]) ?? "unknown")
      return callBlock(call, callId)
    }
    if (thought !== true || typeof text !== "string") return blockOf(part)
    return { type: "thinking", thinking: text, ...(typeof signature === "string" ? { signature } : {}) }
  })
  const usage = usageOf(usageMetadata)
  return {
    role: "assistant",
    content,
    ...(typeof model === "string" ? { model } : {}),
    ...(usage === undefined ? {} : { usage }),
  }
}

function resultsOf(
  part: Fields,
  { toolCallResult }: Fields,
  toolNames: ReadonlyMap<string, string>,
): readonly Fields[] {
  const response = part["functionResponse"]
  if (!isObject(response)) return []
  const { callId, status } = fieldsOf(toolCallResult)
  const id = stringOf(response["id"]) ?? stringOf(callId)
  if (id === undefined) return []
  const isError = typeof status === "string" && status !== "success"
  return [resultOf([part], id, stringOf(response["name"]) ?? toolNames.get(id), isError)]
}

/** Cached tokens are part of the prompt's. APIs differ in whether thoughts are part of the candidates' tokens; the total has all. */
function usageOf(usage: unknown): Fields | undefined {
  if (!isObject(usage)) return undefined
  const count = (name: string): number => numberOf(usage[name]) ?? 0
  const [prompt, cacheRead, total] = [
    count("promptTokenCount"),
    count("cachedContentTokenCount"),
    count("totalTokenCount"),
  ]
  const output = total > prompt ? total - prompt : count("candidatesTokenCount")
  return { input: Math.max(0, prompt - cacheRead), output, cacheRead, totalTokens: total }
}
