/** The rules of noumen's sessions. */
import { expect, test } from "vitest"
import { encode } from "../src/noumen/codec.ts"
import { noumen } from "../src/noumen/index.ts"
import { testFixtures } from "./fixtures.ts"
import { importText, recordsOf, testLaws } from "./laws.ts"
import { restored } from "./restored.ts"
import { verifySession } from "@sessions/core/transfer"

const line = (n: number, type: string, fields: object) => {
  const timestamp = `2026-01-01T00:00:0${n}.000Z`
  return `${JSON.stringify({ type, uuid: `u${n}`, parentUuid: null, sessionId: "s1", timestamp, ...fields })}\n`
}
const says = (n: number, role: string, content: unknown, more: object = {}) =>
  line(n, "message", { message: { role, content, ...more } })
const call = { id: "c1", type: "function", function: { name: "Read", arguments: '{"path":"a"}' } }
const summary = line(6, "summary", { message: { role: "user", content: "[Conversation Summary]\n\nS" } })

const text = [
  says(1, "user", "q1"),
  says(2, "assistant", null, { tool_calls: [call] }),
  says(3, "tool", "data", { tool_call_id: "c1" }),
  line(4, "custom-title", { customTitle: "Files" }),
  line(5, "compact-boundary", {}),
  summary,
  says(7, "user", "q1"),
  line(8, "file-checkpoint", { snapshot: {} }),
  line(9, "compact-boundary", {}),
].join("")

testLaws(
  noumen,
  {
    "a session": { text },
    "a session with glued lines": { text: `${says(1, "user", "q1")}{"type":"mess${says(2, "user", "q2")}` },
  },
  (entries) => restored(entries, encode),
)
testFixtures(noumen)

test("every line can be restored from the log", async () => {
  const { entries } = await importText(noumen, { text })
  expect(restored(entries, encode)).toEqual(recordsOf(text))
})

test("a boundary and its summary are a compaction, and copies of messages follow it; a boundary alone changes nothing", async () => {
  const { session, entries } = await importText(noumen, { text })
  const context = (await session.context({ repair: "none" })).messages.map(({ message }) => message.content)
  expect(context.slice(1)).toEqual([[{ type: "text", text: "q1" }]])
  expect(entries.filter(({ type }) => type === "compaction")).toMatchObject([
    { summary: "[Conversation Summary]\n\nS" },
  ])
  expect((await session.info()).title).toBe("Files")
})

test("calls and results have the shapes of ours, and lines without a parent are a chain", async () => {
  const { entries } = await importText(noumen, { text })
  const messages = entries.flatMap((entry) => (entry.type === "message" ? [entry.message] : []))
  expect(messages[1]?.content).toEqual([{ type: "toolCall", id: "c1", name: "Read", arguments: { path: "a" } }])
  expect(messages[2]).toMatchObject({ role: "toolResult", toolCallId: "c1", toolName: "Read", isError: false })
  expect(entries.slice(0, 3).map(({ parentId }) => parentId)).toEqual([null, "u1", "u2"])
})

test("a summary with the uuid of an earlier line is a compaction that keeps nothing before it", async () => {
  const again = says(1, "user", "q1") + line(5, "compact-boundary", {}) + summary.replace("u6", "u1")
  const { sessions, session } = await importText(noumen, { text: again })
  expect((await verifySession(sessions, session.id)).diagnostics).toEqual([])
  expect((await session.context()).messages).toHaveLength(1)
})
