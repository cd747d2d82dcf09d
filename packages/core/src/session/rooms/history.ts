/** See `rooms.ts`: what is read from sessions and repositories beside contexts, messages and lists. */
export { continueRecent } from "../repository/continue-recent.ts"
export { deletePointer, getPointer, setPointer } from "../repository/pointers.ts"
export { readEntryRuns, readEntry, readInfo, readParts, readTree } from "../reading-log.ts"
