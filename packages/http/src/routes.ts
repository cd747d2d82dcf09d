/** Routes as data: a table of methods and paths with the schemas of what they take and answer, and the search for a request's route. */
import type * as z from "zod"
import { invalid, Refusal } from "./refusal.ts"

export interface Route {
  /** Names the call, for `authorize` and as the operation of the OpenAPI document. Unique in a table. */
  readonly action: string
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  /** Segments; one that starts with a colon is a parameter. `:session` is checked to be a session id. */
  readonly path: string
  readonly summary: string
  readonly query?: z.ZodObject
  readonly body?: Content
  /** The answer of each status but those of errors, which all routes share. */
  readonly answers: Readonly<Record<number, Content>>
}

export interface Content {
  readonly description: string
  /** Default `application/json` if there is a schema, else none. */
  readonly type?: string
  readonly schema?: z.ZodType
}

export type Params = Readonly<Record<string, string>>

export interface Match<R extends Route> {
  readonly route: R
  /** The decoded segments. */
  readonly params: Params
}

/**
 * The route of a method and an encoded path. Throws 404 if no route has the path, 405 with `Allow` if none has the method. Each segment is
 * decoded by itself, so an encoded slash stays within its parameter, whose check refuses it.
 */
export function findRoute<R extends Route>(routes: readonly R[], method: string, path: string): Match<R> {
  const segments = path.split("/").slice(1)
  const found = routes.filter(({ path }) => fits(path.split("/").slice(1), segments))
  const route = found.find((one) => one.method === method)
  if (route !== undefined) return { route, params: paramsOf(route, segments) }
  if (found.length === 0) throw new Refusal(404, "not_found", "There is no such route.")
  const allow = found.map(({ method }) => method).join(", ")
  throw new Refusal(405, "invalid", `This route has the methods ${allow}.`, { allow })
}

function fits(pattern: readonly string[], segments: readonly string[]): boolean {
  return (
    pattern.length === segments.length &&
    pattern.every((part, n) => (part.startsWith(":") ? segments[n] !== "" : part === segments[n]))
  )
}

function paramsOf({ path }: Route, segments: readonly string[]): Params {
  const params: Record<string, string> = {}
  for (const [n, part] of path.split("/").slice(1).entries()) {
    if (part.startsWith(":")) params[part.slice(1)] = decoded(segments[n] ?? "")
  }
  return params
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw invalid("The path is not encoded as a URL.")
  }
}
