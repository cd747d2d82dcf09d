/** A `Request -> Response` handler, the form that Deno, Bun, Workers and most Node servers accept. */
import { type ErrorCode, httpStatus, SessionError, type Sessions } from "@sessions/core"
import { isUlid } from "@sessions/core/format"
import { answer, type Ask } from "./answer.ts"

export interface HandlerOptions {
  /** Created with `ulidsOnly`. */
  readonly sessions: Sessions
  readonly ask: Ask
  /**
   * Whether the caller of a request may use a session; undefined for a request that creates one. Reads the user from your token or cookie
   * and compares it with the owner of the session. An id is not a secret, so a session is 404 to everybody else.
   */
  readonly authorize: (request: Request, session: string | undefined) => boolean | Promise<boolean>
  /** Default 100,000. */
  readonly maxBodyBytes?: number
}

/**
 * - `POST /sessions` creates a session: 201 `{id}`.
 * - `POST /sessions/<id>/turns` with `{id, text}` runs a turn: 200 `{message, repeated}`. Requests with the same `id` are idempotent.
 * - `GET /sessions/<id>` returns the newest 50 messages: 200 `{messages}`.
 *
 * Errors are `{error: {code, message}}`: 400 for an id that is not a ULID or an invalid body, 404 for an unknown path or session or
 * one that the caller may not use, 409 if the id belongs to another message or other functions were faster four times, 413 for a body that is too large, 503 if the storage is not available.
 */
export function createHandler({
  sessions,
  ask,
  authorize,
  maxBodyBytes = 100_000,
}: HandlerOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    try {
      const { pathname } = new URL(request.url)
      const [, root, id, what, ...more] = pathname.split("/")
      if (root !== "sessions" || more.length > 0) throw new SessionError("not_found", `${pathname} does not exist.`)
      if (!(await authorize(request, id))) throw new SessionError("not_found", `${pathname} does not exist.`)
      if (id === undefined && request.method === "POST") return await create(sessions)
      if (id !== undefined && what === undefined && request.method === "GET") return await show(sessions, id)
      if (id === undefined || what !== "turns" || request.method !== "POST") {
        throw new SessionError("not_found", `${request.method} ${pathname} is not supported.`)
      }
      const question = questionOf(await bodyOf(request, maxBodyBytes))
      const session = await sessions.open(id, { signal: request.signal })
      try {
        return Response.json(await answer(session, question, ask))
      } finally {
        await session.close()
      }
    } catch (error) {
      return errorResponse(error)
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

/** Stops reading at the limit, whatever `Content-Length` claims. */
async function bodyOf(request: Request, limit: number): Promise<string> {
  const decoder = new TextDecoder()
  let text = ""
  let bytes = 0
  for await (const chunk of request.body ?? []) {
    bytes += chunk.length
    if (bytes > limit) throw new SessionError("too_large", `The body must not exceed ${limit} bytes.`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

function questionOf(body: string): { readonly id: string; readonly text: string } {
  const { id, text } = parse(body)
  if (!isUlid(id))
    throw new SessionError("invalid", "`id` must be a ULID that you choose; repeat a request with the same `id`.")
  if (typeof text !== "string" || text === "")
    throw new SessionError("invalid", "`text` must be the message of the user, a non-empty string.")
  return { id, text }
}

function parse(body: string): { readonly id?: unknown; readonly text?: unknown } {
  try {
    const value: unknown = JSON.parse(body)
    if (typeof value === "object" && value !== null) return value
  } catch {
    // Reported below, like any other invalid body.
  }
  throw new SessionError("invalid", 'The body must be JSON: {"id": …, "text": …}.')
}

const SERVER_ERRORS: Readonly<Record<number, string>> = {
  503: "The storage is not available. Repeat the request with the same id.",
  507: "The storage is full.",
}

function errorResponse(error: unknown): Response {
  const status = httpStatus(error)
  // The texts of storages name roles, buckets and keys: they go to the log of the function, not to the caller.
  if (status >= 500) console.error(error)
  const code: ErrorCode | "internal" = status === 500 ? "internal" : (error as SessionError).code
  const message = status >= 500 ? (SERVER_ERRORS[status] ?? "Internal error.") : (error as Error).message
  return Response.json({ error: { code, message } }, { status })
}
