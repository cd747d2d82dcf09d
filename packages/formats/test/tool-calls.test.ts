/** Files for other agents do not hold what is known of tool calls, and say so. */
import { createSessions, type NewEntry } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import type { Loss } from "../src/base/format.ts"
import { writers } from "../src/index.ts"
import { written } from "./laws.ts"
import { sessionOf } from "./random-session.ts"

const AT = "2026-01-01T00:00:00.000Z"

test.each(writers.map((writer) => [writer.format, writer] as const))(
  "%s: the records of tool calls are named as a loss, and not in the file",
  async (_, writer) => {
    const session = await sessionOf([{ op: "call", text: "x", isError: false }])
    const start = { targetId: "a", callId: "c", call: 0, toolName: "t", attempt: 1, key: "the key", run: "r" }
    await session.append([
      { type: "message", message: { role: "user", content: "q" } },
      { type: "tool_policy", never: ["t"], safe: [] },
      {
        type: "message",
        id: "a",
        message: { role: "assistant", content: [{ type: "toolCall", id: "c", name: "t", arguments: {} }] },
      },
      { type: "tool_start", id: "a.0.1", ...start },
      { type: "message", message: { role: "toolResult", toolCallId: "c", toolName: "t", content: "ok" } },
      { type: "message", message: { role: "assistant", content: "Done." } },
    ])
    const losses: Loss[] = []
    const text = await written(writer, session, { note: (loss) => losses.push(loss) })
    expect(text).not.toContain("the key")
    expect(losses.some(({ what, count }) => what === "tool_calls" && count === 2)).toBe(true)
  },
)

test.each(writers.map((writer) => [writer.format, writer] as const))(
  "%s: the file is that of the session without the records, byte for byte",
  async (_, writer) => {
    const files = await Promise.all(
      [true, false].map(async (isRecorded) => {
        const session = await createSessions({ storage: createMemoryStorage(), now: () => Date.parse(AT) }).create({
          id: "s",
        })
        const start = { targetId: "a", callId: "c", call: 0, toolName: "t", attempt: 1, key: "the key", run: "r" }
        const records: readonly NewEntry[] = [
          { type: "tool_policy", never: ["t"], safe: [] },
          { type: "tool_start", id: "a.0.1", ...start },
        ]
        const [policy, started] = isRecorded ? records.map((entry) => [entry]) : [[], []]
        const call = { type: "toolCall", id: "c", name: "t", arguments: {} } as const
        const result = { role: "toolResult", toolCallId: "c", toolName: "t", content: "ok" } as const
        await session.append([{ type: "message", id: "q", message: { role: "user", content: "q" } }, ...(policy ?? [])])
        await session.append({ type: "message", id: "a", message: { role: "assistant", content: [call] } })
        await session.append([...(started ?? []), { type: "message", id: "r", message: result }])
        await session.append({ type: "message", id: "f", message: { role: "assistant", content: "Done." } })
        return written(writer, session, {})
      }),
    )
    expect(files[0]).toBe(files[1])
  },
)
