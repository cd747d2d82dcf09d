/** The page's files, and a storage for each person, from which the page syncs. The page opens and works without it. */
import { createHash, timingSafeEqual } from "node:crypto"
import { readFile } from "node:fs/promises"
import { extname, join, resolve, sep } from "node:path"
import type { SessionStorage } from "@sessions/core/storage"
import { createFileStorage } from "@sessions/fs"
import { createStorageHandler } from "@sessions/http/server"

export interface SiteOptions {
  /** The built page. */
  readonly dist: string
  /** Has a folder for each name. */
  readonly data: string
  /** The token of each name. A name is a folder's: letters, digits, `-` and `_`. */
  readonly tokens: ReadonlyMap<string, string>
}

export function createSite({ dist, data, tokens }: SiteOptions): (request: Request) => Promise<Response> {
  const storages = new Map<string, SessionStorage>()
  const handleStorage = createStorageHandler({
    basePath: "/storage",
    authorize(request) {
      const given = digest(/^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "")?.[1] ?? "")
      const known = Array.from(tokens).find(([, token]) => timingSafeEqual(digest(token), given))
      return known?.[0] ?? new Response(null, { status: 401 })
    },
    storage(name) {
      const storage = storages.get(name) ?? createFileStorage({ root: join(data, name) })
      storages.set(name, storage)
      return storage
    },
  })
  return async (request) => {
    const { pathname } = new URL(request.url)
    return /^\/storage(?:\/|$)/.test(pathname) ? handleStorage(request) : await fileOf(dist, pathname)
  }
}

/** Of equal length, whatever the token is. */
function digest(token: string): Buffer {
  return createHash("sha256").update(token).digest()
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
}

/** Scripts and styles of the page only. It may connect to the address of any model that the user names. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src data: blob:; connect-src 'self' http: https:; worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

async function fileOf(dist: string, pathname: string): Promise<Response> {
  const file = resolve(dist, `.${pathname === "/" ? "/index.html" : pathname}`)
  const type = TYPES[extname(file)]
  const bytes =
    type === undefined || !file.startsWith(resolve(dist) + sep)
      ? undefined
      : await readFile(file).catch(() => undefined)
  if (bytes === undefined) return new Response("There is no such file.", { status: 404 })
  // The names of the assets change with their content.
  const cache = pathname.startsWith("/assets/") ? "public, max-age=31536000, immutable" : "no-cache"
  const headers = { "content-type": type ?? "", "cache-control": cache, "x-content-type-options": "nosniff" }
  return new Response(new Uint8Array(bytes), { headers: { ...headers, "content-security-policy": POLICY } })
}

/** Lines `NAME TOKEN`. */
export function parseTokens(text: string): ReadonlyMap<string, string> {
  const lines = text.split("\n").filter((line) => line.trim() !== "")
  return new Map(
    lines.map((line) => {
      const [, name = "", token = ""] = /^([\w-]+) (\S{16,})$/.exec(line.trim()) ?? []
      if (name === "")
        throw new Error("Each line of the tokens must be NAME TOKEN, with a token of at least 16 characters.")
      return [name, token]
    }),
  )
}
