/** Older logs as current ones, in memory. An entry of its own: a session loads it only when it meets such a log. */
export { identifyLog, type LogIdentity } from "../../format/identify.ts"
export type { OlderFormat, OlderVersion } from "../../format/identify.ts"
export { isRawLine, type RawLine } from "./log.ts"
export { migrateLines, type MigratedLog, type MigrateOptions } from "./migrate.ts"
