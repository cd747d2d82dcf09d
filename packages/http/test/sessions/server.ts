/** A session API in this process, with clients and an agent that the test steps through. */
import { createSessions, type Sessions } from "@sessions/core"
import { createIds } from "@sessions/core/format"
import type { SessionStorage } from "@sessions/core/storage"
import { createSessionClient, type SessionClient, type SessionEvent } from "@sessions/http/client"
import { createSessionHandler, type SessionHandler, type SessionHandlerOptions } from "@sessions/http/server"
import { createMemoryStorage } from "@sessions/memory"
import { vi } from "vitest"
import { HANG_MS } from "../../../../.config/limits.ts"

export const newId = createIds()

type Run = SessionHandlerOptions<string>["run"]
export type Turn = Parameters<Run>[0]

export interface Served {
  readonly handler: SessionHandler<string>
  readonly client: SessionClient
  readonly sessions: Sessions
  readonly errors: unknown[]
  /** A call with any method, path and body. */
  readonly call: (method: string, path: string, body?: unknown, headers?: Record<string, string>) => Promise<Response>
}

export interface ServeOptions extends Partial<Omit<SessionHandlerOptions<string>, "sessions">> {
  readonly storage?: SessionStorage
  /** What the handler gets in place of the repository. */
  readonly wrap?: (sessions: Sessions) => Sessions
}

/** One server on a storage of its own, or on the given one. Its agent answers with the text in upper case. */
export function serve({ storage = createMemoryStorage(), wrap = (one) => one, ...options }: ServeOptions = {}): Served {
  const sessions = wrap(createSessions({ storage }))
  const errors: unknown[] = []
  const handler = createSessionHandler<string>({
    sessions: () => sessions,
    authorize: () => "somebody",
    run: answer,
    onError: (error) => errors.push(error),
    onTurnError: (error) => errors.push(error),
    ...options,
  })
  const call: Served["call"] = (method, path, body, headers = {}) => {
    const json = body === undefined ? {} : { body: JSON.stringify(body) }
    const type = body === undefined ? {} : { "content-type": "application/json" }
    return handler(new Request(`http://host${path}`, { method, headers: { ...type, ...headers }, ...json }))
  }
  return { handler, client: clientOf(handler), sessions, errors, call }
}

/** Loads the code of turns with a lease, which takes real time: for tests whose clock is moved on. */
export async function loadTurns(): Promise<void> {
  const session = await createSessions({ storage: createMemoryStorage() }).create()
  await session.turn(() => undefined, { lease: { fence: 1 } })
}

export function clientOf(handler: (request: Request) => Promise<Response>): SessionClient {
  return createSessionClient({ url: "http://host", fetch: (url, init) => handler(new Request(url, init)) })
}

export async function answer({ session, message }: Turn): Promise<void> {
  await say(session, message.text.toUpperCase())
}

export async function say(session: Turn["session"], text: string): Promise<void> {
  await session.append({ type: "message", message: { role: "assistant", content: text } })
}

/** The texts of a session's messages, as the server loads them. */
export async function textsOf(client: SessionClient, id: string): Promise<string[]> {
  const { messages } = await client.load(id, { limit: 200 })
  return messages.map(({ message }) =>
    (message.content ?? []).map((block) => (block.type === "text" ? block.text : block.type)).join(),
  )
}

/** Reads events until one is the wanted one, and returns all of them. */
export async function until(
  events: AsyncIterable<SessionEvent>,
  isLast: (event: SessionEvent) => boolean,
): Promise<SessionEvent[]> {
  const seen: SessionEvent[] = []
  for await (const event of events) {
    seen.push(event)
    if (isLast(event)) return seen
  }
  return seen
}

export function endOf(messageId: string): (event: SessionEvent) => boolean {
  return (event) => event.event === "turn_end" && event.data.messageId === messageId
}

/** Sends a prompt and waits for the end of its turn. */
export async function ask(client: SessionClient, id: string, text: string): Promise<SessionEvent[]> {
  const stop = new AbortController()
  const messageId = newId()
  const events = client.events(id, { signal: stop.signal })[Symbol.asyncIterator]()
  await events.next()
  await client.prompt(id, { id: messageId, text })
  const seen = await until({ [Symbol.asyncIterator]: () => events }, endOf(messageId))
  stop.abort()
  return seen
}

/** The answer with only the first events of its stream. */
export function cutAfter(answered: Response, count: number): Response {
  const reader = (answered.body as ReadableStream<Uint8Array>).getReader()
  let left = count
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read()
      if (done || left-- === 0) {
        controller.close()
        return reader.cancel()
      }
      controller.enqueue(value)
    },
    cancel: () => reader.cancel(),
  })
  return new Response(body, { status: answered.status, headers: answered.headers })
}

/** Resolves with the result of the check when it passes. The limit only ends a hang. */
export function eventually<T>(check: () => T | Promise<T>): Promise<T> {
  return vi.waitFor(async () => await check(), { timeout: HANG_MS, interval: 10 })
}

/** A promise with its resolver. */
export interface Gate {
  readonly passed: Promise<void>
  open(): void
}

export function gate(): Gate {
  let open = (): void => undefined
  const passed = new Promise<void>((resolve) => (open = resolve))
  return { passed, open }
}
