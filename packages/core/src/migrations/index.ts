export { identifyLog, type LogIdentity } from "./identify.ts"
export { isRawLine, type OlderFormat, type OlderVersion, type RawLine } from "./log.ts"
export { migrateLines, type MigratedLog, type MigrateOptions } from "./migrate.ts"
