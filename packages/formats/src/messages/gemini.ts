/** Parts of the Gemini API from blocks and results of ours and back, for programs that call the API themselves. */
export { blockOf as blockOfPart, callBlock as callBlockOf } from "../gemini/messages.ts"
export { functionResponseOf, partsOfBlocks } from "../gemini/parts.ts"
