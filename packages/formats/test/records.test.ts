/** The rules of "recordType" logs. */
import { expect, test } from "vitest"
import { encode } from "../src/records/codec.ts"
import { records } from "../src/records/index.ts"
import { testFixtures } from "./fixtures.ts"
import { importText, recordsOf, testLaws } from "./laws.ts"
import { restored } from "./restored.ts"

const record = (seq: number, recordType: string, fields: object) => ({
  recordType,
  schemaVersion: 1,
  seq,
  ...fields,
  timestamp: `2026-01-01T00:00:0${seq}.000Z`,
})
const text = (value: string) => [{ type: "text", text: value }]
const call = { type: "toolCall", id: "c1", name: "bash", arguments: { command: "ls" } }
const lines = (...list: readonly object[]) => list.map((value) => `${JSON.stringify(value)}\n`).join("")

const log = lines(
  record(1, "message", { role: "user", content: text("q1"), mood: "good" }),
  record(2, "message", { role: "assistant", content: [call] }),
  record(3, "message", { role: "toolResult", content: text("a.ts"), toolCallId: "c1", isError: false }),
  record(4, "message", { role: "user", content: text("q2") }),
  record(5, "compaction", { firstKeptSeq: 4, summary: "S", tokensBefore: 61, readFiles: ["a"], modifiedFiles: [] }),
  record(6, "message", { role: "assistant", content: [{ type: "text" }] }),
  record(7, "note", { text: "x" }),
)
const metadata = { id: "r1", name: "Pods", createdAt: "2026-01-01T00:00:00Z", source: "cron", cronJobId: "j" }

testLaws(records, { "a log": { text: log, beside: { "metadata.json": JSON.stringify(metadata) } } }, (entries) =>
  restored(entries, (entry) => [encode(entry)]),
)

testFixtures(records, ["metadata.json"])

test("every record can be restored from the log, also one that is no message of ours", async () => {
  const { entries } = await importText(records, { text: log })
  expect(restored(entries, (entry) => [encode(entry)])).toEqual(recordsOf(log))
  expect(entries.filter(({ type }) => type === "custom").map(({ customType }) => customType)).toEqual([
    "records/message",
  ])
  // The kind of a note is not known: its text is shown.
  expect(entries.at(-1)).toMatchObject({ type: "message", message: { role: "records/note", output: "x" } })
})

test("a compaction keeps the messages from its first seq on, and counts the summarized ones", async () => {
  const { session, entries } = await importText(records, { text: log })
  const context = (await session.context({ repair: "none" })).messages.map(({ message }) => message.content)
  expect(context.slice(1)).toEqual([text("q2")])
  expect(entries.find(({ type }) => type === "compaction")).toMatchObject({ summary: "S", tokensSummarized: 61 })
})

test("metadata beside the log gives the id, the title and the header", async () => {
  const { session } = await importText(records, { text: log, beside: { "metadata.json": JSON.stringify(metadata) } })
  expect(session.header).toMatchObject({ source: "cron", cronJobId: "j", origin: { id: "r1" } })
  expect((await session.info()).title).toBe("Pods")
})

test("a log without metadata has no id of its own: each import is a new session", async () => {
  const first = await importText(records, { text: log })
  const again = await importText(records, { text: log }, first.sessions)
  expect([again.added, again.session.id === first.session.id]).toEqual([true, false])
})

test("records of a newer version are refused", async () => {
  const newer = lines({ ...record(1, "message", { role: "user", content: text("q") }), schemaVersion: 2 })
  await expect(importText(records, { text: newer })).rejects.toMatchObject({ code: "newer_version" })
})
