/**
 * The frame of both handlers: finds the route, checks the session id, asks `authorize`, serves, and turns errors into answers. A handler is
 * a function from a `Request` to a `Response`, as Node frameworks, Bun, Deno, Workers and Lambda adapters take it.
 */
import { checkSessionId, StorageError } from "@sessions/core/storage"
import { type Authorize, principalOf } from "./authorize.ts"
import { allowOrigin, type CorsOptions, preflight } from "./cors.ts"
import { type Answer, setServe, toResponse } from "./direct.ts"
import { toErrorAnswer } from "./errors.ts"
import { Refusal } from "./refusal.ts"
import { findRoute, type Match, type Route } from "./routes.ts"

export interface HandlerOptions<P> {
  readonly authorize: Authorize<P>
  /** The path before all routes, such as `/api/storage`. Default none. */
  readonly basePath?: string
  /** Allows pages of other origins to call. Default: none may. */
  readonly cors?: CorsOptions
  /** Gets the errors of which clients are told no details: those with a status from 500. Default: `console.error`. */
  readonly onError?: (error: unknown, request: Request) => void
}

export interface Handler {
  (request: Request): Promise<Response>
  /** As it was given: a listener of a framework knows by it which address is meant. */
  readonly basePath?: string
}

/** One request, found, checked and allowed. */
export interface Call<P, R extends Route> extends Match<R> {
  readonly request: Request
  readonly url: URL
  readonly principal: P
}

/** Throws `invalid` for wrong options. `call` names the function that got them. */
export function createHandler<P, R extends Route>(
  call: string,
  routes: readonly R[],
  options: HandlerOptions<P>,
  serve: (call: Call<P, R>) => Promise<Answer>,
): Handler {
  check(call, options)
  const { authorize, basePath = "", cors, onError = logError } = options
  const methods = routes.map(({ method }) => method)

  async function answer(request: Request): Promise<Answer> {
    const url = new URL(request.url)
    const within = url.pathname.startsWith(`${basePath}/`)
    const { route, params } = findRoute(routes, request.method, within ? url.pathname.slice(basePath.length) : "")
    const { session } = params
    if (session !== undefined) checkSessionId(session)
    const { action } = route
    const allowed = await principalOf(authorize, request, { action, ...(session !== undefined && { session }) })
    if ("refused" in allowed) return allowed.refused
    return serve({ request, url, route, params, principal: allowed.principal })
  }

  const handle = async (request: Request): Promise<Answer> => {
    if (cors !== undefined && request.method === "OPTIONS") return preflight(request, cors, methods)
    let response: Answer
    try {
      response = await answer(request)
    } catch (error) {
      response = toErrorAnswer(error)
      // A principal that has used its room is no failure of the server.
      if (response.status >= 500 && !(error instanceof Refusal && response.status === 507)) onError(error, request)
    }
    return cors === undefined ? response : allowOrigin(request, toResponse(response), cors)
  }
  const handler = Object.assign(async (request: Request) => toResponse(await handle(request)), { basePath })
  setServe(handler, handle)
  return handler
}

function check<P>(call: string, { authorize, basePath = "", cors, onError }: HandlerOptions<P>): void {
  const wrong = (message: string): StorageError => new StorageError("invalid", `${call}: ${message}`)
  if (typeof authorize !== "function")
    throw wrong(
      "`authorize` must be a function that returns the principal of a request, or a Response that refuses it.",
    )
  if (typeof basePath !== "string" || !/^(?:\/[^/?#]+)*$/.test(basePath))
    throw wrong('`basePath` must be a path such as "/api/storage", without a slash at its end.')
  if (onError !== undefined && typeof onError !== "function") throw wrong("`onError` must be a function.")
  if (cors === undefined) return
  const { origins, credentials } = cors
  if (origins !== "*" && !(Array.isArray(origins) && origins.every(isOrigin)))
    throw wrong('`cors.origins` must be a list of origins such as "https://app.example.com", or "*".')
  if (origins === "*" && credentials === true)
    throw wrong("`cors.credentials` needs a list of origins: with all origins every page could act as the user.")
}

function isOrigin(origin: unknown): boolean {
  return typeof origin === "string" && URL.canParse(origin) && new URL(origin).origin === origin
}

/** The default of `onError`. */
export function logError(error: unknown, request: Request): void {
  console.error(`${request.method} ${new URL(request.url).pathname} failed:`, error)
}
