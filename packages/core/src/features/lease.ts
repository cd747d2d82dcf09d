/** Turns with a lease, loaded on first use by `session/features.ts`. */
export { runTurnWithLease } from "../session/lease.ts"
