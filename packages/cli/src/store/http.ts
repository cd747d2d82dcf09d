/**
 * A store behind HTTP, `https://HOST/PATH`, served by `createStorageHandler` of `@sessions/http`. The token comes from the environment, or from
 * a file with a token for each server, never from the command line, where other users see it. A token is sent to its own server only, and no
 * message shows it.
 */
import { readFile } from "node:fs/promises"
import { resolve } from "node:path"
import type { SessionStorage } from "@sessions/core/storage"
import { CommandError, UsageError } from "../errors.ts"
import { withFileError } from "../files/read-write.ts"
import type { Io } from "../io.ts"

const TOKEN = "SESSIONS_HTTP_TOKEN"
const TOKEN_FILE = "SESSIONS_HTTP_TOKEN_FILE"

export interface HttpStoreOptions {
  readonly env?: Io["env"]
  /** The other store of the command. */
  readonly beside?: string
}

export async function openHttpStore(
  text: string,
  cwd: string,
  { env = {}, beside }: HttpStoreOptions,
): Promise<SessionStorage> {
  const url = addressOf(text)
  const token = await tokenFor(url, cwd, env, beside)
  let status = 0
  const { connectHttpStorage } = await import("@sessions/http/client")
  try {
    return await connectHttpStorage({
      url: url.href,
      ...(token !== undefined && { headers: { authorization: `Bearer ${token}` } }),
      async fetch(to, init) {
        const response = await fetch(to, init)
        status = response.status
        return response
      },
    })
  } catch (error) {
    const sent = token === undefined ? "without a token" : "the token"
    if (status === 401 || status === 403)
      throw new CommandError(`${url.href} refuses ${sent} (${status}); set ${TOKEN}, or ${TOKEN_FILE}.`)
    throw new CommandError(`cannot open ${url.href}: ${(error as Error).message}`)
  }
}

/** The text is not repeated, because it may have a password. */
function addressOf(text: string): URL {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    throw new UsageError("an HTTP store needs the address of its handler, for example https://example.com/storage.")
  const url = new URL(text)
  if (url.username !== "" || url.password !== "")
    throw new UsageError(`the address of an HTTP store must have no user and password; set ${TOKEN}, or ${TOKEN_FILE}.`)
  if (url.search !== "" || url.hash !== "")
    throw new UsageError("the address of an HTTP store must have no parameters, nothing behind ? or #.")
  return url
}

async function tokenFor(
  url: URL,
  cwd: string,
  env: Io["env"],
  beside: string | undefined,
): Promise<string | undefined> {
  const [token, file] = [env[TOKEN] || undefined, env[TOKEN_FILE] || undefined]
  if (token !== undefined && file !== undefined) throw new UsageError(`set either ${TOKEN} or ${TOKEN_FILE}, not both.`)
  if (file !== undefined) return tokenInFile(url, file, cwd)
  if (token === undefined) return undefined
  if (beside !== undefined && isHttp(beside) && new URL(beside).origin !== url.origin)
    throw new UsageError(
      `${TOKEN} is the token of one server, and this command uses two; name a file with both in ${TOKEN_FILE}.`,
    )
  return checked(token, TOKEN)
}

function isHttp(store: string): boolean {
  return /^https?:/i.test(store) && URL.canParse(store)
}

/** Lines `URL TOKEN`; the longest URL that the address begins with is the one. Empty lines and those with `#` do not count. */
async function tokenInFile(url: URL, file: string, cwd: string): Promise<string | undefined> {
  const text = await withFileError(file, "read", () => readFile(resolve(cwd, file), "utf8"))
  let found: { readonly length: number; readonly token: string } | undefined
  for (const [index, line] of text.split("\n").entries()) {
    const words = line.trim().split(/\s+/)
    if (line.trim() === "" || line.trim().startsWith("#")) continue
    const [place = "", token = ""] = words
    if (words.length !== 2 || !isHttp(place))
      throw new UsageError(`line ${index + 1} of ${file} must be an address and its token: https://example.com TOKEN`)
    const { origin, pathname } = new URL(place)
    const path = pathname.replace(/\/*$/, "/")
    if (origin !== url.origin || !`${url.pathname}/`.startsWith(path)) continue
    if (found === undefined || path.length > found.length)
      found = { length: path.length, token: checked(token, `line ${index + 1} of ${file}`) }
  }
  return found?.token
}

/** Throws for characters that no header may have: the runtime's own error would show the token. */
function checked(token: string, place: string): string {
  const trimmed = token.trim()
  if (/^[\x21-\x7e]+$/.test(trimmed)) return trimmed
  throw new UsageError(`${place} has no valid token: it must have visible ASCII characters only.`)
}
