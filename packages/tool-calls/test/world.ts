/** Sessions of several processes on one memory, a turn with calls, and what a log says of them. */
import { createFaultyStorage, type FaultyOptions, type FaultyStorage } from "@sessions/conformance/faults"
import { createSessions, type NewEntry, type Session, type Sessions, type ToolCallBlock } from "@sessions/core"
import type { CallState } from "@sessions/core/context"
import { createMemoryLocation, createMemoryStorage, type MemoryLocation } from "@sessions/memory"
import { createToolCalls, type ToolCalls, type ToolCallsOptions } from "@sessions/tool-calls"

export const TOOLS = { charge: "never", look: "safe" } as const

export interface Process {
  readonly storage: FaultyStorage
  readonly sessions: Sessions
  readonly session: Session
  readonly calls: ToolCalls
}

/** A process that has the session `s` open, which it creates if there is none. */
export async function startProcess(
  location: MemoryLocation = createMemoryLocation(),
  o: Partial<ToolCallsOptions> & { readonly faulty?: FaultyOptions } = {},
): Promise<Process> {
  const { faulty, ...options } = o
  const storage = createFaultyStorage(createMemoryStorage({ location }), faulty)
  const sessions = createSessions({ storage })
  const session = await sessions.openOrCreate("s")
  return { storage, sessions, session, calls: createToolCalls(session, { tools: TOOLS, ...options }) }
}

export function question(content = "Pay."): NewEntry {
  return { type: "message", message: { role: "user", content } }
}

export function call(id: string, name = "charge", args: Record<string, unknown> = {}): ToolCallBlock {
  return { type: "toolCall", id, name, arguments: args }
}

export function answer(...content: readonly ToolCallBlock[]): NewEntry & { readonly id: string } {
  return { type: "message", id: "answer", message: { role: "assistant", content } }
}

/** A process in a turn whose model has asked for these calls. */
export async function inTurn(
  blocks: readonly ToolCallBlock[],
  location: MemoryLocation = createMemoryLocation(),
  o: Parameters<typeof startProcess>[1] = {},
): Promise<Process & { readonly location: MemoryLocation }> {
  const process = await startProcess(location, o)
  await process.session.append([question(), process.calls.record])
  await process.session.append(answer(...blocks))
  return { ...process, location }
}

export async function statesOf(session: Session): Promise<readonly string[]> {
  return (await callsOf(session)).map(({ callId, state }) => `${callId} ${state}`)
}

export async function callsOf(session: Session): Promise<readonly CallState[]> {
  return (await session.callStates())?.calls ?? []
}

/** The entries of a type in the log. */
export async function stored(session: Session, type: string): Promise<readonly Record<string, unknown>[]> {
  const found: Record<string, unknown>[] = []
  for await (const entry of session.entries()) if (entry.type === type) found.push(entry)
  return found
}

/** The texts of the results that the model gets, by the ids of their calls. */
export async function toldOf(session: Session): Promise<Readonly<Record<string, string>>> {
  const { messages } = await session.context()
  return Object.fromEntries(
    messages.flatMap(({ message }) =>
      message.role === "toolResult"
        ? [[message.toolCallId, message.content.map((block) => ("text" in block ? block.text : "")).join("")]]
        : [],
    ),
  )
}

/** What a promise has rejected with after some turns of the event loop. */
export async function soonRejected(promise: Promise<unknown>): Promise<unknown> {
  let rejected: unknown
  promise.catch((error: unknown) => (rejected = error))
  for (let n = 0; n < 50 && rejected === undefined; n++) await new Promise((resolve) => void setTimeout(resolve, 1))
  return rejected
}

/** What a promise has rejected with; undefined if it resolved. */
export async function rejected(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  )
}

export async function codeOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => "resolved",
    (error: { code?: unknown }) => error.code ?? error,
  )
}
