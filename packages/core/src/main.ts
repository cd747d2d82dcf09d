/** What a program that uses sessions runs on, apart from the functions beside it: the build makes one file of it. */
export { SessionError } from "./format/errors.ts"
export { createSessions } from "./session/repository.ts"
export { hasCode, StorageError } from "./storage/errors.ts"
