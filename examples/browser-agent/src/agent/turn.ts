/** The loop of an agent over a session: call the model, append its answer, run its tools, append their results. */
import type { AssistantMessage, Message, Session, ToolCallBlock } from "@sessions/core"
import { makeRoom } from "@sessions/core/compaction"
import { callsOf, openCalls } from "./messages.ts"
import type { Model } from "./model.ts"
import { callTool, TOOLS } from "./tools.ts"

export interface TurnOptions {
  readonly model: Model
  /** The entry to continue from; null for the beginning. */
  readonly from: string | null
  /** Missing to continue an interrupted turn. */
  readonly prompt?: string
  readonly signal: AbortSignal
  readonly onActivity: (activity: Activity) => void
  /** Called when the prompt is stored. */
  readonly onStored?: () => void
}

/** What the agent does now and is not in the log yet. */
export type Activity =
  | { readonly kind: "thinking" }
  | { readonly kind: "answering"; readonly text: string }
  | { readonly kind: "calling"; readonly call: string }

/**
 * Runs one turn. Each append is acknowledged before the next step begins, so the log is complete whenever the tab is closed. If another
 * tab's turn is written first, the library runs the function again: after that turn if this one continued from the end of the log,
 * otherwise as a branch of its own.
 */
export async function runTurn(session: Session, options: TurnOptions): Promise<void> {
  const { model, from, prompt, signal, onActivity, onStored } = options
  const fromEnd = session.leafId === from
  await session.turn(async (turn) => {
    if (!fromEnd) await (from === null ? turn.resetLeaf() : turn.branch(from))
    if (prompt !== undefined) {
      await appendMessage(turn, { role: "user", content: [{ type: "text", text: prompt }] })
      onStored?.()
    } else await runCalls(turn, openCalls(await messagesOf(turn, "none")), { signal, onActivity })
    for (;;) {
      onActivity({ kind: "thinking" })
      const reply = await answer(turn, { model, signal, onActivity })
      const calls = callsOf(reply)
      if (calls.length === 0 || signal.aborted) return
      await runCalls(turn, calls, { signal, onActivity })
    }
  })
}

/** Appends the answer of the model. A request that is too long for it is made shorter, and sent again. */
async function answer(
  turn: Session,
  o: Pick<TurnOptions, "model" | "signal" | "onActivity">,
): Promise<AssistantMessage> {
  for (;;) {
    try {
      await makeRoom(turn)
      return await askOnce(turn, o)
    } catch (error) {
      await makeRoom(turn, { error })
    }
  }
}

/** If the model fails or is stopped, appends the text so far with the stop reason. */
async function askOnce(
  turn: Session,
  { model, signal, onActivity }: Pick<TurnOptions, "model" | "signal" | "onActivity">,
): Promise<AssistantMessage> {
  let text = ""
  const onText = (soFar: string): void => {
    text = soFar
    onActivity({ kind: "answering", text })
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
  { signal, onActivity }: Pick<TurnOptions, "signal" | "onActivity">,
): Promise<void> {
  for (const call of calls) {
    onActivity({ kind: "calling", call: call.id })
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
