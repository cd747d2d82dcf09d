/** Older logs as current ones, in memory. An entry of its own: a session loads it only when it meets such a log. */
export { isRawLine, type RawLine } from "./log.ts"
export { migrateLines, type MigratedLog, type MigrateOptions } from "./migrate.ts"
