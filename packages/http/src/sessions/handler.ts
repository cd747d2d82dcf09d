/** `createSessionHandler`: the session API over a repository, as a function from a `Request` to a `Response`. */
import { hasCode, type Session, SessionError, type SessionInfo, type Sessions } from "@sessions/core"
import { createIds, isUlid, MAX_METADATA_KEYS } from "@sessions/core/format"
import { checkOptions, checkSessionId, type OptionNames, StorageError, utf8Length } from "@sessions/core/storage"
import { json, readJson, readQuery } from "../answers.ts"
import { asRefusal, isResponse } from "../authorize.ts"
import { type Answer, serveOf, setServe } from "../direct.ts"
import { eventStream, left } from "../event-stream.ts"
import { type Call, createHandler, type HandlerOptions } from "../handler.ts"
import { checkLimits, createGate, type TenantLimits } from "../limits.ts"
import { withoutPlaces } from "../parts.ts"
import { createQuota } from "../quota.ts"
import { invalid, Refusal } from "../refusal.ts"
import { repeatsOf, writeIdOf } from "../repeats.ts"
import { BODY_BYTES } from "../sizes.ts"
import { connect, cursorText, lastTurn, parseCursor, toPage, toStream } from "./connection.ts"
import { refreshed } from "./put-back.ts"
import {
  contextQuery,
  eventsQuery,
  listQuery,
  loadQuery,
  newPrompt,
  newSession,
  newTitle,
  type SessionAction,
  type SessionRoute,
  sessionRoutes,
} from "./routes.ts"
import { type Models, publicError, type RunPrompt } from "./runner.ts"
import { REPEAT_MS, timeOfUlid } from "./sent-ids.ts"
import { ServedSessions } from "./served-sessions.ts"
import type { ServedSession } from "./served-session.ts"
import type { NewPrompt, SessionList } from "./types.ts"

export interface SessionHandlerOptions<P> extends HandlerOptions<P> {
  /** The sessions of a principal: the same object for each request, in a storage that no other principal has. */
  readonly sessions: (principal: P) => Sessions | Promise<Sessions>
  /** The agent. Runs once for each prompt, within a turn of the session; only one prompt of a session runs at a time. */
  readonly run: RunPrompt
  /** The model that `run` gets for a prompt that names none: of the folder of its session, else the default. Default: none. */
  readonly models?: Models
  /** May refuse a new prompt with a `Response`, before it is stored. Not called for a repetition. */
  readonly accept?: (about: {
    readonly session: string
    readonly prompt: NewPrompt
    readonly principal: P
  }) => Response | undefined | void | Promise<Response | undefined | void>
  /** False: prompts are only stored, and `runQueued` runs them, in a worker. Default true: they run in this process. */
  readonly background?: boolean
  /** A prompt whose server died within its turn: reports it (default), or runs it again. Its tools may have had effects. */
  readonly onInterrupted?: "report" | "rerun"
  /** Largest body of a request, in bytes. Default 100,000. */
  readonly maxBodyBytes?: number
  /** What each principal may use of the server. A principal is told by its `sessions`. Default: all of it. */
  readonly limits?: TenantLimits
  /** Milliseconds without a sign of life after which another server takes over: 1,000 or more, default 60,000. */
  readonly lease?: number
  /** Gets the error of a turn; clients are told the codes of core alone. Default: `console.error`. */
  readonly onTurnError?: (error: unknown, about: { readonly session: string; readonly messageId: string }) => void
  /** The time of day in milliseconds since the epoch, for ids and for times that are shown; default `Date.now`. */
  readonly now?: () => number
}

/** What a host gives with a request. */
export interface HostContext {
  /** Keeps the host running until the promise settles, as on Workers. */
  readonly waitUntil?: (work: Promise<unknown>) => void
}

