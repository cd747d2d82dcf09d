import { homedir } from "node:os"
import type { Io } from "../io.ts"
import type { Agent, AgentSystem, Target } from "./agent.ts"
import { claudeCodeAgent } from "./claude-code.ts"
import { codexAgent } from "./codex.ts"
import { opencodeTarget } from "./opencode.ts"
import { piTarget } from "./pi.ts"
import { copilotAgent, geminiAgent } from "./read-only.ts"

/** The agents, in the order in which `discover` lists them. A further format adds a row. */
export const AGENTS: readonly Agent[] = [claudeCodeAgent, codexAgent, copilotAgent, geminiAgent]

/** The agents that `handoff` writes for. */
export const TARGETS: readonly Target[] = [
  ...AGENTS.flatMap(({ format, folder, place }) => {
    const { write } = format
    return write === undefined || place === undefined ? [] : [{ format: { ...format, write }, folder, place }]
  }),
  opencodeTarget,
  piTarget,
]

export function systemOf({ env }: Io): AgentSystem {
  return { env, home: env["HOME"] || homedir() }
}
