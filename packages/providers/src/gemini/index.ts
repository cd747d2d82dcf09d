/** The Gemini API: contexts as requests, answers and streams as entries. Loads no SDK. */
export { fromGemini } from "./answer.ts"
export type { GeminiAnswerOptions } from "./answer.ts"
export { toGemini } from "./request.ts"
export type { GeminiOptions } from "./request.ts"
export { accumulateGemini, appendGeminiStream } from "./stream.ts"
export type { GeminiAnswer, GeminiContent, GeminiPart, GeminiRequest } from "./types.ts"
