/** See `rooms.ts`: what is read from sessions and repositories beside contexts, messages and lists. */
export { continueRecent } from "./continue-recent.ts"
export { deletePointer, getPointer, setPointer } from "./pointers.ts"
export { readEntryRuns, readEntry, readInfo, readParts, readTree } from "./reading-log.ts"
