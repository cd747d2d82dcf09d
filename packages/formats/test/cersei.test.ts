/** The rules of Cersei's logs. */
import * as fc from "fast-check"
import { expect, test } from "vitest"
import { encode } from "../src/cersei/codec.ts"
import { cersei } from "../src/cersei/index.ts"
import { testFixtures } from "./fixtures.ts"
import { importText, recordsOf, testLaws } from "./laws.ts"
import { restored } from "./restored.ts"
import { runs } from "../../../.config/runs.ts"
import { verifySession } from "@sessions/core/transfer"

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

testLaws(cersei, { "a session": { text }, "a cut one": { text: text.slice(0, -5) } }, (entries) =>
  restored(entries, encode),
)
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

test("a tombstone deletes all messages of its line", async () => {
  const { session } = await importText(cersei, { text: text + linesOf(dead("c")) })
  const { messages } = await session.messages()
  expect(messages.map(({ message }) => message.role)).toEqual(["user", "assistant", "assistant", "user"])
})

/** A session as random lines: any uuid may be repeated, missing, deleted before or after it, or named as a parent. */
const uuid = fc.constantFrom("a", "b", "c", "d", "e")
const content = fc.oneof(
  fc.string({ unit: "grapheme", maxLength: 8 }),
  fc.array(
    fc.constantFrom<unknown>({ type: "text", text: "hi ✓" }, calls[0], result("x"), result("y"), { odd: 1 }, 7),
    {
      maxLength: 4,
    },
  ),
  fc.constant(null),
)
const record = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .tuple(uuid, fc.option(uuid, { nil: undefined }), fc.constantFrom("user", "assistant", "system", "tool"), content)
      .map((parts) => line(...parts)),
  },
  { weight: 2, arbitrary: uuid.map(dead) },
  { weight: 1, arbitrary: uuid.map((id) => ({ ...summary, uuid: id })) },
  { weight: 1, arbitrary: fc.constant({ type: "weather" }) },
)

test("any lines, however they are split into parts, are one undamaged log that holds all of them", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(record, { maxLength: 20 }),
      fc.array(fc.nat(20), { maxLength: 3 }),
      async (list, cuts) => {
        const all = [line("start", undefined, "user", "go"), ...list]
        const whole = await importText(cersei, { text: linesOf(...all) })
        expect(restored(whole.entries, encode)).toEqual(all)
        const { diagnostics } = await verifySession(whole.sessions, whole.session.id)
        expect(diagnostics).toEqual([])
        const deleted = new Set(all.flatMap((one) => ("deleted_uuid" in one ? [one.deleted_uuid] : [])))
        const { messages } = await whole.session.context({ repair: "none" })
        expect(messages.filter(({ entryId }) => deleted.has(entryId.split(":")[0] ?? ""))).toEqual([])

        const ends = [0, ...[...cuts].sort((a, b) => a - b).map((at) => Math.min(at + 1, all.length)), all.length]
        const parts = ends.slice(1).map((end, i) => linesOf(...all.slice(ends[i], end)).trimEnd())
        const beside = Object.fromEntries(parts.slice(1).map((part, i) => [`_part${i + 2}`, part]))
        const split = await importText(cersei, { text: parts[0] ?? "", beside })
        expect(split.entries).toEqual(whole.entries)
      },
    ),
    { numRuns: runs(80) },
  )
})

test("a summary with the uuid of an earlier line keeps nothing before it", async () => {
  const again = linesOf(line("a", undefined, "user", "go"), { ...summary, uuid: "a" }, line("b", "a", "user", "next"))
  const { sessions, session, entries } = await importText(cersei, { text: again })
  expect((await verifySession(sessions, session.id)).diagnostics).toEqual([])
  expect((await session.info()).messageCount).toBe(2)
  const compaction = entries.find(({ type }) => type === "compaction")
  expect(compaction).toMatchObject({ firstKeptEntryId: compaction?.id })
})
