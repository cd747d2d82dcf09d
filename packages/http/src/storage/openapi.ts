/** The OpenAPI document of a storage, made from its routes. */
import { toOpenApi } from "../openapi.ts"
import { storageRoutes } from "./routes.ts"

/** OpenAPI 3.1. `openapi-storage.json` of this package has the same content. */
export function storageOpenApi(): Readonly<Record<string, unknown>> {
  return toOpenApi({
    title: "Storage of sessions",
    description: "The storage contract of @sessions/core: logs of lines, documents and blobs.",
    routes: storageRoutes,
    schemas: {},
  })
}
