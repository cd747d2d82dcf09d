/** Function tools of the OpenAI Agents SDK. Loads no SDK. */
export { wrapTools } from "./wrap.ts"
