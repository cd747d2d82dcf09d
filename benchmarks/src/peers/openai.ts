import type { Message } from "@sessions/core"
import { importPeer } from "./install.ts"
import type { Peer } from "./peer.ts"

interface OpenAi {
  readonly MemorySession: new (
    o?: object,
  ) => {
    addItems(items: readonly unknown[]): Promise<void>
    getItems(): Promise<readonly unknown[]>
  }
}

/** OpenAI Agents' memory session. */
export const openai: Peer = {
  name: "openai-agents",
  kind: "memory",
  async open(_, conversation) {
    const { kept } = conversation
    const messages = conversation.messages()
    if (kept !== undefined) throw new TypeError("It has no compaction.")
    const { MemorySession } = await importPeer<OpenAi>("@openai/agents")
    const session = new MemorySession()
    await session.addItems(messages.map(inItsWords))
    return async () => ({ messages: (await session.getItems()).length })
  },
  async append() {
    const { MemorySession } = await importPeer<OpenAi>("@openai/agents")
    const session = new MemorySession()
    return (message) => session.addItems([inItsWords(message)])
  },
}

function inItsWords({ role, content }: Message): object {
  const text = JSON.stringify(content)
  return role === "assistant"
    ? { type: "message", role, status: "completed", content: [{ type: "output_text", text }] }
    : { type: "message", role: "user", content: [{ type: "input_text", text }] }
}
