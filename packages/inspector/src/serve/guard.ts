/**
 * Decides whether a request may be answered. A server on loopback can be reached by every page that a browser has open, and by other users
 * of the machine: the address must be one of loopback (a foreign name that resolves to it is DNS rebinding), a request from another origin
 * is refused, and data needs the token.
 */
import { sha256Hex } from "@sessions/core/storage"

export interface Refusal {
  readonly status: 400 | 401 | 403 | 405
  readonly message: string
}

/** Undefined if the request may go on to what needs no token: the page itself. `write`: whether the server may change sessions. */
export function refusalOf(request: Request, write: boolean): Refusal | undefined {
  const { host, hostname } = new URL(request.url)
  if (!LOOPBACK.has(hostname)) return { status: 403, message: "The address of this server is 127.0.0.1 or localhost." }
  const origin = request.headers.get("origin")
  if (origin !== null && origin !== `http://${host}`)
    return { status: 403, message: "Requests of other pages are refused." }
  // Browsers send this header, and pages cannot change it. "none": a person has typed the address.
  const site = request.headers.get("sec-fetch-site")
  if (
    site !== null &&
    site !== "same-origin" &&
    site !== "none" &&
    request.headers.get("sec-fetch-mode") !== "navigate"
  )
    return { status: 403, message: "Requests of other pages are refused." }
  if (!write && request.method !== "GET" && request.method !== "HEAD")
    return { status: 405, message: "This server only reads. Start it with `--write` to let it change sessions." }
  return undefined
}

const LOOPBACK: ReadonlySet<string> = new Set(["127.0.0.1", "localhost", "[::1]"])

/** Compares hashes, so that the time of the comparison says nothing of the token. */
export async function hasToken(request: Request, token: string): Promise<boolean> {
  const [, given = ""] = /^Bearer (\S+)$/.exec(request.headers.get("authorization") ?? "") ?? []
  const encoder = new TextEncoder()
  const [one, other] = await Promise.all([sha256Hex(encoder.encode(given)), sha256Hex(encoder.encode(token))])
  return one === other
}
