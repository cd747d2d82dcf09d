/** Compaction, pruning, fitting, the repair and the comparison of contexts, and branch summaries, loaded on first use by `session/features.ts`. */
export { checkAutoCompact } from "../compaction/run/options.ts"
export { compactByHand, compactIfDue } from "../compaction/run/run.ts"
export { explainContext } from "../compaction/run/explain.ts"
export { makeRoom } from "../compaction/run/make-room.ts"
export { summarizeBranch } from "../compaction/run/branch.ts"
export { repairMessages } from "../context/repair.ts"
export { unknownNames } from "../context/unknown-names.ts"
export { compareContexts } from "../compaction/run/compare-contexts.ts"
