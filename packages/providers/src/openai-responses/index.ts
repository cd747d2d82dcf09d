/** OpenAI's Responses API: contexts as requests, answers and streams as entries. Loads no SDK. */
export { fromOpenAIResponses } from "./answer.ts"
export type { ResponsesAnswerOptions } from "./answer.ts"
export { hostedResult } from "./hosted.ts"
export { toOpenAIResponses } from "./request.ts"
export type { OpenAIResponsesOptions } from "./request.ts"
export { accumulateOpenAIResponses, appendOpenAIResponsesStream } from "./stream.ts"
export type { ResponsesAnswer, ResponsesEvent, ResponsesItem, ResponsesRequest } from "./types.ts"
