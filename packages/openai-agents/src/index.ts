/** The `Session` of the OpenAI Agents SDK, stored in a session log. */
export type { AgentSessionInfo, AgentSessionPage } from "./list.ts"
export { listAgentSessions } from "./list.ts"
export { deleteAgentSession, logIdOf, openAgentLog } from "./log-id.ts"
export { agentResult } from "./results.ts"
export { createAgentSession } from "./session.ts"
export type {
  AgentRepair,
  AgentSession,
  AgentSessionOptions,
  HistoryMutation,
  HistoryTransaction,
  HistoryTransactionArgs,
} from "./types.ts"
