/** A session with content that agents were seen to leave out, with the messages before or after it. Each part of it has a mark. */
import { createSessions, type NewEntry, type Session } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"

export const say = (role: "user" | "assistant", ...texts: readonly string[]): NewEntry => ({
  type: "message",
  message: { role, content: texts.map((text) => ({ type: "text", text })) },
})

export const call = (...calls: readonly { readonly id: string; readonly command: string }[]): NewEntry => ({
  type: "message",
  message: {
    role: "assistant",
    content: calls.map(({ id, command }) => ({ type: "toolCall", id, name: "bash", arguments: { command } })),
  },
})

export const result = (toolCallId: string, text: string): NewEntry => ({
  type: "message",
  message: {
    role: "toolResult",
    toolCallId,
    toolName: "bash",
    isError: false,
    content: text === "" ? [] : [{ type: "text", text }],
  },
})

export async function sessionWith(...entries: readonly NewEntry[]): Promise<Session> {
  const session = await createSessions({ storage: createMemoryStorage() }).create({ cwd: "/work" })
  await session.append(entries)
  return session
}

/** Empty messages, half of a surrogate pair, calls without a text, an id that repeats, a call that was interrupted, a result without its call. */
export function oddSession(): Promise<Session> {
  return sessionWith(
    say("user", "mark01"),
    say("assistant", "mark02"),
    say("user", ""),
    say("assistant", ""),
    say("user", "mark03 \ud83d", ""),
    call({ id: "c1", command: "mark04" }),
    result("c1", "mark05"),
    say("user", "mark06"),
    call({ id: "c1", command: "mark07" }),
    result("c1", "mark08 \udc00"),
    call({ id: "c2", command: "interrupted" }),
    say("user", "mark09"),
    say("assistant", "mark10"),
    result("c9", "without a call"),
    say("user", "mark11"),
    say("assistant", "mark12"),
  )
}

export const MARKS: readonly string[] = Array.from({ length: 12 }, (_, i) => `mark${String(i + 1).padStart(2, "0")}`)

/** The marks of a conversation that an agent sends, in their order, and whether it sends the result without a call. */
export function marksOf(rows: readonly string[]): readonly string[] {
  return rows.join("\n").match(/mark\d\d|without a call/g) ?? []
}