export interface SessionHandler<P> {
  (request: Request, context?: HostContext): Promise<Response>
  /** As it was given: a listener of a framework knows by it which address is meant. */
  readonly basePath?: string
  /** Runs the prompts that an ended server has left in the queue, in the background; any request to the session does so too. */
  resume(session: string, principal: P): Promise<void>
  /**
   * Runs the prompts of a session until none waits, for a worker with `background: false`. `left`: how many wait still, because another
   * server runs them or the storage did not answer. Of another server it waits for a sign of life, which comes in each third of a lease;
   * without one in a whole lease it takes over.
   */
  runQueued(session: string, principal: P): Promise<{ readonly left: number }>
  /**
   * Ends the event streams and takes no further prompts; resolves when the running turns have ended, however long that takes. No turn gets
   * its signal by it. What is queued stays queued.
   */
  close(): Promise<void>
}

const LEAST_LEASE_MS = 1_000
/** An agent writes into the sessions, too, and not through the handler. */
const RECOUNT_MS = 5_000
/** What an entry has beside its text. */
const ENTRY_BYTES = 300
const MODELS: OptionNames<Models> = { of: true, default: true }
const LIMITS: OptionNames<TenantLimits> = {
  requestsPerMinute: true,
  streams: true,
  sessions: true,
  bytes: true,
  bodyBytesPerSecond: true,
}

