/** The turn of an agent, as programs write it: each process goes on where the one before it was killed, until the answer without calls. */
import { type ContentBlock, hasCode, type Session, type Sessions, type ToolCallBlock } from "@sessions/core"
import { createToolCalls, type Execute, type ToolCalls, type ToolCallsOptions } from "@sessions/tool-calls"
import { answer, call, question } from "../world.ts"
import { ANSWERS, LEASE, type Plan, SESSION, TOOLS, type Way } from "./plan.ts"

export interface Work {
  readonly sessions: Sessions
  readonly plan: Plan
  /** The tools of the calls, by their names. */
  readonly tools: Readonly<Record<keyof typeof TOOLS, Execute>>
  readonly onUnknown: NonNullable<ToolCallsOptions["onUnknown"]>
}

export const RUN: Readonly<Record<Way, (work: Work) => Promise<void>>> = {
  async calls({ sessions, ...work }) {
    const session = await sessions.open(SESSION)
    await callsOnce(session, createToolCalls(session, { tools: TOOLS, onUnknown: work.onUnknown }), work)
  },
  async lease({ sessions, ...work }) {
    const session = await sessions.open(SESSION)
    const calls = createToolCalls(session, { tools: TOOLS, onUnknown: work.onUnknown })
    await session.turn((turn) => loop(turn, calls, work), { lease: LEASE })
  },
  streamText: async (work) => (await import("./ai-sdk.ts")).runAiSdk(work, "streamText"),
  generateText: async (work) => (await import("./ai-sdk.ts")).runAiSdk(work, "generateText"),
  chats: async (work) => (await import("./chats.ts")).runChats(work),
  agents: async (work) => (await import("./agents.ts")).runAgents(work),
}

type Given = Omit<Work, "sessions">

/** What the round of `calls` begins with: without a lease two processes that ask the model at once would get two answers. */
export function beginning(calls: ToolCalls): Parameters<Session["append"]>[0] {
  return [question(), calls.record, answer(...blocksOf(0))]
}

export function blocksOf(n: number): readonly ToolCallBlock[] {
  return (ANSWERS[n] ?? []).map((text) => {
    const [name = "", id = ""] = text.split(" ")
    return call(id, name, { id })
  })
}

/** The calls of the last message, once. */
async function callsOnce(session: Session, calls: ToolCalls, { plan, tools }: Given): Promise<boolean> {
  const states = await session.callStates()
  if (!plan.runs) return (await calls.resume(tools)).every(({ outcome }) => outcome !== "held" && outcome !== "left")
  await Promise.all(
    (states?.calls ?? []).map((one) =>
      calls.run({ id: one.callId }, tools[one.toolName as keyof typeof tools]).catch((error: unknown) => {
        if (!hasCode(error, "conflict")) throw error
      }),
    ),
  )
  return (await session.callStates())?.calls.every(({ state }) => state === "done") !== false
}

async function loop(turn: Session, calls: ToolCalls, work: Given): Promise<void> {
  for (;;) {
    const stage = await stageOf(turn)
    if (stage === "ended") return
    if (stage === "begin") await turn.append([question(), calls.record])
    // Of a call whose outcome nobody knows the model is not asked in this turn: a later process may find it out.
    else if (!(await callsOnce(turn, calls, work))) return
    const blocks = blocksOf(await answersIn(turn))
    const content: readonly ContentBlock[] = blocks.length > 0 ? blocks : [{ type: "text", text: "Done." }]
    await turn.append({ type: "message", message: { role: "assistant", content } })
  }
}

export async function stageOf(session: Session): Promise<"begin" | "calls" | "ended"> {
  if ((await session.callStates()) !== undefined) return "calls"
  const last = (await session.messages()).messages.at(-1)
  return last?.message.role === "assistant" ? "ended" : "begin"
}

/** How many answers with calls there are. */
export async function answersIn(session: Session): Promise<number> {
  const { messages } = await session.messages()
  return messages.filter(
    ({ message }) => message.role === "assistant" && message.content.some(({ type }) => type === "toolCall"),
  ).length
}
