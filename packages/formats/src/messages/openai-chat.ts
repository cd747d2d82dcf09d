/** Messages of the Chat Completions API from ours and back, one at a time, for programs that call the API themselves. */
export { messageOf as messageOfChat, PART as CHAT_PART } from "../openai-messages/read.ts"
export { recordOf as chatMessageOf } from "../openai-messages/write.ts"
