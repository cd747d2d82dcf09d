/** Tool calls that survive a crash: recorded in the log before they run, and settled by the next process. */
export { createToolCalls } from "./create.ts"
export { executionOf } from "./execution.ts"
export type {
  CallResult,
  Execute,
  Execution,
  PlacedCall,
  ResultEntry,
  ResumedCall,
  RunOptions,
  ToolCalls,
  ToolCallsOptions,
  ToolKind,
  ToResult,
  UnknownAnswer,
} from "./types.ts"
