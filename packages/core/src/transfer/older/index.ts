/** Older logs as current ones, in memory. An entry of its own: a session loads it only when it meets such a log. */
export { identifyLog, type LogIdentity } from "./identify.ts"
export { isRawLine, type OlderFormat, type OlderVersion, type RawLine } from "./log.ts"
export { migrateLines, type MigratedLog, type MigrateOptions } from "./migrate.ts"
