/** The server of the inspector: the page, and a small API from which it reads sessions and, if it may, changes them. */
import { toJsonText } from "@sessions/core/format"
import { hasCode, httpStatus, type Session, SessionError, type Sessions } from "@sessions/core"
import type { Summarize } from "@sessions/core/compaction"
import { type CallOptions, isSessionId } from "@sessions/core/storage"
import { exportSession } from "@sessions/core/transfer"
import { sessionPage } from "../export.ts"
import { readContext } from "../read/summary.ts"
import { SERVED_POLICY, servedPage } from "../html.ts"
import { change, isChange, readBody, Refused } from "./changes.ts"
import { readEnd, readEntries } from "./end.ts"
import { findWords } from "./find.ts"
import { hasToken, refusalOf } from "./guard.ts"
import { listSessions } from "./list.ts"
import { readWhole } from "./outline.ts"

/** An entry that a search over all sessions has found. */
export interface FoundEntry {
  readonly session: string
  readonly entryId: string
  readonly timestamp: string
  readonly role: string
  readonly snippet: readonly { readonly text: string; readonly match: boolean }[]
}

export interface InspectorOptions {
  readonly sessions: Sessions
  /** What a request for data must carry as `Authorization: Bearer`. At least 16 characters without blanks. */
  readonly token: string
  /** Searches all sessions. Default: the page searches titles and first prompts alone. */
  readonly search?: (words: string, o: CallOptions) => Promise<readonly FoundEntry[]>
  /** Whether the page may change and delete sessions. Default false: every method but `GET` and `HEAD` is 405. */
  readonly write?: boolean
  /** Writes the summary of a compaction that a person asks for, with `write` alone. Default: none can be asked for. */
  readonly summarize?: Summarize
  /**
   * Answers requests to `/sessions` and below, such as a session API, after the same checks of address, origin, method and token. Its
   * answers get the headers of the inspector's. Default: there is no such route.
   */
  readonly api?: (request: Request) => Promise<Response>
  /** Gets the errors behind an answer with status 500. Default: they are dropped. */
  readonly onError?: (error: unknown) => void
}

/**
 * Returns a function that answers requests to a server on loopback, and that never rejects. Without `write` it writes nothing. A request for
 * another host, or from another origin, is answered with 403, one for data without the token with 401. `invalid` for wrong options.
 */
export function createInspector(options: InspectorOptions): (request: Request) => Promise<Response> {
  checkOptions(options)
  const { token, write = false, api, onError } = options
  return async (request) => {
    try {
      const refusal = refusalOf(request, write)
      if (refusal !== undefined) return failure(refusal.status, "refused", refusal.message)
      const { pathname } = new URL(request.url)
      if (pathname === "/") return isReading(request) ? pageAnswer(options) : wrongMethod("GET, HEAD")
      const isApi = api !== undefined && /^\/sessions(?:\/|$)/.test(pathname)
      if (!isApi && !pathname.startsWith("/api/")) return failure(404, "not_found", "There is no such page.")
      if (!(await hasToken(request, token))) return failure(401, "unauthorized", "The token is missing or wrong.")
      return isApi ? withHeaders(await api(request)) : await answer(options, request)
    } catch (error) {
      if (error instanceof Refused) return failure(error.status, error.code, error.message)
      const status = httpStatus(error)
      if (status !== 500 && error instanceof Error)
        return failure(status, String((error as { code?: unknown }).code), error.message)
      onError?.(error)
      return failure(500, "failed", "The request failed; the server knows why.")
    }
  }
}

async function answer(options: InspectorOptions, request: Request): Promise<Response> {
  const { sessions, search } = options
  const { pathname, searchParams } = new URL(request.url)
  const o = { signal: request.signal }
  const [, id = "", call = ""] = /^\/api\/sessions\/([^/]+)(?:\/([a-z]+))?$/.exec(pathname) ?? []
  if (!isReading(request)) return write(options, request, id, call)
  if (pathname === "/api/sessions") {
    const { words, cursor } = {
      words: searchParams.get("words") ?? "",
      cursor: searchParams.get("cursor") ?? undefined,
    }
    return json({ ...(await listSessions(sessions, words, cursor, o)), store: sessions.storage.description })
  }
  if (pathname === "/api/search") {
    const hits = await search?.(searchParams.get("words") ?? "", o)
    return json({ hits: hits ?? null })
  }
  if (isChange(call)) return wrongMethod("POST")
  const of = Object.hasOwn(CALLS, call) ? CALLS[call] : undefined
  if (id === "" || of === undefined) return failure(404, "not_found", "There is no such route.")
  const session = await openCurrent(sessions, id, o)
  let open = true
  const close = async (): Promise<void> => {
    if (open) await session.close()
    open = false
  }
  try {
    return await of({ sessions, session, searchParams, close, o })
  } catch (error) {
    await close()
    throw error
  }
}

async function write(
  { sessions, summarize }: InspectorOptions,
  request: Request,
  id: string,
  call: string,
): Promise<Response> {
  if (id === "" || (call !== "" && !isChange(call) && !Object.hasOwn(CALLS, call))) return wrongMethod("GET, HEAD")
  if (call === "") {
    if (request.method !== "DELETE") return wrongMethod("GET, HEAD, DELETE")
    checkId(id)
    // A log that cannot be opened can be deleted.
    const { parts, bytes, purged } = await sessions.delete(id)
    return json({ id, parts, bytes, purged })
  }
  if (!isChange(call)) return wrongMethod("GET, HEAD")
  if (request.method !== "POST") return wrongMethod("POST")
  checkId(id)
  const body = await readBody(request)
  // A change that was sent is made, also if the page goes.
  const session = await openCurrent(sessions, id, {})
  try {
    return json({ ids: await change(call, { session, body, summarize, o: {} }) })
  } finally {
    await session.close()
  }
}

