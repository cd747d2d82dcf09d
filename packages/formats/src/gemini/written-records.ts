/** Records of a chat as Gemini CLI writes them: the parts of the Gemini API, and the results of calls in the record of the calls. */
import type { AssistantMessage, ContentBlock, ModelMessage, ToolResultMessage } from "@sessions/core"
import type { Losses } from "../base/losses.ts"
import { lostResult } from "../base/lost.ts"
import { type Fields, fieldsOf, numberOf } from "../base/values.ts"
import { partsOf } from "./messages.ts"
import { functionResponseOf, partsOfBlocks } from "./parts.ts"

export interface GeminiRecord extends Fields {
  readonly id: string
  readonly timestamp: string
}

export class RecordWriter {
  readonly #losses: Losses
  readonly #ids = new Set<string>()
  /** Calls without a result, each in the list of its record. */
  readonly #open = new Map<string, Record<string, unknown>>()

  /** Calls without a result in the records that Gemini CLI wrote. */
  readonly #before: Set<string>

  constructor(losses: Losses, before: Iterable<string> = []) {
    this.#losses = losses
    this.#before = new Set(before)
  }

  /** The record of a message; undefined if nothing is left of it, or it was added to the record of its call. */
  of(message: ModelMessage, id: string, timestamp: string): GeminiRecord | undefined {
    switch (message.role) {
      case "user": {
        const files = (message.attachments ?? []).map((attachment) => ({ ...attachment, type: "file" as const }))
        const content = this.#parts([...message.content, ...files])
        return content.length === 0 ? undefined : { id: this.#newId(id), timestamp, type: "user", content }
      }
      case "assistant":
        return this.#assistant(message, id, timestamp)
      case "toolResult":
        return this.#result(message, id, timestamp)
      case "system":
        this.#losses.add("system", 1, (n) => `${n} system messages are not in the file: Gemini CLI has its own.`)
        return undefined
    }
  }

  #assistant(message: AssistantMessage, wanted: string, timestamp: string): GeminiRecord | undefined {
    const { provider, model, usage } = message
    const toolCalls: Record<string, unknown>[] = []
    const content = message.content.flatMap((block): readonly Fields[] => {
      if (block.type === "thinking") {
        if (provider === "google") return [{ text: block.thinking, thought: true }]
        this.#losses.add("thinking", 1, (n) => `${n} thinking blocks of other providers are not in the file.`)
        return []
      }
      if (block.type !== "toolCall") return this.#parts([block])
      const { id, name, arguments: args } = block
      // The API of Gemini refuses a call without a response.
      const response = { id, name, response: { error: NO_RESULT } }
      const call = { id, name, args, status: "cancelled", result: [{ functionResponse: response }], timestamp }
      toolCalls.push(call)
      this.#open.set(id, call)
      return [{ functionCall: { id, name, args } }]
    })
    if (content.length === 0) return undefined
    const tokens = usage === undefined ? {} : { tokens: tokensOf(usage) }
    const calls = toolCalls.length === 0 ? {} : { toolCalls }
    const named = model === undefined ? {} : { model }
    return { id: this.#newId(wanted), timestamp, type: "gemini", content, thoughts: [], ...tokens, ...named, ...calls }
  }

  #result(message: ToolResultMessage, id: string, timestamp: string): GeminiRecord | undefined {
    const { toolCallId, isError } = message
    const call = this.#open.get(toolCallId)
    const name = message.toolName ?? (call?.["name"] as string | undefined) ?? "unknown"
    const parts = resultParts(message, name, this.#losses)
    if (call === undefined) {
      // Gemini CLI itself has the result of a call that is in an earlier part of the file in a record of the user.
      if (this.#before.delete(toolCallId)) return { id: this.#newId(id), timestamp, type: "user", content: parts }
      lostResult(this.#losses)
      return undefined
    }
    this.#open.delete(toolCallId)
    call["status"] = isError ? "error" : "success"
    call["result"] = parts
    return undefined
  }

  /** Gemini CLI does not send an empty text, nor the answers next to it. */
  #parts(content: readonly ContentBlock[]): readonly Fields[] {
    return partsOfBlocks(content, this.#losses).filter(({ text }) => text !== "")
  }

  #newId(wanted: string): string {
    let id = wanted
    // A record with an earlier id replaces that one.
    for (let n = 2; this.#ids.has(id); n++) id = `${wanted}/${n}`
    this.#ids.add(id)
    return id
  }
}

/** Pictures stand behind the response: Gemini CLI has them in it for those models alone that take them there. */
function resultParts(message: ToolResultMessage, name: string, losses: Losses): readonly Fields[] {
  const { parts, ...functionResponse } = fieldsOf(functionResponseOf(message, name, losses)["functionResponse"])
  return [{ functionResponse }, ...partsOf(parts)]
}

/** As core says it of a call without a result. */
const NO_RESULT = "No result was recorded for this tool call."

/** Cached tokens are part of Gemini's input. */
function tokensOf(usage: unknown): Fields {
  const { input, inputTokens, output, outputTokens, cacheRead, totalTokens } = fieldsOf(usage)
  const cached = numberOf(cacheRead) ?? 0
  const [read, written] = [
    numberOf(input) ?? numberOf(inputTokens) ?? 0,
    numberOf(output) ?? numberOf(outputTokens) ?? 0,
  ]
  const total = numberOf(totalTokens) ?? read + cached + written
  return { input: read + cached, output: written, cached, thoughts: 0, tool: 0, total }
}
