/** Contexts that are not sent as the log has them, and the states of tool calls. Loaded on first use by `session/features/load.ts`. */
export { changesOf } from "../../context/changed-units.ts"
export { convertedMessages } from "../../context/converted.ts"
export { readCallStates } from "../call-states.ts"
export { compareContexts } from "../compare-contexts.ts"
export { explainContext } from "../explain-context.ts"
