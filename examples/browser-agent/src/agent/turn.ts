/** The loop of an agent over a session: ask the model, append what it says, run its tools, append what they give. */
import type { AssistantMessage, Message, Session, ToolCallBlock } from "@sessions/core"
import { callsOf, openCalls } from "./messages.ts"
import type { Model } from "./model.ts"
import { callTool, TOOLS } from "./tools.ts"

export interface TurnOptions {
  readonly model: Model
  /** The entry to go on from; null: the beginning. */
  readonly from: string | null
  /** Missing: goes on with a turn that was cut off. */
  readonly prompt?: string
  readonly signal: AbortSignal
  readonly tell: (doing: Doing) => void
  /** The prompt is in the log. */
  readonly onStored?: () => void
}

/** What the agent is doing now, and is in no log yet. */
export type Doing =
  | { readonly kind: "thinking" }
  | { readonly kind: "answering"; readonly text: string }
  | { readonly kind: "calling"; readonly call: string }

/**
 * One turn. Each append has been acknowledged before the next step begins, so whenever the tab goes away, the log holds all that
 * happened. Where another tab's turn gets in first, the library runs the function again on what that left: in order, if this one
 * went on from the end; else it stays a branch of its own.
 */
export async function runTurn(session: Session, options: TurnOptions): Promise<void> {
  const { model, from, prompt, signal, tell, onStored } = options
  const fromEnd = session.leafId === from
  await session.turn(async (turn) => {
    if (!fromEnd) await (from === null ? turn.resetLeaf() : turn.branch(from))
    if (prompt !== undefined) {
      await appendMessage(turn, { role: "user", content: [{ type: "text", text: prompt }] })
      onStored?.()
    } else await runCalls(turn, openCalls(await messagesOf(turn, "none")), { signal, tell })
    for (;;) {
      tell({ kind: "thinking" })
      const reply = await answer(turn, { model, signal, tell })
      const calls = callsOf(reply)
      if (calls.length === 0 || signal.aborted) return
      await runCalls(turn, calls, { signal, tell })
    }
  })
}

/** What was said before the model failed, or was stopped, is kept, and says that it was cut off. */
async function answer(
  turn: Session,
  { model, signal, tell }: Pick<TurnOptions, "model" | "signal" | "tell">,
): Promise<AssistantMessage> {
  let text = ""
  const onText = (soFar: string): void => {
    text = soFar
    tell({ kind: "answering", text })
  }
  const by = { role: "assistant", provider: model.provider, model: model.name } as const
  try {
    const messages = await messagesOf(turn, "synthesize")
    const reply = { ...by, ...(await model.answer({ messages, tools: TOOLS, signal, onText })) }
    await appendMessage(turn, reply)
    return reply
  } catch (error) {
    const stopReason = signal.aborted ? "aborted" : "error"
    const partial: AssistantMessage = { ...by, content: [{ type: "text", text }], stopReason }
    if (text !== "") await appendMessage(turn, partial)
    if (!signal.aborted) throw error
    return partial
  }
}

async function runCalls(
  turn: Session,
  calls: readonly ToolCallBlock[],
  { signal, tell }: Pick<TurnOptions, "signal" | "tell">,
): Promise<void> {
  for (const call of calls) {
    tell({ kind: "calling", call: call.id })
    await appendMessage(turn, await callTool(call, signal))
  }
}

async function messagesOf(turn: Session, repair: "none" | "synthesize") {
  const { messages } = await turn.context({ repair })
  return messages.map(({ message }) => message)
}

async function appendMessage(turn: Session, message: Message): Promise<void> {
  await turn.append({ type: "message", message: message as AssistantMessage })
}
