/** Entry point `@sessions/core/migrations`: logs of older versions, opened in their place, or migrated in memory. */
export { piLogs } from "../pi-logs.ts"
export { isRawLine, type RawLine } from "./log.ts"
export { migrateLines, type MigratedLog, type MigrateOptions } from "./migrate.ts"
