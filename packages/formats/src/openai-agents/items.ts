/** Items of the OpenAI Agents SDK as items of the Responses API, and back. Its types are in `protocol` of `@openai/agents-core`. */
import type { Losses } from "../base/losses.ts"
import { type Fields, fieldsOf, isObject, stringOf } from "../base/values.ts"

export function responsesItem(item: Fields): Fields {
  const { type, callId, output, content } = item
  switch (type) {
    case "function_call":
      return { ...item, call_id: callId }
    case "function_call_result":
      return { type: "function_call_output", call_id: callId, output: outputOf(output, item["status"]) }
    case "reasoning":
      return {
        type,
        summary: content,
        encrypted_content: fieldsOf(item["providerData"])["encrypted_content"],
      }
    default:
      return Array.isArray(content) ? { ...item, content: content.map(responsesPart) } : item
  }
}

/** An output is a text, a part, or parts. */
function outputOf(output: unknown, status: unknown): unknown {
  const parts = isObject(output) ? [output] : output
  const content = Array.isArray(parts) ? parts.map(responsesPart) : parts
  return status === "incomplete" ? { content, success: false } : content
}

function responsesPart(part: unknown): unknown {
  const { type, image } = fieldsOf(part)
  if (type === "image" || type === "input_image") {
    const url = stringOf(image)
    return url === undefined ? { ...fieldsOf(part), type: "input_image" } : { type: "input_image", image_url: url }
  }
  if (type === "file") return { ...fieldsOf(part), type: "input_file" }
  return part
}

/** `toolNames`: by the ids of calls, since a result has the name of its tool. */
export function agentsItems(
  items: readonly Fields[],
  toolNames: ReadonlyMap<string, string>,
  losses: Losses,
): readonly Fields[] {
  return items.map((item) => {
    switch (item["type"]) {
      case "message":
        return messageItem(item, losses)
      case "function_call": {
        const { type, call_id: callId, name, arguments: args } = item
        return { type, callId, name, status: "completed", arguments: args }
      }
      case "function_call_output": {
        const { call_id: callId, output } = item
        const name = toolNames.get(String(callId)) ?? "unknown"
        return { type: "function_call_result", callId, name, status: "completed", output: partsOf(output) }
      }
      default: {
        const { type, summary, encrypted_content: encrypted } = item
        const content = (summary as readonly Fields[]).map(({ text }) => ({ type: "input_text", text }))
        return { type, content, providerData: { encrypted_content: encrypted } }
      }
    }
  })
}

function messageItem({ role, content }: Fields, losses: Losses): Fields {
  if (role === "assistant") {
    const parts = typeof content === "string" ? [{ type: "output_text", text: content }] : content
    return { type: "message", role, status: "completed", content: parts }
  }
  if (role === "user") return { type: "message", role, content: partsOf(content) }
  return { type: "message", role: "system", content: textOf(content, losses) }
}

function partsOf(content: unknown): unknown {
  return Array.isArray(content) ? content.map(agentsPart) : content
}

function agentsPart(part: Fields): Fields {
  const { type, image_url: image } = part
  return type === "input_image" && image !== undefined ? { type, image } : part
}

/** A system message is a text. */
function textOf(content: unknown, losses: Losses): string {
  if (typeof content === "string") return content
  const texts = (content as readonly Fields[]).flatMap(({ text }) => stringOf(text) ?? [])
  const others = (content as readonly Fields[]).length - texts.length
  losses.add("images", others, (n) => `${n} images of system messages are not in the file.`)
  return texts.join("\n")
}
