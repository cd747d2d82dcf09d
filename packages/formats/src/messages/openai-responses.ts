/** Items of the Responses API from messages of ours and back, one at a time, for programs that call the API themselves. */
export { messageOfItem, thinkingOf as thinkingOfItem } from "../codex/items.ts"
export { writtenItems as itemsOf } from "../openai-responses/write.ts"
