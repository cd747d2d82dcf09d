/**
 * Import, export, fork, copy, merge, migration, verification, pruning and collection, and the tree and the branches of a session, which need a whole log; and the
 * cache of sessions and `continueRecent`, which servers and scripts use. Loaded on first use by `session/features.ts`.
 */
export { continueRecent } from "../session/continue-recent.ts"
export { SessionCache } from "../session/session-cache.ts"
export { collectBlobs } from "../storage/collect.ts"
export { collectStorage } from "../transfer/collect.ts"
export { copySession } from "../transfer/copy.ts"
export { exportSession } from "../transfer/export.ts"
export { forkSession } from "../transfer/fork.ts"
export { importSession } from "../transfer/import.ts"
export { mergeSessions } from "../transfer/merge.ts"
export { migrateStored } from "../transfer/migrate.ts"
export { loadOther } from "../transfer/older/other-log.ts"
export { writeGuardOf } from "../transfer/older/write-guard.ts"
export { pruneSessions } from "../transfer/prune.ts"
export { readBranches, readTree } from "../transfer/tree.ts"
export { verifySession } from "../transfer/verify.ts"
