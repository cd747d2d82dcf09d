/** OpenAI's Chat Completions API, which many other providers have, too: contexts as requests, answers and streams as entries. Loads no SDK. */
export { fromOpenAIChat } from "./answer.ts"
export type { ChatAnswerOptions } from "./answer.ts"
export { toOpenAIChat } from "./request.ts"
export type { OpenAIChatOptions } from "./request.ts"
export { CHAT_DIALECTS } from "./rules.ts"
export type { ChatDialect, ChatRules } from "./rules.ts"
export { accumulateOpenAIChat, appendOpenAIChatStream } from "./stream.ts"
export type { ChatAnswer, ChatChunk, ChatMessage, ChatRequest } from "./types.ts"