/** Throws `invalid` for wrong options. */
export function createSessionHandler<P>(options: SessionHandlerOptions<P>): SessionHandler<P> {
  check(options)
  const { background = true, maxBodyBytes = BODY_BYTES, accept, now = Date.now, limits = {} } = options
  const gate = createGate(limits, now)
  const quota = createQuota(limits, { recountMs: RECOUNT_MS, documents: false, now })
  const bodyLimit = { bytes: maxBodyBytes, bytesPerSecond: limits.bodyBytesPerSecond }
  const contexts = new WeakMap<Request, HostContext>()
  const onError = (error: unknown): void => console.error("The session API failed in the background:", error)
  const served = new ServedSessions({
    run: options.run,
    models: options.models ?? {},
    onInterrupted: options.onInterrupted ?? "report",
    lease: options.lease ?? 60_000,
    continues: background,
    onTurnError: options.onTurnError ?? logTurnError,
    onError,
    now,
    newId: createIds(now),
  })
  let closed = false

  const run = (one: ServedSession, request?: Request): void => {
    const work = one.run()
    if (request !== undefined) contexts.get(request)?.waitUntil?.(work)
  }

  async function opened<T>(sessions: Sessions, id: string, act: (session: Session) => Promise<T>): Promise<T> {
    const session = await sessions.open(id)
    try {
      // It may have been open, and another server may have written since.
      await refreshed(session)
      return await act(session)
    } finally {
      await session.close()
    }
  }

  /** With the error of an id that no session of this repository can have, in place of one that says that there is none. */
  async function ofSession<T>(sessions: Sessions, id: string, act: () => Promise<T>): Promise<T> {
    try {
      return await act()
    } catch (error) {
      if (hasCode(error, "not_found")) await opened(sessions, id, async () => undefined)
      throw error
    }
  }

  const calls: Readonly<Record<SessionAction, (call: SessionCall<P>) => Promise<Answer>>> = {
    async create(call) {
      const { request, sessions } = call
      const fields = await readJson(request, newSession, bodyLimit)
      // Before entries are made of them: no other request had as much work a byte.
      if (Object.keys(fields.metadata ?? {}).length > MAX_METADATA_KEYS)
        throw new Refusal(413, "too_large", `A session takes ${MAX_METADATA_KEYS} metadata keys.`)
      const room = { sessions: 1, bytes: bytesOf(fields) }
      let info: SessionInfo | undefined
      const id = await once(call, async () => {
        const session = await quota.within(sessions, sessions.storage, room, () => sessions.create(fields))
        try {
          info = await session.info()
          return session.id
        } finally {
          await session.close()
        }
      })
      info ??= await opened(sessions, id, (session) => session.info())
      return json(201, { id, info: withoutPlaces(info) })
    },

    async list({ url, sessions }) {
      const { kind, ...query } = readQuery(url, listQuery)
      const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined))
      const page = await sessions.list({ ...given, ...(kind !== undefined && { kind: kind === "" ? null : kind }) })
      const unreadable = page.unreadable.map(({ id, error }) => ({
        id,
        error: publicError(error, "It cannot be read."),
      }))
      return json(200, { ...page, sessions: page.sessions.map(withoutPlaces), unreadable } satisfies SessionList)
    },

    async load({ url, sessions, id }) {
      const { before, limit } = readQuery(url, loadQuery)
      // Before the log is read: the end of a turn is in the messages and in the events, never in neither.
      const ended = await served.get(sessions, id).ended()
      return opened(sessions, id, async (session) => {
        // Before the messages are read: what comes meanwhile is in the events again, never lost.
        const { log, next } = session.head
        const cursor = cursorText({ log, next, ...(ended !== undefined && { turn: lastTurn(ended) }) })
        const info = withoutPlaces(await session.info())
        const page = await session.messages({
          ...(before !== undefined && { before }),
          ...(limit !== undefined && { limit }),
        })
        return json(200, { info, ...page, cursor })
      })
    },

    async context({ url, sessions, id }) {
      const { window } = readQuery(url, contextQuery)
      return opened(sessions, id, async (session) =>
        json(200, await session.context(window === undefined ? {} : { window })),
      )
    },

    async rename(call) {
      const { request, sessions, id } = call
      const { title } = await readJson(request, newTitle, bodyLimit)
      const room = { bytes: bytesOf(title) }
      const info = await opened(sessions, id, async (session) => {
        await once(call, async () => {
          await quota.within(sessions, sessions.storage, room, () => session.title(title))
        })
        return session.info()
      })
      return json(200, { info: withoutPlaces(info) })
    },

    async delete(call) {
      const { sessions, id } = call
      const deleted = await once(call, async () => {
        const one = served.get(sessions, id)
        one.suspend()
        let isDeleted = false
        try {
          const { parts, bytes, purged } = await sessions.delete(id)
          isDeleted = true
          quota.freed(sessions)
          return { id, parts, bytes, purged }
        } finally {
          one.resume(isDeleted)
        }
      })
      return json(200, deleted)
    },

    async prompt({ request, sessions, id, principal }) {
      const prompt = await readJson(request, newPrompt, bodyLimit)
      if (Math.abs(timeOfUlid(prompt.id) - now()) > REPEAT_MS)
        throw invalid("The time in `id` is more than 24 hours from now: make a new id, and set the clock.")
      const one = served.get(sessions, id)
      return ofSession(sessions, id, async () => {
        const isLimited = accept !== undefined || limits.bytes !== undefined
        const isRepeated = isLimited && (await one.known(prompt)) !== undefined
        if (accept !== undefined && !isRepeated) {
          const refused = await accept({ session: id, prompt, principal })
          if (isResponse(refused)) return asRefusal(refused)
        }
        const add = (): ReturnType<typeof one.add> => one.add(prompt)
        const room = { bytes: bytesOf(prompt) }
        const { isNew, answer } = await (isRepeated ? add() : quota.within(sessions, sessions.storage, room, add))
        if (background) run(one, request)
        return json(isNew ? 202 : 200, answer)
      })
    },

    async stop({ sessions, id, params }) {
      const { message = "" } = params
      if (!isUlid(message)) throw invalid("The id of a prompt must be a ULID.")
      return ofSession(sessions, id, async () => {
        if ((await sessions.storage.head(id)) === undefined) throw noSessionError(id)
        return json(202, await served.get(sessions, id).stop(message))
      })
    },

    async events({ request, url, sessions, id }) {
      const query = readQuery(url, eventsQuery)
      const last = request.headers.get("last-event-id") ?? query.after
      const after = last === undefined || last === "" ? undefined : parseCursor(last)
      const giveBack = gate.stream(sessions)
      const connection = served.get(sessions, id).join()
      const { feed } = connection
      const leave = (): void => {
        connection.leave()
        giveBack()
      }
      try {
        const attached = await feed.attach()
        if (query.wait === undefined)
          return eventStream((gone) => left(toStream(connect(feed, attached, after, gone)), leave))
        const stop = new AbortController()
        const timer = setTimeout(() => stop.abort(), query.wait * 1_000)
        try {
          // A client without a place gets the state at once.
          const o = { seen: query.queue, atOnce: after === undefined, stop }
          return json(200, await toPage(connect(feed, attached, after, stop.signal), o))
        } finally {
          clearTimeout(timer)
          leave()
        }
      } catch (error) {
        leave()
        throw error
      }
    },
  }

  async function serve(call: Call<P, SessionRoute>): Promise<Answer> {
    if (closed) throw closing()
    const { params, route, principal, request } = call
    const sessions = await options.sessions(principal)
    gate.request(sessions)
    const { session: id = "" } = params
    const answer = await calls[route.action]({ ...call, sessions, id })
    if (background && RESUMING.has(route.action) && answer.ok) run(served.get(sessions, id), request)
    return answer
  }

  const handle = createHandler("createSessionHandler", sessionRoutes, options, serve)

  const { basePath = "" } = handle
  const find = async (session: string, principal: P): Promise<ServedSession> => {
    checkSessionId(session)
    if (closed) throw closing()
    return served.get(await options.sessions(principal), session)
  }

  const handler = Object.assign(
    (request: Request, context?: HostContext) => {
      if (context !== undefined) contexts.set(request, context)
      return handle(request)
    },
    {
      basePath,
      async resume(session: string, principal: P) {
        if (!background)
          throw new StorageError(
            "invalid",
            "resume() runs prompts in the background; with `background: false` call runQueued().",
          )
        run(await find(session, principal))
      },
      async runQueued(session: string, principal: P) {
        const one = await find(session, principal)
        await one.run()
        return { left: await one.waiting() }
      },
      async close() {
        closed = true
        await served.close()
      },
    },
  )
  setServe(handler, serveOf(handle))
  return handler
}

