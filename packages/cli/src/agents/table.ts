import { homedir } from "node:os"
import type { Io } from "../io.ts"
import type { Agent, AgentSystem, Target } from "./agent.ts"
import { claudeCodeAgent, claudeCodeTarget } from "./claude-code.ts"
import { codexAgent, codexTarget } from "./codex.ts"
import { copilotAgent, copilotTarget } from "./copilot.ts"
import { dshAgent } from "./dsh.ts"
import { geminiAgent, geminiTarget } from "./gemini.ts"
import { kimiCliAgent } from "./kimi-cli.ts"
import { opencodeAgent, opencodeTarget } from "./opencode.ts"
import { piTarget } from "./pi.ts"
import { qwenCodeAgent } from "./qwen-code.ts"

/** The agents, in the order in which `discover` lists them. A further format adds a row. */
export const AGENTS: readonly Agent[] = [
  claudeCodeAgent,
  codexAgent,
  copilotAgent,
  geminiAgent,
  qwenCodeAgent,
  kimiCliAgent,
  dshAgent,
  opencodeAgent,
]

/** The agents that `handoff` writes for. */
export const TARGETS: readonly Target[] = [
  claudeCodeTarget,
  codexTarget,
  copilotTarget,
  geminiTarget,
  opencodeTarget,
  piTarget,
]

export function systemOf({ env }: Io): AgentSystem {
  return { env, home: env["HOME"] || homedir() }
}
