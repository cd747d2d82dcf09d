/** Tools of the AI SDK: in loops over a session, and in chats whose tools a person approves. Loads no SDK. */
export { type AiSdkRecorder, recordAiSdk, type RecordOptions } from "./record.ts"
export { type ToolSet, wrapTools } from "./wrap.ts"
