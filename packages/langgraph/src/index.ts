/** Checkpoints of LangGraph JS in the sessions of a storage. */
export { SessionsSaver, type SessionsSaverOptions } from "./saver.ts"
