/** `@sessions/http/server`: handlers, `Request -> Response`. */
export type { Access, Authorize } from "./authorize.ts"
export type { CorsOptions } from "./cors.ts"
export type { Handler, HandlerOptions } from "./handler.ts"
export type { TenantLimits } from "./limits.ts"
export type { Content, Route } from "./routes.ts"
export { createStorageHandler, type StorageHandlerLimits, type StorageHandlerOptions } from "./storage/handler.ts"
export { storageOpenApi } from "./storage/openapi.ts"
export { storageRoutes } from "./storage/routes.ts"

// The session API.
export {
  createSessionHandler,
  type HostContext,
  type SessionHandler,
  type SessionHandlerOptions,
} from "./sessions/handler.ts"
export { sessionOpenApi } from "./sessions/openapi.ts"
export { sessionRoutes } from "./sessions/routes.ts"
export type { Models, RunPrompt } from "./sessions/runner.ts"

// For servers of other kinds.
export { keepSessions, type KeepOptions, type KeptSessions } from "./kept-sessions.ts"
