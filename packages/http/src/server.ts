/** `@sessions/http/server`: handlers, `Request -> Response`. */
export type { Access, Authorize } from "./authorize.ts"
export type { CorsOptions } from "./cors.ts"
export type { Handler, HandlerOptions } from "./handler.ts"
export type { Content, Route } from "./routes.ts"
