/** Cross-origin requests of pages, for the origins that the host names and for no others. */
import { REFUSED } from "./provenance.ts"

export interface CorsOptions {
  /** The origins of the pages that may call, such as `https://app.example.com`. `"*"` allows all, without credentials. */
  readonly origins: readonly string[] | "*"
  /** Whether a browser may send cookies. Default false; with `origins: "*"` it is `invalid`. */
  readonly credentials?: boolean
  /** Names of request headers beyond those of the protocol and `Authorization`, such as `X-Tenant`. Default none. */
  readonly headers?: readonly string[]
}

/** What clients of this package send. */
const HEADERS = ["Authorization", "Content-Type", "Idempotency-Key", "If-None-Match", "Last-Event-ID"]

/** Seconds that a browser remembers the answer to a preflight request; Chromium allows at most two hours. */
const MAX_AGE = 7200

/** The answer to a preflight request: 204, with the permissions if the origin is allowed. */
export function preflight(request: Request, cors: CorsOptions, methods: readonly string[]): Response {
  const headers = {
    "access-control-allow-methods": [...new Set(methods)].join(", "),
    "access-control-allow-headers": [...HEADERS, ...(cors.headers ?? [])].join(", "),
    "access-control-max-age": String(MAX_AGE),
  }
  return allowOrigin(request, new Response(null, { status: 204, headers }), cors)
}

/** Adds what lets the page of an allowed origin read the answer. A cache must not give it to a page of another origin. */
export function allowOrigin(request: Request, response: Response, { origins, credentials }: CorsOptions): Response {
  const headers = new Headers(response.headers)
  headers.append("vary", "Origin")
  const origin = request.headers.get("origin")
  if (origin !== null && (origins === "*" || origins.includes(origin))) {
    headers.set("access-control-allow-origin", origins === "*" ? "*" : origin)
    headers.set("access-control-expose-headers", `ETag, Retry-After, ${REFUSED}`)
    if (credentials === true) headers.set("access-control-allow-credentials", "true")
  }
  const { status, statusText } = response
  return new Response(response.body, { status, statusText, headers })
}
