/** Compares what a log says of its calls with what their receiver knows. */
import type { Session } from "@sessions/core"
import { sessionBranches } from "@sessions/core/transfer"
import { type Charge, receiptOf } from "./plan.ts"

const UNKNOWN = "its outcome is unknown"

/** What is wrong, as long as processes may be there; nothing for none. `requests`: as they were before the session was opened. */
export async function toldWrongly(session: Session, requests: readonly Charge[]): Promise<readonly string[]> {
  const states = new Map((await session.callStates())?.calls.map(({ callId, state }) => [callId, state]))
  const texts = await textsOf(session)
  const wrong: string[] = []
  for (const charge of requests) {
    const { callId } = charge
    const state = states.get(callId)
    if (state !== undefined && !["done", "unknown", "running"].includes(state))
      wrong.push(`${callId} was asked for, and is told as ${state}`)
    const told = texts.get(callId)
    if (told === undefined) wrong.push(`${callId} was asked for, and the context does not show it`)
    else if (!told.includes(receiptOf(charge)) && !told.includes(UNKNOWN))
      wrong.push(`${callId} was asked for, and the model is told: ${told}`)
  }
  return wrong
}

/** What is wrong when the last process has ended. */
export async function leftWrong(
  session: Session,
  charged: readonly Charge[],
  charges: number,
): Promise<readonly string[]> {
  const wrong: string[] = []
  for (const { callId } of charged)
    if (charged.filter((one) => one.callId === callId).length > 1) wrong.push(`${callId} was charged twice`)
  if (new Set(charged.map(({ callId }) => callId)).size !== charges)
    wrong.push(`lost: ${charged.length} of ${charges} charges were made`)
  const texts = await textsOf(session)
  for (const charge of charged)
    if (texts.get(charge.callId)?.includes(receiptOf(charge)) !== true)
      wrong.push(`lost: ${charge.callId} was charged, and the model is told: ${texts.get(charge.callId)}`)
  const open = (await session.callStates())?.calls.filter(({ state }) => state !== "done") ?? []
  for (const { callId, state } of open) wrong.push(`lost: ${callId} is ${state} in the end`)
  const branches = await sessionBranches(session)
  if (branches.length !== 1) wrong.push(`the log has ${branches.length} branches`)
  return wrong
}

/** What the model is told of each call. */
async function textsOf(session: Session): Promise<ReadonlyMap<string, string>> {
  const { messages } = await session.context()
  return new Map(
    messages.flatMap(({ message }) =>
      message.role === "toolResult" ? [[message.toolCallId, JSON.stringify(message.content)] as const] : [],
    ),
  )
}
