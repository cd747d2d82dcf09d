/** Entry point `@sessions/core/migrations`: logs of older versions, opened in their place, or migrated in memory. */
export { piLogs } from "../migrate/pi-logs.ts"
export { isRawLine, type RawLine } from "../older/records.ts"
export { migrateLines, type MigratedLog, type MigrateOptions } from "../older/migrate.ts"
