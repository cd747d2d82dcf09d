/** Entry point `@sessions/core/migrations`: migrates logs of older versions in memory. */
export { isRawLine, type RawLine } from "./log.ts"
export { migrateLines, type MigratedLog, type MigrateOptions } from "./migrate.ts"
