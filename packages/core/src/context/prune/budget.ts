/** Beside `settings.ts`, since presets need no more of it before a context is pruned. */

/** Characters of all results of a context together, for callers without a budget of their own. */
export const TOOL_RESULT_BUDGET = 50_000
