/** What every client of this package needs to reach its server. */

export interface ClientOptions {
  /** Where the handler answers, with its `basePath`: `https://example.com/api/storage`. */
  readonly url: string
  /** Headers of every request, such as `Authorization`; a function is asked for each request, so a token may be renewed. */
  readonly headers?: Headers | (() => Headers | Promise<Headers>)
  /** Sends the requests. Default: the global `fetch`. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /** Whether a browser sends cookies to another origin. Default `"same-origin"`. */
  readonly credentials?: RequestCredentials
}

export type Headers = Readonly<Record<string, string>>

/** Drops an answer that sends the client elsewhere: a body that nobody reads keeps its connection. Pages are not told the status. */
export async function dropRedirect({ status, type, body }: Response): Promise<boolean> {
  const isRedirect = type === "opaqueredirect" || (status >= 300 && status < 400)
  if (isRedirect) await body?.cancel().catch(() => undefined)
  return isRedirect
}
