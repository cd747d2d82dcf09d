/** Messages and blocks of Anthropic's API from ours and back, one at a time, for programs that call the API themselves. */
export { recordsOf as anthropicMessagesOf } from "../anthropic/write.ts"
export {
  apiBlockOf as anthropicBlockOf,
  blocksOf as blocksOfAnthropic,
  usageOf as usageOfAnthropic,
  WRAPPED_VALUE,
} from "../claude-code/blocks.ts"
