/** What the loops of all providers use: the calls of an answer, the results of calls, and the types. Each provider has an entry of its own. */
export { PARTIAL_CALL, toolCalls, toolResult } from "./shared/answer.ts"
export { keepAnswers } from "./shared/keep.ts"
export { toolName } from "./shared/call-names.ts"
export type {
  AnswerEntry,
  AnswerKeeper,
  Appendable,
  Context,
  LossCode,
  ProviderRequest,
  RequestDiagnostic,
  RequestOptions,
  StreamedEntry,
  StreamOptions,
} from "./shared/types.ts"
export type { Accumulator } from "./shared/stream.ts"
