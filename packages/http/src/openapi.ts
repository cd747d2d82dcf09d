/** OpenAPI documents from routes. */
import * as z from "zod"
import type { Content, Route } from "./routes.ts"

interface Described {
  readonly title: string
  readonly description: string
  readonly routes: readonly Route[]
  /** Further JSON Schemas by name, for what no route has. */
  readonly schemas: Readonly<Record<string, unknown>>
}

/** The answers that every route may give. */
const REFUSALS: Readonly<Record<number, string>> = {
  400: "The request is wrong.",
  401: "Not known who asks; as the host answers it.",
  403: "Not allowed.",
  404: "There is no such thing.",
  429: "Too many requests, or too many streams.",
  500: "The server failed; it gives no details.",
  503: "Not now: try again.",
  507: "The store is full, or the principal has as many sessions or bytes as it may.",
}

const BODY_REFUSALS: Readonly<Record<number, string>> = {
  408: "The body comes too slowly.",
  409: "What is there is not what the request expects.",
  413: "The body is too large.",
  415: "The body has another content type.",
}

const ERROR = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["code", "message"],
      properties: { code: { type: "string" }, message: { type: "string" } },
    },
  },
}

export function toOpenApi({ title, description, routes, schemas }: Described): Readonly<Record<string, unknown>> {
  const paths: Record<string, Record<string, unknown>> = {}
  const named: Record<string, unknown> = {}
  for (const route of routes) {
    const path = route.path.replaceAll(/:([a-z]+)/g, "{$1}")
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, named) }
  }
  return {
    openapi: "3.1.0",
    info: { title, description, version: "1" },
    paths,
    components: { schemas: { ...named, ...schemas, Error: ERROR } },
  }
}

function operation({ action, summary, path, query, body, answers }: Route, named: Named): unknown {
  const segments = [...path.matchAll(/:([a-z]+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }))
  const refusals = { ...REFUSALS, ...(body !== undefined && BODY_REFUSALS) }
  const refused = Object.entries(refusals).map(([status, description]) => [
    status,
    { description, content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } } },
  ])
  const answered = Object.entries(answers).map(([status, answer]) => [status, content(answer, named)])
  return {
    operationId: action,
    summary,
    parameters: [...segments, ...(query === undefined ? [] : queryParameters(query, named))],
    ...(body !== undefined && { requestBody: { required: true, ...content(body, named) } }),
    responses: Object.fromEntries([...answered, ...refused]) as Record<string, unknown>,
  }
}

/** The schemas that have an id, which are described once. */
type Named = Record<string, unknown>

function content({ description, type, schema }: Content, named: Named): { readonly description: string } {
  if (schema === undefined) return { description, ...(type !== undefined && { content: { [type]: {} } }) }
  const described = { description, content: { [type ?? "application/json"]: { schema: jsonSchema(schema, named) } } }
  return described
}

function queryParameters(query: z.ZodObject, named: Named): readonly unknown[] {
  const { properties = {} } = jsonSchema(query, named) as { properties?: Record<string, { description?: string }> }
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    ...(description !== undefined && { description }),
    schema,
  }))
}

function jsonSchema(schema: z.ZodType, named: Named): unknown {
  const text = JSON.stringify(z.toJSONSchema(schema, { io: "input" }))
  const { $schema: _, $defs = {}, ...rest } = JSON.parse(text.replaceAll("#/$defs/", "#/components/schemas/")) as Named
  Object.assign(named, $defs)
  return rest
}
