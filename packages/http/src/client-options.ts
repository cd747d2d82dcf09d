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

/** An answer that sends the client elsewhere; pages are not told its status. */
export function isRedirect({ status, type }: Response): boolean {
  return type === "opaqueredirect" || (status >= 300 && status < 400)
}
