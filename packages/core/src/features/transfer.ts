/**
 * The calls of a repository on whole sessions (import, export, fork, copy, merge, migration, verification, pruning, collection,
 * `continueRecent`, pointers), logs of other versions, the tree, the branches and the parts of a session, following it, reading
 * a log again that was rewritten or has lost lines, turns with a lease, and further pages of many sessions. Loaded on first use by `session/features.ts`.
 */
export { Following } from "../session/follow.ts"
export { runTurnWithLease } from "../session/lease.ts"
export { listFurther } from "../session/list-further.ts"
export { collectBlobs } from "../storage/collect.ts"
export { transferCalls } from "../transfer/calls.ts"
export { migrateStored } from "../transfer/migrate.ts"
export { loadOther } from "../transfer/older/other-log.ts"
export { writeGuardOf } from "../transfer/older/write-guard.ts"
export { readParts } from "../transfer/parts.ts"
export { reload, resolveOther } from "../transfer/reloaded.ts"
export { readBranches, readTree } from "../transfer/tree.ts"
