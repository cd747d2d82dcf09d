/** The AI SDK's model messages: contexts as requests, answers and streams as entries. Loads no SDK. */
export { fromAiSdk } from "./answer.ts"
export type { AiSdkEntry } from "./answer.ts"
export { toAiSdk } from "./request.ts"
export type { AiSdkOptions } from "./request.ts"
export { accumulateAiSdk, appendAiSdkStream } from "./stream.ts"
export type { AiSdkStreamOptions } from "./stream.ts"
export type { AiSdkAnswer, AiSdkMessage, AiSdkRequest, AiSdkStreamPart } from "./types.ts"
