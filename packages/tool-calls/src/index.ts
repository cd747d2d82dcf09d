/** Tool calls that survive a crash: recorded in the log before they run, and settled by the next process. */
export { createToolCalls } from "./create.ts"
export type {
  CallResult,
  Execute,
  Execution,
  ResumedCall,
  RunOptions,
  ToolCalls,
  ToolCallsOptions,
  ToolKind,
  UnknownAnswer,
} from "./types.ts"
