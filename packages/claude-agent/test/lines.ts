/** Lines as the SDK writes them, shortened. */
import type { SessionKey, SessionStoreEntry } from "@sessions/claude-agent"

export const PROJECT = "-home-ada-work"
export const MAIN: SessionKey = { projectKey: PROJECT, sessionId: "11111111-1111-4111-8111-111111111111" }
export const AGENT: SessionKey = { ...MAIN, subpath: "subagents/agent-a1" }

export function uuid(n: number): string {
  return `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`
}

/** The n-th message of a conversation; odd ones are the user's. */
export function message(n: number, text = `text ${n}`, sessionId: string = MAIN.sessionId): SessionStoreEntry {
  const isUser = n % 2 === 1
  return {
    type: isUser ? "user" : "assistant",
    uuid: uuid(n),
    parentUuid: n === 1 ? null : uuid(n - 1),
    timestamp: new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString(),
    sessionId,
    cwd: "/home/ada/work",
    version: "2.1.330",
    isSidechain: false,
    message: isUser
      ? { role: "user", content: text }
      : { id: `msg_${n}`, type: "message", role: "assistant", model: "claude-x", content: [{ type: "text", text }] },
  }
}

export function messages(from: number, to: number): SessionStoreEntry[] {
  return Array.from({ length: to - from + 1 }, (_, index) => message(from + index))
}

export function tag(name: string): SessionStoreEntry {
  return { type: "tag", tag: name, sessionId: MAIN.sessionId }
}
