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

/** The URL of a handler without a slash at its end; undefined if it is none, such as a path or one with a query. */
export function handlerUrl(url: unknown): string | undefined {
  if (typeof url !== "string" || !URL.canParse(url) || /[?#]/.test(url)) return undefined
  const { protocol, origin, pathname } = new URL(url)
  return /^https?:$/.test(protocol) ? `${origin}${pathname.replace(/\/+$/, "")}` : undefined
}

/**
 * What an answer that sends the client elsewhere says, for the error of the call; undefined for any other answer. `asked` is the URL of the
 * request, below `url`. The answer is dropped: a body that nobody reads keeps its connection.
 */
export async function dropRedirect(
  { status, type, body, headers }: Response,
  { asked, url }: { readonly asked: string; readonly url: string },
): Promise<string | undefined> {
  if (type !== "opaqueredirect" && (status < 300 || status > 399)) return undefined
  await body?.cancel().catch(() => undefined)
  // A page is told neither the status nor the address.
  const to = addressOf(headers.get("location"), asked)
  const what = `The server answered with a redirect${status === 0 ? "" : ` (${status})`}`
  if (to === undefined) return `${what}, which is not followed; check \`url\`.`
  const route = pathOf(asked.slice(url.length))
  const moved = to.slice(0, -route.length)
  const isRoute = to.endsWith(route) && moved !== url
  return `${what} to ${to}, which is not followed; ${isRoute ? `use ${moved} as \`url\`` : "check `url`"}.`
}

/** Without the query and the name of a user, which may hold secrets. */
function addressOf(location: string | null, asked: string): string | undefined {
  if (location === null || !URL.canParse(location, asked)) return undefined
  const { protocol, host, pathname } = new URL(location, asked)
  return `${protocol}//${host}${pathname}`
}

function pathOf(rest: string): string {
  return rest.split("?", 1)[0] as string
}
