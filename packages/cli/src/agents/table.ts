import { homedir } from "node:os"
import type { Io } from "../io.ts"
import type { Agent, AgentSystem } from "./agent.ts"
import { claudeCodeAgent } from "./claude-code.ts"

/** The agents, in the order in which `discover` lists them. A further format adds a row. */
export const AGENTS: readonly Agent[] = [claudeCodeAgent]

export function systemOf({ env }: Io): AgentSystem {
  return { env, home: env["HOME"] || homedir() }
}
