/** The conversation of the script with a client: a question, its rounds of calls, and a next question. */
import type { AssistantMessage, ContextMessage, ModelMessage, Session } from "@sessions/core"
import {
  type AnswerEntry,
  type Context,
  type LossCode,
  type ProviderRequest,
  toolCalls,
  toolResult,
} from "../../src/index.ts"
import { newSession } from "../answers.ts"

export type Mode = "whole" | "streamed"

/** Asks the model once, and appends its answer. */
export type Ask = (session: Session, context: Context) => Promise<AssistantMessage>

export const user = (content: string) => ({ type: "message" as const, message: { role: "user" as const, content } })

/** What the session has in the end. */
export async function converse(ask: Ask): Promise<readonly ContextMessage<ModelMessage>[]> {
  const session = await newSession()
  await session.append(user("What is the weather in Paris, Rome and Oslo?"))
  for (;;) {
    const calls = toolCalls(await ask(session, await session.context()))
    for (const call of calls) await session.append(toolResult(call, `sunny in ${String(call.arguments["city"])}`))
    if (calls.length === 0) break
  }
  await session.append(user("Thank you."))
  await ask(session, await session.context())
  return (await session.context()).messages
}

/** The request, of which nothing is left out or changed: the provider has made all that is in the session. */
export function complete<R>({ request, diagnostics }: ProviderRequest<R>, but: readonly LossCode[] = []): R {
  const losses = diagnostics.filter(({ code }) => !but.includes(code))
  if (losses.length > 0) throw new Error(losses.map(({ message }) => message).join("\n"))
  return request
}

export async function kept(session: Session, entry: AnswerEntry): Promise<AssistantMessage> {
  await session.append(entry)
  return entry.message
}
