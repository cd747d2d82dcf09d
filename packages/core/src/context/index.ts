/**
 * From entries to what a model gets, as pure functions: what `Session.context()` does, for whoever has the entries or the messages
 * already. An entry of its own, because a bundle has whatever its entries name, and a page that opens sessions needs little of this.
 */
export { buildSessionContext } from "./build.ts"
export type { BuildOptions } from "./build.ts"
export { toModelMessages } from "./model-messages.ts"
export type { ModelMessages } from "./model-messages.ts"
export { pruneMessages } from "./prune/prune.ts"
export type { Pruned, PruneSizes } from "./prune/prune.ts"
export { PRUNE_DEFAULTS, TOOL_RESULT_BUDGET } from "./prune/settings.ts"
export type { PruneSettings } from "./prune/settings.ts"
export { repairMessages } from "./repair.ts"
export type { Repaired } from "./repair.ts"
export { findRepeatedCall, REPEATED_CALLS } from "./repeated-call.ts"
export type { RepeatedCall } from "./repeated-call.ts"
