/** An agent loop over a session: call the model, append its reply, run its tool calls, append their results. */
import type { AssistantMessage, ContentBlock, ModelMessage, Session, ToolCallBlock } from "@sessions/core"

export type Model = (messages: readonly ModelMessage[]) => Promise<AssistantMessage>
export type Tool = (args: Readonly<Record<string, unknown>>) => Promise<string>

export interface Agent {
  readonly model: Model
  readonly tools: Readonly<Record<string, Tool>>
}

/**
 * Runs one turn. Without a prompt it resumes an interrupted turn. Each append is acknowledged before the next step, so the log is
 * complete whenever the process ends. `session.turn` makes a second turn wait until this one has ended.
 */
export async function runTurn(session: Session, agent: Agent, prompt?: string): Promise<void> {
  await session.turn(async (turn) => {
    if (prompt !== undefined) await turn.append({ type: "message", message: { role: "user", content: prompt } })
    for (;;) {
      const reply = await ask(turn, agent)
      await turn.append({ type: "message", message: reply })
      const calls = reply.content.filter(isToolCall)
      if (calls.length === 0) return
      for (const call of calls) await turn.append({ type: "message", message: await callTool(agent, call) })
    }
  })
}

/** A request that is too long for the model is made shorter, and sent again. */
async function ask(turn: Session, { model }: Agent): Promise<AssistantMessage> {
  for (;;) {
    try {
      await turn.makeRoom()
      const { messages } = await turn.context()
      return await model(messages.map(({ message }) => message))
    } catch (error) {
      await turn.makeRoom({ error })
    }
  }
}

function isToolCall(block: ContentBlock): block is ToolCallBlock {
  return block.type === "toolCall"
}

/** A failed tool also has a result, so the model sees the error. */
async function callTool({ tools }: Agent, { id, name, arguments: args }: ToolCallBlock) {
  const result = { role: "toolResult", toolCallId: id, toolName: name } as const
  try {
    const tool = tools[name]
    if (tool === undefined) throw new Error(`There is no tool ${name}.`)
    return { ...result, isError: false, content: await tool(args) }
  } catch (error) {
    return { ...result, isError: true, content: String(error) }
  }
}
