/** Sessions as web pages: {@link sessionPage} writes one as an HTML file. */
export { sessionPage, type SessionPageOptions } from "./export.ts"
export type { Redact } from "./redact.ts"
