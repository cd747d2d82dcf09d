/** Sessions as web pages: {@link sessionPage} writes one as an HTML file, {@link createInspector} serves those of a storage. */
export { sessionPage, type SessionPageOptions } from "./export.ts"
export type { Redact } from "./redact.ts"
export { createInspector, type FoundEntry, type InspectorOptions } from "./serve/inspector.ts"