interface SessionCall<P> extends Call<P, SessionRoute> {
  readonly sessions: Sessions
  /** Of the session; "" for the routes without one. */
  readonly id: string
}

/** The calls after which prompts run that an ended server has left. */
const RESUMING: ReadonlySet<SessionAction> = new Set(["load", "context", "rename", "events", "stop"])

/** A write that something on the way has sent twice is done once, and both requests get its outcome. A prompt has an id of its own. */
function once<T>({ sessions, route, id, request }: SessionCall<unknown>, act: () => Promise<T>): Promise<T> {
  const writeId = writeIdOf(request)
  return repeatsOf(sessions).once(writeId && `${route.action} ${id} ${writeId}`, act)
}

/** What a value adds to a log, about; it is counted once it is there. */
function bytesOf(value: unknown): number {
  return ENTRY_BYTES + utf8Length(JSON.stringify(value))
}

function noSessionError(id: string): SessionError {
  return new SessionError("not_found", `There is no session ${id}.`)
}

function closing(): Refusal {
  return new Refusal(503, "unavailable", "The server is closing. Try again.", { "retry-after": "1" })
}

function logTurnError(error: unknown, { session, messageId }: { session: string; messageId: string }): void {
  console.error(`The turn of prompt ${messageId} in session ${session} failed:`, error)
}

function check<P>(options: SessionHandlerOptions<P>): void {
  const { sessions, run, accept, lease, onInterrupted, maxBodyBytes, limits = {}, models = {} } = options
  const wrong = (message: string): StorageError => new StorageError("invalid", `createSessionHandler: ${message}`)
  if (typeof sessions !== "function")
    throw wrong("`sessions` must be a function that returns the sessions of a principal.")
  if (typeof run !== "function") throw wrong("`run` must be a function: the agent that answers a prompt.")
  if (accept !== undefined && typeof accept !== "function") throw wrong("`accept` must be a function.")
  if (onInterrupted !== undefined && onInterrupted !== "report" && onInterrupted !== "rerun")
    throw wrong('`onInterrupted` must be "report" or "rerun".')
  if (lease !== undefined && !(Number.isFinite(lease) && lease >= LEAST_LEASE_MS))
    throw wrong(`\`lease\` must be a number of milliseconds from ${LEAST_LEASE_MS}.`)
  if (maxBodyBytes !== undefined && !(Number.isSafeInteger(maxBodyBytes) && maxBodyBytes > 0))
    throw wrong("`maxBodyBytes` must be a number of bytes.")
  checkOptions("createSessionHandler, models", models, MODELS)
  checkOptions("createSessionHandler, limits", limits, LIMITS)
  checkLimits("createSessionHandler", limits)
}
