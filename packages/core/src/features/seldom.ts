/**
 * What few sessions need: turns with a lease, following another writer, further pages of many sessions, the stored parts, logs of other versions,
 * and logs that were rewritten or have lost lines. Loaded on first use by `session/features.ts`.
 */
export { Following } from "../session/follow.ts"
export { loadOther } from "../log/other-log.ts"
export { runTurnWithLease } from "../session/lease.ts"
export { listFurther } from "../session/list-further.ts"
export { readParts } from "../session/parts.ts"
export { reload, resolveOther } from "../session/reloaded.ts"
export { writeGuardOf } from "../session/write-guard.ts"
