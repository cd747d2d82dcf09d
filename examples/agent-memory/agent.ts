/** The agent loop: one turn, in which every file is backed up before a tool writes it. */
import type { Checkpoints, WorkFiles } from "@sessions/checkpoints"
import type { AssistantMessage, ModelMessage, Session, ToolCallBlock } from "@sessions/core"
import { makeRoom } from "@sessions/core/compaction"
import type { Recall } from "@sessions/recall"
import { createToolCalls, type Execute } from "@sessions/tool-calls"

/** Replace the scripted one by yours. */
export type Model = (system: string, messages: readonly ModelMessage[]) => Promise<AssistantMessage>

export interface Agent {
  readonly session: Session
  readonly checkpoints: Checkpoints
  readonly recall: Recall
  readonly files: WorkFiles
  readonly model: Model
}

/** Returns the id of the user message, to which `checkpoints.rewind` can go back. */
export async function runTurn({ session, checkpoints, recall, files, model }: Agent, prompt: string): Promise<string> {
  const system = `You edit files.\n\n${await recall.text()}`
  const edit = checkpoints.wrap(
    ({ path, text }: Edit) => files.write(path, new TextEncoder().encode(text)),
    ({ path }) => path,
  )
  const write: Execute = async ({ arguments: args }) => {
    await edit(args as unknown as Edit)
    return "written"
  }
  // A file may be written twice. A tool that must not be repeated would be "never".
  const calls = createToolCalls(session, { tools: { write: "safe" } })
  const asked = await session.turn(async (turn) => {
    // What a process that was killed has left.
    await calls.resume({ write })
    const { ids } = await turn.append([{ type: "message", message: { role: "user", content: prompt } }, calls.record])
    const id = ids[0] as string
    await checkpoints.begin(id)
    for (;;) {
      const answer = await ask(turn, system, model)
      await turn.append({ type: "message", message: answer })
      const called = answer.content.filter((block): block is ToolCallBlock => block.type === "toolCall")
      if (called.length === 0) return id
      for (const call of called) await calls.run(call, write)
    }
  })
  recall.afterTurn(session)
  return asked
}

/** A request that is too long for the model is made shorter, and sent again. */
async function ask(turn: Session, system: string, model: Model): Promise<AssistantMessage> {
  for (;;) {
    try {
      await makeRoom(turn)
      const { messages } = await turn.context()
      return await model(
        system,
        messages.map(({ message }) => message),
      )
    } catch (error) {
      await makeRoom(turn, { error })
    }
  }
}

interface Edit {
  readonly path: string
  readonly text: string
}
