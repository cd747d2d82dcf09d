/** `Request -> Response`: what Deno, Bun, Workers and most servers of Node take. */
import type { ErrorCode, Sessions } from "@sessions/core"
import { httpStatus, isUlid, SessionError } from "@sessions/core"
import type { Ask } from "./answer.ts"
import { answer } from "./answer.ts"

export interface HandlerOptions {
  /** Made with `ulidsOnly`. */
  readonly sessions: Sessions
  readonly ask: Ask
  /** Default 100,000. */
  readonly maxBodyBytes?: number
}

/**
 * - `POST /sessions` makes a session: 201 `{id}`.
 * - `POST /sessions/<id>/turns` with `{id, text}`: 200 `{message, repeated}`. The id is the caller's; the same request again
 *   doubles nothing.
 * - `GET /sessions/<id>`: 200 `{messages}`, the newest 50.
 *
 * Errors are `{error: {code, message}}` with the status that fits: 400 for what is no ULID or no such body, 404, 409 where another
 * function was faster four times, 413, 503 where the store cannot be reached.
 */
export function createHandler({
  sessions,
  ask,
  maxBodyBytes = 100_000,
}: HandlerOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    try {
      const { pathname } = new URL(request.url)
      const [, root, id, what, ...more] = pathname.split("/")
      if (root !== "sessions" || more.length > 0)
        throw new SessionError("not_found", `There is nothing at ${pathname}.`)
      if (id === undefined && request.method === "POST") return await create(sessions)
      if (id !== undefined && what === undefined && request.method === "GET") return await show(sessions, id)
      if (id === undefined || what !== "turns" || request.method !== "POST") {
        throw new SessionError("not_found", `There is no ${request.method} of ${pathname}.`)
      }
      const question = questionOf(await bodyOf(request, maxBodyBytes))
      const session = await sessions.open(id, { signal: request.signal })
      try {
        return Response.json(await answer(session, question, ask))
      } finally {
        await session.close()
      }
    } catch (error) {
      return refusal(error)
    }
  }
}

async function create(sessions: Sessions): Promise<Response> {
  const session = await sessions.create()
  await session.close()
  return Response.json({ id: session.id }, { status: 201 })
}

async function show(sessions: Sessions, id: string): Promise<Response> {
  const session = await sessions.open(id)
  try {
    const { messages } = await session.messages({ limit: 50 })
    return Response.json({ messages: messages.map(({ entryId, message }) => ({ id: entryId, message })) })
  } finally {
    await session.close()
  }
}

/** Stops reading where it becomes too long, whatever its length was said to be. */
async function bodyOf(request: Request, limit: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ""
  let bytes = 0
  for await (const piece of request.body ?? []) {
    bytes += piece.length
    if (bytes > limit) throw new SessionError("too_large", `The body may have ${limit} bytes.`)
    text += decoder.decode(piece, { stream: true })
  }
  return text + decoder.decode()
}

function questionOf(body: string): { readonly id: string; readonly text: string } {
  const { id, text } = parse(body)
  if (!isUlid(id))
    throw new SessionError("invalid", "`id` must be a ULID of yours, the same when the request is repeated.")
  if (typeof text !== "string" || text === "") throw new SessionError("invalid", "`text` must be what the user says.")
  return { id, text }
}

function parse(body: string): { readonly id?: unknown; readonly text?: unknown } {
  try {
    const value: unknown = JSON.parse(body)
    if (typeof value === "object" && value !== null) return value
  } catch {
    // Told below, as for any other value.
  }
  throw new SessionError("invalid", 'The body must be JSON: {"id": …, "text": …}.')
}

function refusal(error: unknown): Response {
  const status = httpStatus(error)
  // What nobody foresaw is for the function's own log.
  if (status === 500) console.error(error)
  const code: ErrorCode | "internal" = status === 500 ? "internal" : (error as SessionError).code
  const message = status === 500 ? "Something went wrong here." : (error as Error).message
  return Response.json({ error: { code, message } }, { status })
}
