/** `@sessions/http/server`: handlers, `Request -> Response`. */
export type { Access, Authorize } from "./authorize.ts"
export type { CorsOptions } from "./cors.ts"
export type { Handler, HandlerOptions } from "./handler.ts"
export type { Content, Route } from "./routes.ts"
export { createStorageHandler, type StorageHandlerLimits, type StorageHandlerOptions } from "./storage/handler.ts"
export { storageRoutes } from "./storage/routes.ts"
