import { homedir } from "node:os"
import type { Io } from "../io.ts"
import type { Agent, AgentSystem } from "./agent.ts"
import { claudeCodeAgent } from "./claude-code.ts"
import { codexAgent } from "./codex.ts"
import { copilotAgent, geminiAgent } from "./read-only.ts"

/** The agents, in the order in which `discover` lists them. A further format adds a row. */
export const AGENTS: readonly Agent[] = [claudeCodeAgent, codexAgent, copilotAgent, geminiAgent]

export function systemOf({ env }: Io): AgentSystem {
  return { env, home: env["HOME"] || homedir() }
}
