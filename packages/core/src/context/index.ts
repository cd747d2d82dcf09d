/**
 * The steps of `Session.context()` as pure functions, for programs that already have the entries or the messages. A separate entry
 * point, so that a page that only opens sessions does not load them.
 */
export { buildSessionContext } from "./build.ts"
export type { BuildOptions } from "./build.ts"
// The entries of a log in memory, and the state of a path of it.
export { EntryLog, type EntrySlot } from "../log/entry-log.ts"
export { foldState, initialState } from "./state.ts"

export { callStates } from "./call-states.ts"
export type { CallState, CallStates, CallStatus } from "./call-states.ts"
export { doomLoopWarning } from "./doom-loop.ts"
export type { DoomLoopWarning } from "./doom-loop.ts"
export { sizeOf } from "../format/message-size.ts"
export type { MessageSize } from "../format/message-size.ts"
export { toModelMessages } from "./model-messages.ts"
export type { ModelMessages } from "./model-messages.ts"
export { pruneMessages } from "./prune/prune.ts"
export type { Pruned, PruneSizes } from "./shortening.ts"
export { PRUNE_DEFAULTS, TOOL_RESULT_BUDGET } from "./prune/settings.ts"
export type { PruneSettings } from "./prune/settings.ts"
export { missingResultText, repairMessages } from "./repair.ts"
export type { MissingResult, Repaired } from "./repair.ts"
export { findRepeatedCall, REPEATED_CALLS } from "./repeated-call.ts"
export type { RepeatedCall } from "./repeated-call.ts"
export type { BreakReason, Reused, ShortenedMessage } from "./types.ts"
