/** Answers as JSON, and the bodies of requests up to a limit. */
import { isTooDeep, MAX_DEPTH, toJsonText } from "@sessions/core/format"
import type * as z from "zod"
import { collectPieces } from "./bytes.ts"
import { knownBody, TextAnswer } from "./direct.ts"
import { invalid, Refusal } from "./refusal.ts"

/** Nothing is kept by a browser or a proxy: what a session has changes with every append. */
export const NO_STORE: Readonly<Record<string, string>> = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
}

/** What another program has stored may be deeper than this runtime can write. */
export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): TextAnswer {
  return new TextAnswer(status, toJsonText(body), { "content-type": "application/json", ...NO_STORE, ...headers })
}

/** What a body may be. */
export interface BodyLimit {
  readonly bytes: number
  /** The lowest rate after the first seconds. Default: any. */
  readonly bytesPerSecond?: number | undefined
}

/** A body may begin slowly. */
const FIRST_MS = 5_000

/** The bytes of the body. 413 if there are more than `limit`, 408 if they come too slowly, 415 for another type than `type`. */
export async function readBytes(request: Request, type: string, o: BodyLimit): Promise<Uint8Array> {
  const { bytes: limit, bytesPerSecond } = o
  const [given = ""] = (request.headers.get("content-type") ?? "").split(";")
  if (given.trim().toLowerCase() !== type)
    throw new Refusal(415, "invalid", `The body must have the content type ${type}.`)
  if (Number(request.headers.get("content-length") ?? 0) > limit) throw tooLarge(limit)
  const here = knownBody(request)
  if (here !== undefined) {
    if (here.length > limit) throw tooLarge(limit)
    return here
  }
  const pieces = collectPieces()
  const reader = request.body?.getReader()
  const began = Date.now()
  const next = (): Promise<ReadableStreamReadResult<Uint8Array>> | undefined => {
    const read = reader?.read().catch(cutOff)
    if (read === undefined || bytesPerSecond === undefined) return read
    const late = began + FIRST_MS + (1_000 * pieces.length) / bytesPerSecond - Date.now()
    return within(read, late, () => void reader?.cancel().catch(() => undefined))
  }
  for (let step = await next(); step?.done === false; step = await next()) {
    pieces.add(step.value)
    if (pieces.length > limit) {
      await reader?.cancel()
      throw tooLarge(limit)
    }
  }
  return pieces.joined()
}

/** The client has gone within its body, which is no failure of the server. */
function cutOff(): never {
  throw new Refusal(499, "aborted", "The body was cut off.")
}

/** 408 after the time. What has been read by then is not lost on the way, only not waited for. */
async function within<T>(read: Promise<T>, ms: number, end: () => void): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    const fail = (): void => reject(new Refusal(408, "unavailable", "The body came too slowly."))
    timer = setTimeout(() => (fail(), end()), Math.max(0, ms))
  })
  try {
    return await Promise.race([read, late])
  } finally {
    clearTimeout(timer)
  }
}

function tooLarge(limit: number): Refusal {
  return new Refusal(413, "too_large", `The body has more than ${limit} bytes.`)
}

/** A body of JSON that the schema accepts; 400 otherwise, and 413 if it is nested deeper than a record may be. */
export async function readJson<T>(request: Request, schema: z.ZodType<T>, limit: BodyLimit): Promise<T> {
  const text = toText(await readBytes(request, "application/json", limit))
  if (isTooDeep(text))
    throw new Refusal(413, "too_large", `The body has over ${MAX_DEPTH} levels of objects and lists.`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw invalid("The body is not JSON.")
  }
  return checked("the body", value, schema)
}

/**
 * As much as a server of Node takes of a request's head. Node 26 reads a query in time that grows with the square of its length if its names
 * have other characters than ASCII: 1.5 s for 400 KB.
 */
const MAX_QUERY = 16_384

/**
 * The query of the URL, as the schema reads it; 400 if it does not. A name twice, one that the schema does not have, and a query longer than
 * 16,384 characters is 400.
 */
export function readQuery<T>(url: URL, schema: z.ZodType<T>): T {
  if (url.search.length > MAX_QUERY) throw invalid(`The query has more than ${MAX_QUERY} characters.`)
  const query = new Map<string, string>()
  for (const [name, value] of url.searchParams) {
    if (query.has(name)) throw invalid(`The query has "${name}" twice.`)
    query.set(name, value)
  }
  return checked("the query", Object.fromEntries(query), schema)
}

function checked<T>(what: string, value: unknown, schema: z.ZodType<T>): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  const where = issue === undefined || issue.path.length === 0 ? what : `\`${issue.path.join(".")}\` of ${what}`
  throw invalid(`${where}: ${issue?.message ?? "wrong"}.`)
}

// `Request.text()` would drop a BOM and accept bytes that are not UTF-8.
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** The bytes as text; 400 if they are not UTF-8. */
export function toText(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw invalid("The body is not UTF-8.")
  }
}
