/** Makes the messages of a history. Each begins with a mark, by which the judge finds it in requests. */
import type { AssistantMessage, ContentBlock, ModelMessage, ToolResultMessage, UserMessage } from "@sessions/core"
import type { Dice } from "../dice.ts"
import type { Op } from "./history.ts"
import { type Kind, KINDS, linesOf, textOf } from "./texts.ts"
import { between } from "./tokenizers.ts"

export const markOf = (n: number): string => `[m${n}]`
/** The marks of the messages that a text has, in their order. */
export function marksIn(text: string): number[] {
  const marks: number[] = []
  for (let at = text.indexOf("[m"); at >= 0; at = text.indexOf("[m", at + 2)) {
    const end = text.indexOf("]", at)
    const n = text.slice(at + 2, end)
    if (/^\d+$/.test(n)) marks.push(Number(n))
  }
  return marks
}

export interface Answer {
  readonly kind: Kind
  /** By the rule of thumb. */
  readonly size: number
  readonly calls: number
  /** A block of a type that only the provider knows, as its own search leaves it. */
  readonly server: boolean
}

const BASE64 = linesOf("base64").join("").repeat(20)

export function question(dice: Dice, op: Op, n: number): UserMessage {
  const isShort = op.op === "tools" || op.op === "server" || op.op === "images"
  const content = [...texts(dice, op.kind, isShort ? Math.min(op.size, 60) : op.size, n)]
  if (op.op === "images")
    for (let i = 0; i < op.images; i++)
      content.push({
        type: "image",
        data: BASE64.slice(dice.below(100), 1_000 + dice.below(17_000)),
        mimeType: "image/png",
      })
  return { role: "user", content }
}

export function result(dice: Dice, op: Op, n: number, toolCallId: string): ToolResultMessage {
  const kind = dice.chance(0.8) ? op.kind : dice.pick(KINDS)
  const content = texts(dice, kind, Math.ceil(op.size * between(dice, 0.1, 2)), n)
  return { role: "toolResult", toolCallId, toolName: "read", content, isError: false }
}

/** Another message of a user: of a group, typed during a refusal, or of another writer. */
export function remark(text: string, n: number): UserMessage {
  return { role: "user", content: [{ type: "text", text: `${markOf(n)}\n${text}` }] }
}

export function answer(dice: Dice, { kind, size, calls, server }: Answer, n: number): AssistantMessage {
  const content: ContentBlock[] = [{ type: "text", text: `${markOf(n)}\n${textOf(dice, kind, Math.min(size, 400))}` }]
  if (server) content.push({ type: "judge:search", found: textOf(dice, "minified", size) })
  for (let i = 0; i < calls; i++)
    content.push({
      type: "toolCall",
      id: `c${n}_${i}`,
      name: "read",
      arguments: { path: `src/part-${dice.below(3)}.ts`, why: textOf(dice, "english", 10) },
    })
  return { role: "assistant", content, stopReason: calls > 0 ? "toolUse" : "stop" }
}

/** A quarter of the texts is of two kinds. */
function texts(dice: Dice, kind: Kind, size: number, n: number): ContentBlock[] {
  if (dice.chance(0.75)) return [{ type: "text", text: `${markOf(n)}\n${textOf(dice, kind, size)}` }]
  const halves = textOf(dice, kind, size / 2)
  return [{ type: "text", text: `${markOf(n)}\n${halves}\n${textOf(dice, dice.pick(KINDS), size / 2)}` }]
}

/** The text of a message as a provider reads it, by block. */
export function textsIn({ content }: ModelMessage): string[] {
  return content.flatMap((block) => {
    if (block.type === "text") return [block.text]
    if (block.type === "thinking") return [block.thinking]
    if (block.type === "image") return []
    if (block.type === "toolCall") return [block.name, JSON.stringify(block.arguments)]
    return [JSON.stringify(block)]
  })
}

export function imagesIn({ content }: ModelMessage): string[] {
  return content.flatMap((block) => (block.type === "image" ? [block.data] : []))
}
