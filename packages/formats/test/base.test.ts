/** The base of all formats, shown by the sample format. */
import { createSessions, SessionError } from "@sessions/core"
import { createMemoryStorage } from "@sessions/memory"
import { expect, test } from "vitest"
import { aiSdkUi } from "../src/ai-sdk-ui/index.ts"
import { anthropic } from "../src/anthropic/index.ts"
import { atif } from "../src/atif/index.ts"
import type { Loss } from "../src/base/format.ts"
import { lineOf } from "../src/base/written-lines.ts"
import { identify, notASessionError } from "../src/identify.ts"
import { importFile } from "../src/import-file.ts"
import { sessionIdOf } from "../src/base/ids.ts"
import { openaiAgents } from "../src/openai-agents/index.ts"
import { openaiMessages } from "../src/openai-messages/index.ts"
import { openaiResponses } from "../src/openai-responses/index.ts"
import { fixture } from "./fixtures.ts"
import { importText, testLaws, written } from "./laws.ts"
import { sample } from "./sample-format.ts"

const lines = (...records: readonly (object | string)[]) =>
  records.map((record) => (typeof record === "string" ? record : `${JSON.stringify(record)}\n`)).join("")

const chat = { chat: "c1" }
const q = { id: "q", by: "user", says: "hello" }
const a = { id: "a", after: "q", by: "bot", says: "hi", mood: { happy: [1, null] } }

testLaws(sample, {
  "a chat with unknown fields and lines": { text: lines(chat, q, { weather: "rain" }, a) },
  "a chat with a cut line": { text: lines(chat, q, a, '{"id":"b","af') },
  "a chat whose last line is on another branch": {
    text: lines(chat, q, a, { ...q, id: "r", after: "q" }, { weather: 1 }),
  },
  "a chat with a line that is no JSON": { text: lines(chat, q, "oops\n", a) },
})

test("the id of an imported session is the format and a hash of the source's id", async () => {
  const { session } = await importText(sample, { text: lines(chat, q) })
  expect(session.id).toBe(await sessionIdOf("sample", "c1"))
  expect(session.id).toMatch(/^sample\.[0-9a-f]{32}$/)
  expect(session.header.origin).toMatchObject({ format: "sample", id: "c1", lines: 3, settled: 3 })
})

test("a file that has grown since its import is completed", async () => {
  const first = await importText(sample, { text: lines(chat, q) })
  const second = await importText(sample, { text: lines(chat, q, a) }, first.sessions)
  expect(second.added).toBe(true)
  expect(second.entries.slice(1).map(({ id }) => id)).toEqual(["q", "a"])
})

test("a file that has grown and was completed is not imported a third time, also if the session went on", async () => {
  const { sessions } = await importText(sample, { text: lines(chat, q) })
  const grown = { text: lines(chat, q, a) }
  await importText(sample, grown, sessions)
  const again = await importText(sample, grown, sessions)
  expect(again.added).toBe(false)
  await again.session.append({ type: "message", message: { role: "user", content: "ours" } })
  expect((await importText(sample, grown, sessions)).added).toBe(false)
})

test("a session that went on after its import is not changed by the same file, and refuses a file that went on as well", async () => {
  const first = await importText(sample, { text: lines(chat, q) })
  await first.session.append({ type: "message", message: { role: "assistant", content: "ours" } })
  const again = await importText(sample, { text: lines(chat, q) }, first.sessions)
  expect(again.added).toBe(false)
  expect(again.entries).toHaveLength(3)
  await expect(importText(sample, { text: lines(chat, q, a) }, first.sessions)).rejects.toMatchObject({
    code: "exists",
  })
})

test("a missing parent and an id that occurs twice are reported, and lose nothing", async () => {
  const text = lines(chat, q, { ...a, after: "gone" }, { ...a, says: "again" })
  const { session, entries, diagnostics } = await importText(sample, { text })
  expect(diagnostics.map(({ code }) => code)).toEqual(["missing_parent", "duplicate_id"])
  expect(entries[2]).toMatchObject({ id: "a", parentId: "q" })
  expect(await written(sample, session)).toBe(text)
})

test("a file of no known format is refused with the reason of each format", async () => {
  const sessions = createSessions({ storage: createMemoryStorage() })
  const source = async function* () {
    yield "hello"
  }
  const error = await importFile(sessions, source, { from: [sample] }).catch((error: unknown) => error)
  expect(error).toBeInstanceOf(SessionError)
  expect(error).toMatchObject({ code: "not_a_session" })
  expect((error as Error).message).toContain("sample: it has no line with `chat`")
})

test("the first format that does not reject a file is its format", () => {
  const other = { ...sample, format: "other", rejects: () => "is another" }
  expect(identify(lines(chat), [other, sample])).toEqual({ format: sample })
  expect(notASessionError({ rejected: [{ format: "other", reason: "is another" }] }).message).toContain(
    "other: it is another",
  )
})

test("a writer reports what the file does not hold, each kind once", async () => {
  const text = lines(chat, q, a, { ...a, id: "b" }, { ...a, id: "c" })
  const { session } = await importText(sample, { text })
  const losses: Loss[] = []
  await written(sample, session, { branches: "path", note: (loss) => losses.push(loss) })
  expect(losses).toEqual([{ what: "branches", count: 2, message: "2 messages on other branches are not in the file." }])
})

test("files of agents are not of the sample format", () => {
  expect(sample.identify(fixture("codex/tools.jsonl"))).toBe(false)
})

test("a file whose log is too large is refused before anything is written, with the option that raises the limit", async () => {
  const storage = createMemoryStorage()
  const sessions = createSessions({ storage, maxSessionBytes: 10_000 })
  const text = lines(chat, ...Array.from({ length: 2000 }, (_, n) => ({ ...q, id: `q${n}`, says: "x".repeat(1000) })))
  const error = await importText(sample, { text }, sessions).catch((error: unknown) => error)
  expect(error).toMatchObject({
    code: "too_large",
    message: expect.stringContaining("Raise the option maxSessionBytes of createSessions."),
  })
  expect((await sessions.list()).sessions).toEqual([])
})

test.each([openaiMessages, openaiResponses, openaiAgents, anthropic, aiSdkUi, atif])(
  "$format names the titles, annotations and settings that a list of messages does not hold",
  async (format) => {
    const session = await createSessions({ storage: createMemoryStorage() }).create()
    const { ids } = await session.append({ type: "message", message: { role: "user", content: "q" } })
    await session.append({ type: "title_change", title: "T", source: "user" })
    await session.append({ type: "label", targetId: ids[0] ?? "", label: "L" })
    await session.append({ type: "model_change", provider: "p", model: "m" })
    const losses: string[] = []
    await written(format, session, { note: ({ what, count }) => losses.push(`${what} ${count}`) })
    expect(losses.sort()).toEqual(["annotations 1", "settings 1", "titles 1"])
  },
)

test("a line of a written file ends at its LF for readers that also end lines at U+2028 and U+2029", () => {
  const line = lineOf({ text: "a\u2028b\u2029c" })
  expect(line).not.toMatch(/[\u2028\u2029]/)
  expect(JSON.parse(line)).toEqual({ text: "a\u2028b\u2029c" })
})
