/** The rules of Cersei's logs. */
import { expect, test } from "vitest"
import { encode } from "../src/cersei/codec.ts"
import { cersei } from "../src/cersei/index.ts"
import { testFixtures } from "./fixtures.ts"
import { importText, recordsOf, testLaws } from "./laws.ts"
import { restored } from "./restored.ts"

const line = (uuid: string, parent: string | undefined, role: string, content: unknown) => ({
  type: role,
  uuid,
  ...(parent === undefined ? {} : { parent_uuid: parent }),
  timestamp: "2026-04-03T10:00:00Z",
  session_id: "s1",
  cwd: "/project",
  message: { role, content },
})
const linesOf = (...records: readonly object[]) => records.map((record) => `${JSON.stringify(record)}\n`).join("")
const dead = (uuid: string) => ({ type: "tombstone", deleted_uuid: uuid, timestamp: "2026-04-03T10:01:00Z" })
const result = (id: string) => ({ type: "tool_result", tool_use_id: id, content: "data" })
const calls = ["x", "y"].map((id) => ({ type: "tool_use", id, name: "read", input: {} }))
const summary = { type: "summary", uuid: "sum", session_id: "s1", summary: "S", messages_compacted: 4, mood: 1 }
const text = linesOf(
  dead("gone"),
  dead("late"),
  line("a", undefined, "user", "go"),
  line("b", "a", "assistant", calls),
  line("c", "b", "user", [result("x"), result("y"), { type: "text", text: "and?" }]),
  line("late", "c", "assistant", "no"),
  line("d", "c", "assistant", "done"),
  summary,
  line("e", "sum", "user", "next"),
  { type: "weather", rain: true },
)

testLaws(cersei, { "a session": { text }, "a cut one": { text: text.slice(0, -5) } })
testFixtures(cersei)

test("every line can be restored from the log", async () => {
  const { entries } = await importText(cersei, { text })
  expect(restored(entries, encode)).toEqual(recordsOf(text))
})

test("parts are one log, in their order", async () => {
  const beside = { _part2: linesOf(line("b", "a", "assistant", "hi")), _part3: linesOf(line("c", "b", "user", "bye")) }
  const { session } = await importText(cersei, { text: linesOf(line("a", undefined, "user", "go")).trimEnd(), beside })
  const { messages } = await session.context()
  expect(messages.map(({ message }) => message.content)).toMatchObject([
    [{ text: "go" }],
    [{ text: "hi" }],
    [{ text: "bye" }],
  ])
})

test("a tombstone that stands before its target deletes it, and a summary replaces what is before it", async () => {
  const { session, entries } = await importText(cersei, { text })
  expect(entries.filter(({ type }) => type === "tombstone")).toMatchObject([{ targetId: "late" }])
  const { messages } = await session.context()
  expect(messages.map(({ message }) => message.content[0])).toMatchObject([
    { text: expect.stringContaining("S") as string },
    { text: "next" },
  ])
})
