/** A stand-in for a model, so the example needs no network. It has scripted answers to three questions. */
import { type AssistantMessage, estimateMessages, type ModelMessage } from "@sessions/core"
import type { Model } from "./agent.ts"
import { textOf } from "./text.ts"

export const FIRST_PROMPT = "What is in this folder?"
export const SECOND_PROMPT = "Charge 5 for the tour."
export const RESUMED_PROMPT = "Where did we stop?"

export const standInModel: Model = async (messages) => {
  const asked = messages.findLastIndex((message) => message.role === "user")
  const question = messages[asked]
  const results = messages.slice(asked + 1).filter((message) => message.role === "toolResult" && !message.isError)
  const step = next(
    question === undefined ? "" : textOf(question),
    results.map(textOf),
    messages.slice(0, Math.max(0, asked)),
  )
  const content = typeof step === "string" ? [{ type: "text" as const, text: step }] : step.map(toCall)
  const input = estimateMessages(messages)
  const reply = { role: "assistant", content, provider: "stand-in", model: "scripted-1" } as const
  return {
    ...reply,
    usage: { input, output: estimateMessages([reply]) },
    stopReason: typeof step === "string" ? "stop" : "toolUse",
  }
}

interface Call {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
}

/** The next tool calls, or the answer. */
function next(question: string, results: readonly string[], before: readonly ModelMessage[]): readonly Call[] | string {
  if (question === FIRST_PROMPT) {
    if (results.length === 0) return [{ name: "ls", args: {} }]
    if (results.length === 1) return ["agent.ts", "stand-in-model.ts"].map((path) => ({ name: "read", args: { path } }))
    return `${results[0]?.split("\n").length} files. agent.ts is the loop, stand-in-model.ts answers instead of a model.`
  }
  if (question === SECOND_PROMPT) {
    return results[0] === undefined ? [{ name: "charge", args: { amount: 5 } }] : `Paid: ${results[0]}`
  }
  if (results.length === 0) return [{ name: "ls", args: {} }]
  const last = before.findLast((message) => message.role === "assistant" && textOf(message) !== "")
  return last === undefined
    ? "At the beginning: this is the first question."
    : `The last answer was: ${textOf(last).slice(0, 200)}`
}

function toCall({ name, args }: Call): AssistantMessage["content"][number] {
  return { type: "toolCall", id: `call_${crypto.randomUUID().slice(0, 8)}`, name, arguments: args }
}
