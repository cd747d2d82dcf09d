/** An agent loop over a session: call the model, append its reply, run its tool calls. */
import type { AssistantMessage, ContentBlock, ModelMessage, Session, ToolCallBlock } from "@sessions/core"
import { makeRoom } from "@sessions/core/compaction"
import { createToolCalls, type Execute, type ToolCallsOptions } from "@sessions/tool-calls"

export type Model = (messages: readonly ModelMessage[]) => Promise<AssistantMessage>

export interface Agent {
  readonly model: Model
  readonly tools: Readonly<Record<string, Execute>>
  /** Which tools must not be repeated, and what has become of a call of which nobody knows the outcome. */
  readonly calls: ToolCallsOptions
}

/**
 * Runs one turn. Without a prompt it resumes an interrupted turn: what its process has left is settled first. Each append is acknowledged
 * before the next step, so the log is complete whenever the process ends. `session.turn` makes a second turn wait until this one has ended.
 */
export async function runTurn(session: Session, agent: Agent, prompt?: string): Promise<void> {
  const calls = createToolCalls(session, agent.calls)
  await session.turn(async (turn) => {
    if (prompt === undefined) await calls.resume(agent.tools)
    else await turn.append([{ type: "message", message: { role: "user", content: prompt } }, calls.record])
    for (;;) {
      const reply = await ask(turn, agent)
      await turn.append({ type: "message", message: reply })
      const called = reply.content.filter(isToolCall)
      if (called.length === 0) return
      for (const call of called) await calls.run(call, toolOf(agent, call))
    }
  })
}

/** A request that is too long for the model is made shorter, and sent again. */
async function ask(turn: Session, { model }: Agent): Promise<AssistantMessage> {
  for (;;) {
    try {
      await makeRoom(turn)
      const { messages } = await turn.context()
      return await model(messages.map(({ message }) => message))
    } catch (error) {
      await makeRoom(turn, { error })
    }
  }
}

function isToolCall(block: ContentBlock): block is ToolCallBlock {
  return block.type === "toolCall"
}

/** A failed tool also has a result, so the model sees the error. */
function toolOf({ tools }: Agent, { name }: ToolCallBlock): Execute {
  return (
    tools[name] ??
    (() => {
      throw new Error(`There is no tool ${name}.`)
    })
  )
}