function isReading({ method }: Request): boolean {
  return method === "GET" || method === "HEAD"
}

function checkId(id: string): void {
  if (!isSessionId(id)) throw new SessionError("invalid", "The session id in the address is not valid.")
}

/**
 * With what others have written: the session may be open already, for the events of the API. That it has lost lines, which this handle has
 * not seen, is no failure; the other handles learn of it themselves.
 */
async function openCurrent(sessions: Sessions, id: string, o: CallOptions): Promise<Session> {
  checkId(id)
  const session = await sessions.open(id, o)
  try {
    await session.refresh(o).catch((error: unknown) => {
      if (!hasCode(error, "conflict") || (error as SessionError).lost === undefined) throw error
    })
    return session
  } catch (error) {
    await session.close()
    throw error
  }
}

interface Call {
  readonly sessions: Sessions
  readonly session: Session
  readonly searchParams: URLSearchParams
  /** Ends the use of the session: at once, or when a stream has ended. */
  readonly close: () => Promise<void>
  readonly o: CallOptions
}

const MAX_SEQS = 500

const CALLS: Readonly<Record<string, (call: Call) => Promise<Response>>> = {
  async context({ session, close, o }) {
    const context = await readContext(session, undefined, o)
    await close()
    return json(context)
  },
  async ""({ sessions, session, close, o }) {
    const end = await readEnd(sessions, session, o)
    await close()
    return json(end)
  },
  async whole({ sessions, session, close, o }) {
    return streamed(lined(readWhole(sessions, session, o)), "application/x-ndjson", close)
  },
  async entries({ sessions, session, searchParams, close, o }) {
    const seqs = (searchParams.get("seqs") ?? "").split(",").map(Number)
    if (seqs.length > MAX_SEQS || seqs.some((seq) => !Number.isSafeInteger(seq) || seq < 1))
      throw new SessionError("invalid", `\`seqs\` must be at most ${MAX_SEQS} line numbers from 1.`)
    const entries = await readEntries(sessions, session, seqs, o)
    await close()
    return json({ entries })
  },
  async find({ sessions, session, searchParams, close, o }) {
    const words = (searchParams.get("words") ?? "").trim()
    if (words === "") throw new SessionError("invalid", "`words` is empty.")
    return streamed(lined(findWords(sessions, session, words, o)), "application/x-ndjson", close)
  },
  async export({ sessions, session, searchParams, close, o }) {
    const { id } = session
    const isPage = searchParams.get("format") === "html"
    const text = isPage ? sessionPage(sessions, id, { subagents: true, ...o }) : exportSession(sessions, id, o)
    return streamed(text, isPage ? "text/html" : "application/x-ndjson", close)
  },
}

async function* lined(values: AsyncIterable<unknown>): AsyncGenerator<string> {
  for await (const value of values) yield `${toJsonText(value)}\n`
}

/**
 * Reads on when the client has taken what came before, and stops when it goes. Rejects if not even the first chunk can be read, so that the
 * answer has the status of the error.
 */
async function streamed(text: AsyncIterable<string>, type: string, close: () => Promise<void>): Promise<Response> {
  const chunks = text[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  let next: IteratorResult<string> | undefined = await chunks.next()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = next ?? (await chunks.next())
        next = undefined
        if (done !== true) return controller.enqueue(encoder.encode(value))
        await close()
        controller.close()
      } catch (error) {
        await close()
        throw error
      }
    },
    async cancel() {
      await chunks.return?.()
      await close()
    },
  })
  return new Response(body, { headers: { ...HEADERS, "content-type": `${type}; charset=utf-8` } })
}

/** A browser must not keep, guess, frame or pass on what is here. */
const HEADERS: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
}

function pageAnswer({ write = false, summarize }: InspectorOptions): Response {
  const headers = { ...HEADERS, "content-type": "text/html; charset=utf-8", "content-security-policy": SERVED_POLICY }
  return new Response(servedPage({ write, compact: write && summarize !== undefined }), { headers })
}

function withHeaders({ body, status, headers }: Response): Response {
  return new Response(body, { status, headers: { ...Object.fromEntries(headers), ...HEADERS } })
}

function wrongMethod(allow: string): Response {
  return failure(405, "refused", `This address takes ${allow} alone.`, allow)
}

function json(value: unknown): Response {
  return new Response(toJsonText(value), { headers: { ...HEADERS, "content-type": "application/json" } })
}

function failure(status: number, code: string, message: string, allow = "GET, HEAD"): Response {
  const headers = {
    ...HEADERS,
    "content-type": "application/json",
    ...(status === 405 ? { allow } : {}),
    ...(status === 401 ? { "www-authenticate": "Bearer" } : {}),
  }
  return new Response(JSON.stringify({ error: { code, message } }), { status, headers })
}

function checkOptions({ sessions, token, search, write, summarize, api, onError }: InspectorOptions): void {
  if (typeof sessions?.list !== "function") throw invalidError("`sessions` must be a repository.")
  if (typeof token !== "string" || !/^\S{16,}$/.test(token))
    throw invalidError("`token` must have at least 16 characters, and no blanks.")
  for (const [name, value] of Object.entries({ search, summarize, api, onError }))
    if (value !== undefined && typeof value !== "function") throw invalidError(`\`${name}\` must be a function.`)
  if (write !== undefined && typeof write !== "boolean") throw invalidError("`write` must be a boolean.")
}

function invalidError(message: string): SessionError {
  return new SessionError("invalid", `createInspector: ${message}`)
}
