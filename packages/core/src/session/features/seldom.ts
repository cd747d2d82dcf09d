/**
 * Code that few sessions need: turns with a lease, following another writer, further pages of many sessions, the stored parts, logs of other versions,
 * and logs that were rewritten or have lost lines. Loaded on first use by `session/features/load.ts`.
 */
export { Following } from "../follow.ts"
export { loadOther } from "../../log/load-other-version.ts"
export { runTurnWithLease } from "../turn-lease.ts"
export { listFurther } from "../list-further.ts"
export { readParts } from "../parts.ts"
export { otherVersionOf } from "../other-version.ts"
export { resolveOther } from "../reload.ts"
