/** Anthropic's Messages API: contexts as requests, answers and streams as entries. Loads no SDK. */
export { fromAnthropic } from "./answer.ts"
export { toAnthropic } from "./request.ts"
export type { AnthropicOptions } from "./request.ts"
export { accumulateAnthropic, appendAnthropicStream } from "./stream.ts"
export type { AnthropicAnswer, AnthropicBlock, AnthropicEvent, AnthropicMessage, AnthropicRequest } from "./types.ts"
