/** A small session for tests. */
import type { NewEntry, Sessions } from "@sessions/core"

export interface Sample {
  readonly id: string
  /** Ids of the four messages: user, assistant, toolResult, assistant. */
  readonly entries: readonly string[]
}

export const USER = "fix the tests"

/** Creates a session of one complete turn with a tool call. */
export async function makeSample(
  sessions: Sessions,
  o: { id?: string; cwd?: string; kind?: string; at?: string } = {},
): Promise<Sample> {
  const { at = "2026-01-02T03:04:05.000Z", ...create } = o
  const session = await sessions.create({ cwd: "/project", ...create })
  const { ids } = await session.append(turn(at))
  await session.close()
  return { id: session.id, entries: ids }
}

function turn(timestamp: string): NewEntry[] {
  const call = { type: "toolCall" as const, id: "call-1", name: "bash", arguments: { command: "npm test" } }
  const by = { provider: "anthropic", model: "claude-opus-4-5", usage: { input: 1200, output: 34 } }
  return [
    { type: "message", timestamp, message: { role: "user", content: USER } },
    {
      type: "message",
      timestamp,
      message: { role: "assistant", content: [{ type: "text", text: "I look." }, call], ...by },
    },
    {
      type: "message",
      timestamp,
      message: { role: "toolResult", toolCallId: "call-1", toolName: "bash", isError: false, content: "1 failed" },
    },
    { type: "message", timestamp, message: { role: "assistant", content: "One test fails.", ...by } },
  ]
}
