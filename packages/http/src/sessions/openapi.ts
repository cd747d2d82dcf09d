/** The OpenAPI document of the session API, made from its routes. */
import * as z from "zod"
import { toOpenApi } from "../openapi.ts"
import { sessionRoutes, sessionState } from "./routes.ts"

/** OpenAPI 3.1. `openapi.json` of this package has the same content. */
export function sessionOpenApi(): Readonly<Record<string, unknown>> {
  return toOpenApi({
    title: "Sessions",
    description: "The sessions of AI agents: lists, messages, prompts and events.",
    routes: sessionRoutes,
    schemas: { SessionState: z.toJSONSchema(sessionState) },
  })
}
