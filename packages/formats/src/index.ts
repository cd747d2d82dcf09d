/**
 * The session files of other agents. Each format has an entry of its own, such as `@sessions/formats/claude-code`, so that a page loads only
 * the formats that it uses; this entry has the list of all of them.
 */
export { formats, writers } from "./formats.ts"
export { identify, type Identified, type Rejection, type Unidentified } from "./identify.ts"
export { hasNoMessage } from "./base/no-message.ts"
export { type ImportedFile, importFile, type ImportFileOptions } from "./import-file.ts"
export { sessionIdOf } from "./base/ids.ts"
export type { Format, Loss, SessionToWrite, WriteOptions, Writer, WriteSession } from "./base/format.ts"
export type { FileStart } from "./base/start.ts"
