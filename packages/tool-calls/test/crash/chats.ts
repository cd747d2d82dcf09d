/**
 * The turn with chats of the AI SDK. Each process is a server that has the request of the page once more: the question, or the answer in which the user has
 * approved the call. A lease makes one of several servers answer.
 */
import { createToolCalls, executionOf } from "@sessions/tool-calls"
import { wrapTools } from "@sessions/tool-calls/ai-sdk"
import {
  convertToModelMessages,
  isStepCount,
  isTextUIPart,
  isToolUIPart,
  streamText,
  tool,
  toUIMessageStream,
  type UIMessage,
} from "ai"
import { z } from "zod"
import { chatResult, createChatStore, openChatLog, withRepair } from "../../../ai-sdk/src/index.ts"
import { scriptedModel, type Step } from "../scripted-model.ts"
import { LEASE, SESSION } from "./plan.ts"
import type { Work } from "./ways.ts"

const QUESTION: UIMessage = { id: "q", role: "user", parts: [{ type: "text", text: "Charge." }] }
const ASKS: Step = { text: "May I?", calls: [{ id: "a", name: "charge", input: { id: "a" } }] }
/** One for the question, one for the approval. */
const REQUESTS = 2

const toModelMessages = withRepair(convertToModelMessages)

export async function runChats({ sessions, tools: executors, onUnknown }: Work): Promise<void> {
  const store = createChatStore<UIMessage>(sessions)
  const session = await openChatLog(sessions, SESSION)
  const calls = createToolCalls(session, { tools: { charge: "never" }, toResult: chatResult, onUnknown })
  const charge = tool({
    inputSchema: z.object({ id: z.string() }),
    needsApproval: true,
    execute: (input, options) =>
      executors.charge({ ...executionOf(options), arguments: input, signal: options.abortSignal }),
  })
  const tools = wrapTools(calls, { charge })
  const answer = async (request: UIMessage): Promise<void> => {
    const messages = await store.addMessage({ id: SESSION, message: request })
    if (request.role === "user") await session.append(calls.record)
    const { stream } = streamText({
      model: scriptedModel([request.role === "user" ? ASKS : { text: "Done." }]).model,
      messages: await toModelMessages(messages, { tools }),
      tools,
      stopWhen: isStepCount(5),
      onError: () => undefined,
    })
    let failure: { readonly error: unknown } | undefined
    const chat = toUIMessageStream({
      stream,
      ...store.persist({ chatId: SESSION, messages }),
      onError: (error) => String((failure ??= { error }).error),
    })
    for await (const _ of chat);
    // A call that was refused.
    if (failure !== undefined) throw failure.error
  }
  await session.turn(
    async () => {
      // What waits for approval has no executor; what was approved and started may be found not done.
      const states = (await session.callStates())?.calls ?? []
      const isStarted = states.some(({ start }) => start !== undefined)
      const resumed = await calls.resume(isStarted ? { charge: executors.charge } : {})
      // Of a call whose outcome nobody knows the model is not asked: a later process may find it out.
      if (resumed.some(({ call, outcome }) => call.start !== undefined && ["held", "left"].includes(outcome))) return
      for (let n = 0; n < REQUESTS; n++) {
        const request = nextRequest(await store.loadChat(SESSION).catch(() => []))
        if (request !== undefined) await answer(request)
      }
    },
    { lease: LEASE },
  )
}

/** What the page sends; undefined: the chat has its last answer. */
function nextRequest(messages: readonly UIMessage[]): UIMessage | undefined {
  const last = messages.at(-1)
  if (last?.role !== "assistant") return QUESTION
  const at = last.parts.findLastIndex(isToolUIPart)
  if (last.parts.slice(at + 1).some(isTextUIPart)) return undefined
  const parts = last.parts.map((part) =>
    isToolUIPart(part) && part.state === "approval-requested"
      ? { ...part, state: "approval-responded" as const, approval: { ...part.approval, approved: true } }
      : part,
  )
  return { ...last, parts }
}
