/**
 * Whole sessions: functions that take the sessions of `createSessions` first, or an open session. An entry of its own, so that a page that
 * creates, opens and lists sessions does not load them.
 */

// In and out.
export { exportSession, forkSession, importSession } from "./calls.ts"
export type {
  ExportOptions,
  ForkOptions,
  Importer,
  ImportFormat,
  ImportOptions,
  ImportResult,
  ImportSource,
} from "./types.ts"

// Beside another storage.
export { copySession, mergeSession } from "./calls.ts"
export type { CopyOptions, MergeResult } from "./types.ts"

// Upkeep: verification, migration, and the removal of old sessions and of what nothing refers to.
export { collect, deleteOldSessions, deleteWithBlobs, migrateSession, verifySession } from "./calls.ts"
export type { DeletedSessions, DeleteOldOptions, VerifyReport } from "./types.ts"
export type { Migration } from "./migrate/migrate.ts"
export { collectBlobs } from "../storage/collect-blobs.ts"
export type { CollectedBlobs, CollectOptions } from "../storage/collect-blobs.ts"

// The session that somebody works in.
export { continueRecent } from "./continue-recent.ts"
export { deletePointer, getPointer, setPointer } from "./pointers.ts"
export type { ContinueOptions, Pointer } from "./types.ts"

// The whole tree of an open session.
export { sessionBranches, sessionTree } from "./tree.ts"
export type { SessionTree } from "./types.ts"
export type { Branch } from "../log/branches.ts"
export type { TreeNode } from "../log/nodes.ts"
