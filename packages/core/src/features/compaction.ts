/** Compaction, pruning, fitting, the conversion, repair and comparison of contexts, the states of tool calls, and branch summaries, loaded on first use by `session/features.ts`. */
export { checkAutoCompact } from "../compaction/run/options.ts"
export { compactByHand, compactIfDue } from "../compaction/run/run.ts"
export { explainContext } from "../compaction/run/explain.ts"
export { makeRoom } from "../compaction/run/make-room.ts"
export { summarizeBranch } from "../compaction/run/branch.ts"
export { readCallStates } from "../session/call-states.ts"
export { convertedMessages } from "../context/converted.ts"
export { compareContexts } from "../compaction/run/compare-contexts.ts"
