/** The ids that agents have given to their sessions, beside ours: people have them from the agent's own list, its files and its commands. */
import type { Sessions } from "@sessions/core"
import { formats, sessionIdOf } from "@sessions/formats"

/** The formats of agents' files: those of `@sessions/formats`, and the logs that core reads itself. */
const OF_AGENTS: readonly string[] = [...formats.map(({ format }) => format), "pi", "oh-my-pi"]

/** The ids in the store that the session with this id in an agent may have, if it was imported without another one. */
export async function idsOfAgentSession(agentId: string): Promise<readonly string[]> {
  return await Promise.all(OF_AGENTS.map((format) => sessionIdOf(format, agentId)))
}

/** The id in the agent; undefined for a session that no agent has, or whose log cannot be read. */
export async function agentIdOf({ storage }: Sessions, id: string): Promise<string | undefined> {
  if (!OF_FORMAT.test(id)) return undefined
  try {
    for await (const { lines } of storage.read(id, { to: 1 })) {
      const { origin } = JSON.parse(lines[0] ?? "") as { readonly origin?: { readonly id?: unknown } }
      return typeof origin?.id === "string" ? origin.id : undefined
    }
  } catch {
    // What is wrong with it, the list says.
  }
  return undefined
}

/** `<format>.<hash>`: other sessions are not read for it. */
const OF_FORMAT = /^[a-z-]+\.[0-9a-f]{32}$/
